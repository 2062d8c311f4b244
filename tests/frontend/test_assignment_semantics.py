"""Variables, stores and indices: what type a name has where branches meet, in which order an
assignment happens, what an element takes, where a negative index counts from."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from language.test_semantics import HEADER, SIDE, N, types_of_results, values_of
from pycu2c import CompileError, CompileWarning
from pycu2c.base.dtypes import DTYPES, DType
from support.kernels_from_text import module_from
from support.launching import run

# ---- variables -----------------------------------------------------------------------------------


def test_separate_live_ranges_have_types_of_their_own(target: str, tmp_path: Path) -> None:
    text = """
    def k(f, out):
        x = 5
        whole = x // 2
        x = 1.5
        half = x
        x = f[0]
        single = x * 2
        out[0], out[1], out[2] = whole, half, single
    """
    kernel = module_from(HEADER + textwrap.dedent(text), tmp_path).k
    arguments = (np.full(1, 0.1, np.float32), np.zeros(3))
    result = types_of_results(kernel, arguments)
    assert (result["whole"], result["half"], result["single"]) == ("int", "float", "float32")
    assert run(kernel, (1, 1), arguments, target)[1].tolist() == [2, 1.5, np.float32(0.1) * 2]


JOINS = [
    ("x = 1", "x = a[i]", "float32"),
    ("x = 1.5", "x = n", "float"),
    ("x = b[i]", "x = a[i]", "float64"),
    ("x = b[i]", "x = 2", "int32"),
    ("x = 1j", "x = a[i]", "complex64"),
    ("x = n > 2", "x = n", "int"),
    ("x = b[i]", "x = 0.5", "float64"),
]


@pytest.mark.parametrize(("first", "second", "kind"), JOINS)
def test_types_are_joined_after_branches(
    first: str, second: str, kind: str, target: str, tmp_path: Path
) -> None:
    text = f"""
    def k(a, b, n, out):
        i = cuda.grid(1)
        if i % 2:
            {first}
        else:
            {second}
        r = x
        out[i] = r
    """
    kernel = module_from(HEADER + textwrap.dedent(text), tmp_path).k
    a, b = np.array([0.1, 2.5], np.float32), np.array([7, -8], np.int32)
    arguments = (a, b, N, np.zeros(2, np.complex128))
    assert types_of_results(kernel, arguments)["r"] == kind
    scope = {"a": a, "b": b, "n": N}
    right = []
    for i, line in enumerate((second, first)):
        result: dict[str, Any] = {}
        exec(line, scope | {"i": i}, result)
        right.append(complex(result["x"]))
    assert run(kernel, (1, 2), arguments, target)[3].tolist() == right


BOOLS = {
    "y = f[i]": 1,
    "y = n > 2": 2,
    "y = True": 2,
    "y = not n": 0,
    "y = f[i] if n < 9 else n > 2": 1,
    "y = n > 2 if n < 9 else f[i]": 1,
    "if n < 9:\n    y = f[i]\nelse:\n    y = n > 2": 1,
    "if n < 9:\n    y = n > 2\nelse:\n    y = f[i]": 1,
    "y = n > 2\nfor j in range(n - 2):\n    y = f[j]": 1,
    "y = (f[i], n > 2)[n - 2]": 1,
    "y = f[i] and n > 2": 1,
    "y = n > 2 and f[i]": 1,
    "y = f[i] + (n > 2)": 1,
    "y = int(f[i]) if n < 9 else n > 2": 2,
}


@pytest.mark.parametrize("lines", BOOLS)
def test_a_strong_bool_joined_with_a_comparison_is_strong(
    lines: str, target: str, tmp_path: Path
) -> None:
    body = textwrap.indent(f"i = cuda.grid(1)\n{lines}\nout[0] = y + y", "    ")
    kernel = module_from(f"{HEADER}def k(f, n, out):\n{body}", tmp_path).k
    arguments = (np.ones(2, np.bool_), N, np.zeros(1, np.int64))
    assert run(kernel, (1, 1), arguments, target)[2][0] == BOOLS[lines]


ACCUMULATORS = [
    ("s = 0", "s += a[i]", "uint8", True),
    ("s = 0", "s = s + a[i]", "int16", True),
    ("s = 1", "s *= a[i]", "int8", True),
    ("s = 0", "s -= a[i] // 2", "uint16", True),
    ("s = 0", "s += a[i]", "int32", False),
    ("s = 0", "s ^= a[i]", "uint8", False),
    ("s: uint8 = 0", "s += a[i]", "uint8", False),
    ("s = np.int64(0)", "s += a[i]", "uint8", False),
    ("s = a[0]", "s += a[i]", "uint8", False),
    ("s = 0", "s += int(a[i])", "uint8", False),
    ("s = 0.0", "s += a[i]", "float16", False),
]


@pytest.mark.parametrize(("start", "step", "dtype", "warns"), ACCUMULATORS)
@pytest.mark.parametrize("loop", ["for i in range(a.size):", "i = 0\n    while i < a.size:"])
def test_a_narrow_sum_is_a_warning(
    start: str, step: str, dtype: str, warns: bool, loop: str, tmp_path: Path
) -> None:
    decorator = f'@kernel("{dtype}[:], float64[:]")\ndef k(a, out):\n    {start}\n    '
    text = f"{HEADER.rpartition('@')[0]}{decorator}{loop}\n        {step}\n        i += 1\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", CompileWarning)
        module_from(f"{text}    out[0] = s\n", tmp_path)
    messages = [str(w.message) for w in caught]
    assert ["narrow-accumulator" in message for message in messages] == [True] * warns
    assert all(f"`{dtype}`, and wraps" in message for message in messages)


def test_an_unassigned_variable_is_0_with_a_warning(target: str, tmp_path: Path) -> None:
    text = """
    def k(out):
        i = cuda.grid(1)
        if i > 1:
            x = i
        out[i] = x
    """
    kernel = module_from(HEADER + textwrap.dedent(text), tmp_path).k
    with pytest.warns(CompileWarning, match="x"):
        result = run(kernel, (1, 4), [np.full(4, 9)], target)[0]
    assert result.tolist() == [0, 0, 2, 3]
    strict = HEADER.replace("fmad=False", "strict=True") + textwrap.dedent(text)
    with pytest.raises(CompileError):
        run(module_from(strict, tmp_path).k, (1, 4), [np.zeros(4)], target)


# ---- stores --------------------------------------------------------------------------------------


@pytest.mark.parametrize("element", DTYPES, ids=str)
def test_a_store_converts_as_astype_does(element: DType, target: str, tmp_path: Path) -> None:
    """From every type that an element takes: integers wrap, a float is cut, none loses a part."""
    sources = [d for d in DTYPES if element.is_complex or not d.is_complex]
    names = [f"{role}_{d.short}" for d in sources for role in "xo"]
    lines = [f"def k({', '.join(names)}):", "    i = cuda.grid(1)", f"    if i < {SIDE}:"]
    lines += [f"        o_{d.short}[i] = x_{d.short}[i]" for d in sources]
    kernel = module_from(HEADER + "\n".join(lines), tmp_path).k
    inputs = [_that_fit(values_of(d), element) for d in sources]
    outs = [np.zeros(SIDE, element.numpy) for _ in sources]
    arguments = [a for x, out in zip(inputs, outs, strict=True) for a in (x, out)]
    computed = run(kernel, (1, 32), arguments, target)[1::2]
    for d, x, got in zip(sources, inputs, computed, strict=True):
        with np.errstate(all="ignore"):
            want = x.astype(element.numpy)
        assert got.tobytes() == want.tobytes(), f"{d}: {got.tolist()}, not {want.tolist()}"


def _that_fit(values: Any, element: DType) -> Any:
    """A float beyond an integer's range converts to an undefined value."""
    return np.abs(values) if values.dtype.kind in "fV" and not element.is_signed else values


