"""Instrument a kernel for coverage: set a flag for each arc that a thread executes.

An arc is a pair of lines in succession. Before: marks, which assign a line to ``LINE``. After: a
mark sets the flag of the arc from the last line to its own one. The flags are in a hidden array,
the last parameter of the kernel.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import numpy.typing as npt

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, uint8
from pycu2c.frontend.line_marks import LINE
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const, integer
from pycu2c.ir.call_graph import transitive_callees
from pycu2c.ir.walk import map_expr, map_stmt, statements
from pycu2c.ops.operators import ADD, MUL
from pycu2c.runtime.launch_observers import Arcs

_NOWHERE = Span("", 0, 0, 0, 0)
_FLAGS = ir.Var("lines.coverage", Array(uint8.dtype, 1, "C"), _NOWHERE)
_LINE = ir.Var(LINE, WEAK_INT, _NOWHERE)


@dataclass(frozen=True, slots=True)
class _MarkedFunction:
    """The lines of a function. exit: the number of its exits. start: its first flag."""

    file: str
    lines: tuple[int, ...]
    exit: int
    start: int

    @property
    def size(self) -> int:
        """The number of lines, and one for entry and exit."""
        return len(self.lines) + 1

    def index(self, line: int) -> int:
        return 0 if line < 0 else self.lines.index(line) + 1


@dataclass(slots=True)
class CoverageFlags:
    """The flags of a kernel: a square matrix for each function."""

    functions: list[_MarkedFunction] = field(default_factory=list)
    count: int = 0

    def add(self, function: ir.Function) -> _MarkedFunction | None:
        """Add the flags of a function; return None for a function without marks."""
        marks = [s for s in statements(function.body) if _is_mark(s)]
        if not marks:
            return None
        lines = sorted({_marked_line(s) for s in marks})
        executed = tuple(line for line in lines if line > 0)
        marked = _MarkedFunction(marks[0].span.file, executed, min(lines[0], 0), self.count)
        self.functions.append(marked)
        self.count += marked.size**2
        return marked

    def arcs(self, flags: npt.NDArray[np.uint8]) -> Arcs:
        """Return the arcs whose flags are set."""
        arcs: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
        for f in self.functions:
            matrix = flags[f.start : f.start + f.size**2].reshape(f.size, f.size)
            for before, after in np.argwhere(matrix):
                source = f.lines[before - 1] if before else f.exit
                arcs[f.file].add((source, f.lines[after - 1] if after else f.exit))
        return arcs


def with_coverage_flags(module: ir.Module) -> tuple[ir.Module, CoverageFlags]:
    """Return a kernel that sets flags. Functions in C, and what they call, set none."""
    callees = transitive_callees(module.functions)
    external = {f.name for f in module.functions if f.external_code is not None}
    skipped = external.union(*(callees[name] for name in external))
    flags = CoverageFlags()
    marked = {f.name: m for f in module.functions if f.name not in skipped and (m := flags.add(f))}

    def with_flags(function: ir.Function) -> ir.Function:
        lines = marked.get(function.name)
        if lines is None:
            return function
        body = map_stmt(map_expr(function.body, pass_flags), lambda s: _set_flag(s, lines))
        position = max((p.argument for p in function.parameters), default=-1) + 1
        parameter = ir.Parameter(_FLAGS.name, _FLAGS.type, position)
        parameters = (*function.parameters, parameter)
        start = ir.Assign(_LINE, integer(0, function.span), function.span)
        return replace(function, parameters=parameters, body=(start, *body))

    def pass_flags(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Call) or e.function not in marked:
            return e
        return replace(e, arguments=(*e.arguments, _FLAGS))

    devices = tuple(map(with_flags, module.device_functions))
    return replace(module, kernel=with_flags(module.kernel), device_functions=devices), flags


def _set_flag(s: ir.Stmt, function: _MarkedFunction) -> ir.Body:
    if not _is_mark(s):
        return (s,)
    span, index = s.span, function.index(_marked_line(s))
    row = binary(MUL, _LINE, integer(function.size, span), span)
    flag = binary(ADD, row, integer(function.start + index, span), span)
    store = ir.Store(_FLAGS, (flag,), const(1, span, uint8), span)
    return store, ir.Assign(_LINE, integer(index, span), span)


def _is_mark(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Assign) and s.var.name == LINE


def _marked_line(s: ir.Stmt) -> int:
    assert isinstance(s, ir.Assign)
    assert isinstance(s.value, ir.Const)
    return int(s.value.value)
