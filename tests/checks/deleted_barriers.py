"""Delete each barrier of right kernels, and see whether checks report the race.

    PYTHONPATH=src:tests python -m checks.deleted_barriers [NAME…]

The kernels are those of ``golden/``, of the examples, and the right ones of ``defects/``, with the
launches of their tests. The oracle, which records all accesses between barriers,
tells whether a deletion leaves two conflicting accesses without an order. It knows no order of
lanes, and no conflicts of atomic operations. Kernels with these have the verdict "unknown", and so
do kernels that it does not run.
"""

from __future__ import annotations

import ast
import linecache
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fuzzing import checking
from fuzzing.cases import Case
from fuzzing.checking import Undefined, run_reference
from fuzzing.planted import ALL
from fuzzing.running import as_parameters
from pycu2c import CheckError
from pycu2c.declarations.options import CheckGroup, Options
from pycu2c.kernels.kernel import Kernel
from support.defects import Seeded, imported, kernels_of, ramp, with_callees
from support.golden_kernels import CASES, GOLDEN, kernel_of, module_of
from support.paths import ROOT

BARRIERS = ("syncthreads", "syncwarp", "sync", "sync_threads", "barrier")
# whether a deletion changes the order of conflicting accesses
LOST, KEPT, UNKNOWN = "lost", "kept", "unknown"
Checks = tuple[CheckGroup, ...]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel with barriers, and a launch."""

    name: str
    path: Path
    function: str
    configuration: tuple[Any, ...]
    arguments: Callable[[], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Deletion:
    """What became of a kernel without one of its barriers."""

    subject: Subject
    line: int
    order: str
    reported: bool

    @property
    def verdict(self) -> str:
        if self.order == LOST:
            return "reported" if self.reported else "missed"
        if self.order == KEPT:
            return "false" if self.reported else "redundant"
        return "unknown, reported" if self.reported else "unknown, not reported"


# ---- subjects ----------------------------------------------------------------------------------


def subjects() -> list[Subject]:
    """Return all kernels with barriers that are deleted."""
    found = [*_goldens(), *_examples(), *_right_kernels()]
    return [s for s in found if barrier_lines(s)]


def _goldens() -> Iterator[Subject]:
    firsts = dict(reversed(CASES))
    for name, variant in firsts.items():
        grid, block, _ = _case(name, variant)
        function = kernel_of(name).python.__name__
        path = GOLDEN / name / "kernel.py"
        yield Subject(
            f"golden/{name}",
            path,
            function,
            (grid, block),
            lambda n=name, v=variant: _case(n, v)[2],
        )


def _case(name: str, variant: str) -> Any:
    return module_of(name).case(np.random.default_rng(1), variant)


def _examples() -> Iterator[Subject]:
    readings = ramp(1000) % 40
    sums = np.zeros(2, np.float32)
    counts = np.zeros(256, np.int32)
    weights = np.array([1, 4, 6, 4, 1], np.float32) / 16
    photo = ramp(20, 24)
    for file, function, configuration, arguments in (
        ("reduction.py", "block_sums", (2, 256), (readings, sums)),
        ("reduction.py", "histogram", (2, 256), (readings, counts)),
        ("edges.py", "blur", ((2, 2), (16, 16)), (photo, weights, np.zeros_like(photo))),
        ("edges.py", "sobel", ((2, 2), (16, 16)), (photo, np.zeros_like(photo))),
    ):
        copies = lambda a=arguments: tuple(x.copy() for x in a)  # noqa: E731
        yield Subject(f"examples/{function}", EXAMPLES / file, function, configuration, copies)


def _right_kernels() -> Iterator[Subject]:
    for path in sorted((Path(__file__).parent / "defects").glob("*.py")):
        if path.name.startswith("test_"):
            continue
        for seeded in kernels_of(imported(path)):
            name = f"{path.stem}/{seeded.name}"
            yield Subject(name, path, seeded.name, seeded.configuration, seeded.arguments)


def barrier_lines(subject: Subject) -> list[int]:
    """Return the lines of a kernel that are barriers by themselves."""
    return [
        n.lineno
        for n in ast.walk(_definition(subject))
        if isinstance(n, ast.Expr)
        and isinstance(n.value, ast.Call)
        and isinstance(n.value.func, ast.Attribute)
        and n.value.func.attr in BARRIERS
    ]


def _definition(subject: Subject) -> ast.FunctionDef:
    tree = ast.parse(subject.path.read_text())
    functions = (n for n in tree.body if isinstance(n, ast.FunctionDef))
    return next(f for f in functions if f.name == subject.function)


# ---- deletions ---------------------------------------------------------------------------------


def delete(subject: Subject, line: int) -> Deletion:
    """Delete a barrier, and launch what is left with checks and with the reference."""
    before, after = order(subject), order(subject, line)
    functions = with_callees(load(subject).python)
    # the reference does not record atomic operations
    has_atomics = any("atomic" in function.__code__.co_names for function in functions)
    known = before == KEPT and not (after == KEPT and has_atomics)
    return Deletion(subject, line, after if known else UNKNOWN, bool(findings(subject, line)))


def load(subject: Subject, deleted: int = 0, checks: Checks = ()) -> Kernel:
    """Return a kernel without the barrier of a line."""
    lines = subject.path.read_text().splitlines(keepends=True)
    if deleted:
        line = lines[deleted - 1]
        lines[deleted - 1] = line[: len(line) - len(line.lstrip())] + "pass\n"
    text, name = "".join(lines), f"<{subject.name} without line {deleted}>"
    linecache.cache[name] = (len(text), None, lines, name)
    module: dict[str, Any] = {"__name__": "subject", "__file__": str(subject.path)}
    exec(compile(text, name, "exec"), module)
    value = module[subject.function]
    if isinstance(value, Kernel):
        options = replace(value.options, check=checks)
        return Kernel(value.python, backend="cpu", options=options, cache=False)
    function = value.function if isinstance(value, Seeded) else value
    return Kernel(function, backend="cpu", options=Options(check=checks), cache=False)


def findings(subject: Subject, deleted: int = 0) -> tuple[Any, ...]:
    """Return what checks find in a kernel without the barrier of a line."""
    try:
        load(subject, deleted, ALL)[subject.configuration](*subject.arguments())
    except CheckError as error:
        return error.findings
    return ()


def order(subject: Subject, deleted: int = 0) -> str:
    """Return whether all conflicting accesses are ordered, by the oracle."""
    made = load(subject, deleted)
    case = Case("", {"fuzzed": made})
    launcher, arguments = made.launcher, list(subject.arguments())
    try:
        signature = launcher.signature(launcher.flatten(arguments))
        extents = subject.configuration[0], subject.configuration[1]
        parameters = as_parameters(case, signature, arguments)
        run_reference(launcher.source, signature, extents, parameters)
    except Undefined as error:  # a race, or a read before the write
        return UNKNOWN if "too long" in str(error) else LOST
    except Exception:
        return UNKNOWN
    return KEPT


def all_deletions(chosen: list[Subject]) -> Iterator[Deletion]:
    for subject in chosen:
        for line in barrier_lines(subject):
            yield delete(subject, line)


def main(names: list[str]) -> int:
    sys.path.insert(0, str(EXAMPLES))
    checking.SECONDS = 30.0
    warnings.simplefilter("ignore")
    chosen = [s for s in subjects() if not names or any(n in s.name for n in names)]
    counts: Counter[str] = Counter()
    for deletion in all_deletions(chosen):
        counts[deletion.verdict] += 1
        if deletion.verdict != "reported":
            print(f"{deletion.subject.name}:{deletion.line}: {deletion.verdict}", flush=True)
    for subject in chosen:
        for finding in findings(subject):
            counts["finding in the kernel with all barriers"] += 1
            print(f"{subject.name}: {finding}")
    print(dict(counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