REJECTED = [
    ("np.uint8(n) + 300", "constant-range"),
    ("np.uint8(n) + (-1)", "constant-range"),
    ("np.int8(n) * 200", "constant-range"),
    ("np.uint32(n) - 2**40", "constant-range"),
    ("np.bool_(n) - np.bool_(n)", "operand-type"),
    ("np.float32(n) & 1", "operand-type"),
    ("1j // n", "operand-type"),
    ("(1j < n)", "operand-type"),
    ("np.float64(n) << 1", "operand-type"),
]


@pytest.mark.parametrize(("expression", "code"), REJECTED)
def test_conversions_that_numpy_rejects_are_errors(
    expression: str, code: str, tmp_path: Path
) -> None:
    text = f"{HEADER}def k(n, out):\n    out[0] = {expression}"
    with pytest.raises(CompileError, match=code):
        run(module_from(text, tmp_path).k, (1, 1), (N, np.zeros(1, np.complex128)), "cpu")


@pytest.mark.parametrize(
    ("value", "element"), [("300", "uint8"), ("-1", "uint16"), ("1j", "float32"), ("z[0]", "int8")]
)
def test_what_an_element_does_not_take(value: str, element: str, tmp_path: Path) -> None:
    text = f"{HEADER}def k(z, out):\n    out[0] = {value}"
    arguments = (np.zeros(1, np.complex64), np.zeros(1, element))
    with pytest.raises(CompileError):
        run(module_from(text, tmp_path).k, (1, 1), arguments, "cpu")


