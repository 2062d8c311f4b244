"""Kernels with one seeded defect each, as checked mode must find it.

A kernel is written as it is right, and comments at the ends of lines mark what makes it wrong:

    tile[t] = a[i]  # other
    cuda.syncthreads()  # defect: removed
    out[i] = tile[63 - t]  # finding

``# defect: CODE`` is the line of the wrong kernel in place of the line; ``removed`` is no line.
``# finding`` marks the line of the finding, and ``# other`` that of the other access of a race. A
line may have several marks: ``# finding, other, defect: CODE``.
"""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from pycu2c import Finding
from pycu2c.runtime.findings import CheckKind

_DEFECT = re.compile(r"^(\s*)\S.*#.*?\bdefect: (.*)$")
_MARKS = re.compile(r"# ((?:finding|other)(?:, other)?)(?:, defect: .*)?$")


@dataclass(frozen=True)
class Seeded:
    """A kernel with marks.

    arguments: makes new ones. configuration: of the launch.
    """

    kind: CheckKind
    configuration: tuple[Any, ...]
    arguments: Callable[[], tuple[Any, ...]]
    function: FunctionType

    @property
    def name(self) -> str:
        return self.function.__name__

    def marked_lines(self, mark: str) -> list[int]:
        """Return the lines with a mark, in the kernel and in the device functions it calls."""
        return [
            line
            for function in with_callees(self.function)
            for line, text in _numbered_lines(function)
            if mark in marks_of(text)
        ]

    def is_expected(self, finding: Finding, *, exact: bool = True) -> bool:
        """Return whether a finding is that of the defect; if exact, both lines of a race are."""
        lines = self.marked_lines("finding")
        assert lines, f"{self.name} has no line with the mark finding"
        if finding.kind != self.kind:
            return False
        if self.kind != "race":
            return finding.line in lines
        others = self.marked_lines("other")
        assert others, f"{self.name} has no line with the mark other"
        pair = finding.line, finding.other_line
        if not exact:
            return not {*lines, *others}.isdisjoint(pair)
        return any(pair in ((a, b), (b, a)) for a in lines for b in others)


def seeded(
    kind: CheckKind,
    grid: Any,
    block: Any,
    arguments: Callable[[], tuple[Any, ...]],
    shared: int = 0,
) -> Callable[[Callable[..., Any]], Seeded]:
    """Declare a kernel with marks; ``shared`` is the size of dynamic shared memory in bytes."""
    configuration = (grid, block, None, shared) if shared else (grid, block)
    return lambda function: Seeded(kind, configuration, arguments, cast(FunctionType, function))


def kernels_of(module: ModuleType) -> list[Seeded]:
    return [value for value in vars(module).values() if isinstance(value, Seeded)]


def imported(path: Path) -> ModuleType:
    """Import a module of kernels."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_defects(module: ModuleType, folder: Path) -> ModuleType:
    """Import a module with the defects of all its kernels; its lines have the same numbers."""
    lines = Path(str(module.__file__)).read_text().splitlines()
    path = folder / f"{module.__name__}.py"
    path.write_text("\n".join(map(defective_line, lines)))
    return imported(path)


def marks_of(line: str) -> list[str]:
    """Return the marks at the end of a line: finding, other."""
    match = _MARKS.search(line)
    return match[1].split(", ") if match else []


def defective_line(line: str) -> str:
    """Return the line of the wrong kernel in place of a line."""
    match = _DEFECT.match(line)
    if match is None:
        return line
    indentation, code = match.groups()
    return indentation + ("pass" if code == "removed" else code)


def with_callees(function: FunctionType) -> Iterator[FunctionType]:
    yield function
    for name in function.__code__.co_names:
        callee = inspect.unwrap(function.__globals__.get(name, 0))
        if isinstance(callee, FunctionType) and callee.__module__ == function.__module__:
            yield from with_callees(callee)


def _numbered_lines(function: FunctionType) -> Iterator[tuple[int, str]]:
    lines, first = inspect.getsourcelines(function)
    yield from enumerate(lines, first)


# ---- arguments ---------------------------------------------------------------------------------


def ramp(*shape: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    """Return the numbers from 1."""
    return np.arange(1, 1 + int(np.prod(shape))).astype(dtype).reshape(shape)


def zeros(*shape: int, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
    return np.zeros(shape, dtype)


def noise(*shape: int, limit: int = 100, dtype: npt.DTypeLike = np.int32) -> npt.NDArray[Any]:
    """Return random integers from 0 to ``limit`` - 1, the same in each run."""
    return np.random.default_rng(1).integers(0, limit, shape).astype(dtype)
