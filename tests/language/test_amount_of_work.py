"""The compiler's work is polynomial in the nesting depth, and linear in the number of statements.

The tests count calls of Python functions; those of statements, for each function by itself.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType

import pytest

from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.launch_configuration import Language
from support.kernels_from_text import module_from

Lines = Callable[[int], list[str]]

_MAX_GROWTH = 12  # of the number of calls, if the depth doubles


def _nested(header: str, first: str = "", *, before: str = "") -> Lines:
    """Return nested statements: at each level ``before``, ``header``, and inside it ``first``."""

    def lines(depth: int) -> list[str]:
        result = []
        for d in range(depth):
            indented = ((d, before), (d, header), (d + 1, first))
            result += ["    " * indent + text.format(d) for indent, text in indented if text]
        return [*result, "    " * depth + "a[i] += 1"]

    return lines


def _variables(first: str, following: str, last: str = "a[{0}] = 1") -> Lines:
    """Return definitions of v0, v1, ...; ``following`` contains the previous one as {0}."""

    def lines(depth: int) -> list[str]:
        definitions = [
            f"v{d + 1} = {following.format(f'v{d}', d, 'and' if d % 2 else 'or')}"
            for d in range(depth)
        ]
        return [f"v0 = {first}", *definitions, last.format(f"v{depth}")]

    return lines


def _expression(first: str, following: str, statement: str = "a[i] = {}") -> Lines:
    """Return a statement with a nested expression; ``following`` contains the inner one as {0}."""

    def lines(depth: int) -> list[str]:
        expression = first
        for d in range(depth):
            expression = following.format(expression, d, "and" if d % 2 else "or")
        return [statement.format(expression)]

    return lines


CONSTRUCTS: dict[str, tuple[int, Lines]] = {
    "for": (5, _nested("for j{0} in range(n):")),
    "for over elements": (5, _nested("for j{0} in range(a[i]):", "a[j{0}] += n")),
    "for with break": (5, _nested("for j{0} in range(n):", "if a[i] > j{0}: break")),
    "while": (2, _nested("while w{0} < n:", "w{0} += 1", before="w{0} = 0")),
    "while with and": (
        2,
        _nested("while w{0} > i and i > {0}:", "w{0} >>= 1", before="w{0} = n"),
    ),
    "while over elements": (5, _nested("while a[i] < {0}:")),
    "while True": (5, _nested("while True:", "if a[i] > {0}: break")),
    "if": (10, _nested("if a[i] > {0}:")),
    "comparison": (6, _expression("n", "(({0}) < i < n)")),
    "condition": (6, _expression("n", "(i if {0} > 1 else n)", "if {}: a[i] = 1")),
    "conditional index": (6, _expression("n", "(i if {0} > 1 else n)", "a[{}] = 1")),
    "and, or": (6, _expression("i > 1", "({0}) {2} n > {1}", "if {}: a[i] = 1")),
    "bool variables": (5, _variables("n > 1", "{0} {2} i > {1}", "if {}: a[i] = 1")),
    "conditional variables": (8, _variables("i - n", "{0} if {0} > n else {0} - 1")),
    "sums": (8, _variables("i - n", "{0} * {0} - {0}")),
    "loads": (8, _variables("i - n", "a[{0} - 1]")),
    "slices": (5, _expression("a", "{0}[n:]", "a[i] = {}[i]")),
    "assigned slices": (5, _expression("a", "{0}[n:-{1}]", "{}[:] = 1")),
    "indices": (5, _expression("i - n", "a[{0} - 1]", "a[{}] += 1")),
    "midpoints": (8, _expression("i", "(({0} + n) // 2)", "a[{}] = 1")),
}


@pytest.mark.parametrize("target", ["cuda", "c"])
@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_work_is_polynomial_in_the_depth(construct: str, target: Language, tmp_path: Path) -> None:
    depth, lines = CONSTRUCTS[construct]
    _kernel(lines(1), tmp_path).inspect(target)  # the first compilation imports modules
    calls = _calls_of_inspect(_kernel(lines(depth), tmp_path), target, sys.maxsize).total()
    limit = _MAX_GROWTH * calls
    assert _calls_of_inspect(_kernel(lines(2 * depth), tmp_path), target, limit).total() < limit


# bodies of device functions with barriers; {0} calls the function of the next level
BARRIER_FUNCTIONS: dict[str, str] = {
    "calls": "y = {0}; cuda.syncthreads(); return y + s[t]",
    "conditional calls": "return {0} if n > {1} else x",
    "calls in branches": "if n > {1}: x = {0}\n    cuda.syncthreads(); return x",
    "early returns": "if n > {1}: return {0}\n    cuda.syncthreads(); return x",
    "calls in loops": "for j in range({1}): x += {0}; cuda.syncthreads()\n    return x",
}


@pytest.mark.parametrize("target", ["cuda", "c", "c-resumable"])
@pytest.mark.parametrize("kind", BARRIER_FUNCTIONS)
def test_work_is_polynomial_in_the_depth_of_barrier_functions(
    kind: str, target: Language, tmp_path: Path
) -> None:
    def nested(depth: int) -> Kernel[...]:
        lines = ["from pycu2c import cuda, device, float32, kernel", ""]
        for d in range(depth + 1):
            body = "s[t] = x; cuda.syncthreads(); return s[t ^ 1]"
            if d:
                body = BARRIER_FUNCTIONS[kind].format(f"f{d - 1}(x, s, t, n)", d)
            lines += ["@device", f"def f{d}(x, s, t, n):", f"    {body}", ""]
        lines += [
            "@kernel(signature='float32[:], int64')",
            "def k(a, n):",
            "    s, t = cuda.shared.array(64, float32), cuda.threadIdx.x",
            f"    a[t] = f{depth}(a[t], s, t, n)",
            "",
        ]
        result = module_from("\n".join(lines), tmp_path).k
        assert isinstance(result, Kernel)
        return result

    nested(1).inspect(target)  # the first compilation imports modules
    calls = _calls_of_inspect(nested(6), target, sys.maxsize).total()
    limit = _MAX_GROWTH * calls
    assert _calls_of_inspect(nested(12), target, limit).total() < limit


STATEMENTS: dict[str, str] = {
    "assignments": "v{0} = a[i + {0}] + v{1}",
    "conditions": "if a[i] > {0}: v0 = v0 + {0}",
    "locals of blocks": "if a[i] > {0}: w{0} = a[i - {0}]; v0 = w{0} * w{0}",
    "loops": "for j{0} in range(n): v0 += a[j{0}]",
    "one counter": "for j in range(n): v0 += a[j + {0}]",
    "stores": "a[i + {0} * n] = a[i + {0} * n] * 2",
    "sums": "v0 += a[i] * {0}",
    "sums of neighbours": "a[i + {0} * n] = a[i + {1} * n] + a[i + {0} * n] * {0}",
}


@pytest.mark.parametrize("target", ["cuda", "c"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_work_is_linear_in_the_statements(statement: str, target: Language, tmp_path: Path) -> None:
    def calls(count: int) -> Counter[str]:
        repeated = (STATEMENTS[statement].format(n + 1, n) for n in range(count))
        lines = ["v0 = a[i]", "if i < n:", *(f"    {s}" for s in repeated), "a[i] = v0"]
        return _calls_of_inspect(_kernel(lines, tmp_path), target, sys.maxsize)

    calls(1)  # the first compilation imports modules
    few, many = calls(30), calls(120)
    superlinear = {f: (few[f], n) for f, n in many.items() if n > 4.4 * few[f] + 120}
    assert not superlinear  # by function: the calls for 30 and for 120 statements


def _kernel(lines: list[str], folder: Path) -> Kernel[...]:
    head = ["from pycu2c import cuda, int64, kernel", "", "@kernel(signature='int64[:], int64')"]
    body = ["    " + line for line in ("i = cuda.grid(1)", *lines)]
    result = module_from("\n".join([*head, "def k(a, n):", *body, ""]), folder).k
    assert isinstance(result, Kernel)
    return result


class _TooMuchWork(BaseException):
    pass


def _calls_of_inspect(kernel: Kernel[...], target: Language, limit: int) -> Counter[str]:
    """Return how often each Python function is called to generate code; at most ``limit`` calls."""
    calls: Counter[CodeType] = Counter()
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event == "call":
            calls[frame.f_code] += 1
            count += 1
        if count >= limit:
            raise _TooMuchWork

    sys.setprofile(profile)
    with contextlib.suppress(_TooMuchWork):
        kernel.inspect(target)
    sys.setprofile(None)
    by_name: Counter[str] = Counter()
    for code, n in calls.items():
        by_name[f"{code.co_qualname} at {code.co_filename}:{code.co_firstlineno}"] += n
    return by_name