def test_a_run_time_int_is_cut_to_its_partner(target: str, tmp_path: Path) -> None:
    text = f"{HEADER}def k(n, out):\n    out[0] = np.uint8(1) + n\n    out[1] = n"
    out = np.zeros(2, np.uint8)
    assert run(module_from(text, tmp_path).k, (1, 1), (1000, out), target)[1].tolist() == [233, 232]


ORDER = """
def k(trace, out):
    j = 0
    j = out[j] = 2
    out[1], j = 5, 3
    out[(j := j + 1)] += cuda.atomic.add(trace, 0, j) + 1
    a, b = cuda.atomic.add(trace, 0, 10), cuda.atomic.add(trace, 0, 100)
    out[5] = b - a
"""


def test_values_are_evaluated_before_targets(target: str, tmp_path: Path) -> None:
    kernel = module_from(HEADER + ORDER, tmp_path).k
    result = run(kernel, (1, 1), (np.zeros(1, np.int64), np.zeros(6, np.int64)), target)
    trace, out = np.zeros(1, np.int64), np.zeros(6, np.int64)
    scope: dict[str, Any] = {"cuda": _Atomics(), "trace": trace, "out": out}
    exec(ORDER + "\nk(trace, out)", scope)
    assert [a.tolist() for a in result] == [trace.tolist(), out.tolist()]


class _Atomics:
    """``cuda.atomic`` of one thread."""

    atomic = property(lambda self: self)

    def add(self, array: Any, index: int, value: int) -> Any:
        old = array[index].item()
        array[index] += value
        return old


# ---- indices -------------------------------------------------------------------------------------

INDICES = [
    "0",
    "-1",
    "i",
    "-1 - i",
    "i - 5",
    "s[i]",
    "n - 5",
    "u[i]",
    "4 - i",
    "i if i > 2 else -2",
]


@pytest.mark.parametrize("index", INDICES)
def test_negative_indices_count_from_the_end(index: str, target: str, tmp_path: Path) -> None:
    text = f"{HEADER}def k(n, s, u, x, out):\n    i = cuda.grid(1)\n    out[i] = x[{index}]"
    signed, unsigned = np.array([-5, 4, -1, 0, 2], np.int8), np.arange(5, dtype=np.uint16)
    x = np.arange(10.0, 60.0, 10.0)
    arguments = (N, signed, unsigned, x, np.zeros(5))
    result = run(module_from(text, tmp_path).k, (1, 5), arguments, target)[4]
    scope = {"n": N, "s": signed, "u": unsigned}
    assert result.tolist() == [x[eval(index, scope | {"i": i})] for i in range(5)]


PROVED = [
    ("i = cuda.grid(1)", "i"),
    ("i = cuda.threadIdx.x", "i + 1"),
    ("i = u[0]", "i"),
    ("i = n\n    if i < 0:\n        return", "i"),
    ("i = n\n    if not i > 0:\n        return", "i - 1"),
    ("i = cuda.blockIdx.x\n    t = cuda.threadIdx.x\n    if t < i:\n        return", "t - i"),
    ("i = abs(n % 7)", "i"),
    ("i = n & 3", "i"),
]


@pytest.mark.parametrize(("before", "index"), PROVED)
def test_no_wrap_is_emitted_where_none_is_needed(before: str, index: str, tmp_path: Path) -> None:
    text = f"{HEADER}def k(n, u, x):\n    {before}\n    x[{index}] = 1"
    shown = module_from(text, tmp_path).k.inspect("cuda", "void(int32, uint8[::1], float32[::1])")
    assert "x_len" not in shown


@pytest.mark.parametrize("index", ["n", "i - n", "n % 5 - 5"])
def test_a_wrap_is_emitted_where_the_proof_fails(index: str, tmp_path: Path) -> None:
    text = f"{HEADER}def k(n, x):\n    i = cuda.grid(1)\n    x[{index}] = 1"
    signature = "void(int32, float32[::1])"
    assert "x_len" in module_from(text, tmp_path).k.inspect("cuda", signature)
    plain = text.replace("fmad=False", "wraparound=False")
    assert "x_len" not in module_from(plain, tmp_path).k.inspect("cuda", signature)


def test_an_augmented_target_is_read_before_its_value(target: str, tmp_path: Path) -> None:
    text = f"{HEADER}def k(out):\n    j = 0\n    out[j] += (j := 1)\n    out[-1] -= j"
    result = run(module_from(text, tmp_path).k, (1, 1), [np.array([5, 7])], target)[0]
    assert result.tolist() == [6, 6]
