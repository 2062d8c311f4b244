"""Find the loops to unroll so that local arrays are in registers (GPU).

Registers have no addresses: an array is in registers if each index is a constant after loops are
unrolled, as of ``total[2 * n]`` in ``for n in range(64)``. Other local arrays are in local memory,
which is as slow as global memory. Source: scalar replacement of aggregates, as in LLVM's SROA.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    expressions,
    operands,
    path_indices,
    statements,
)

_MAX_REGISTERS = 256  # a thread has 255
_MAX_COPIES = 1024  # of the body of a loop
_COPIES_WITHOUT_REQUEST = 8  # NVRTC unrolls shorter loops by itself

_COMPUTED = "this index is computed"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why an array of a function is in local memory."""

    array: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class RegisterArrays:
    """The loops of a function to unroll, and why its other local arrays are in memory."""

    loops: frozenset[ir.For]
    obstacles: tuple[Obstacle, ...]


def register_arrays(
    module: ir.Module, ranges: Mapping[str, Ranges]
) -> Mapping[str, RegisterArrays]:
    """Return the result for each function of a module, by name."""
    in_memory: set[tuple[str, str]] = set()  # array parameters, with the names of the functions
    parameters = {f.name: f.parameters for f in module.device_functions}
    results: dict[str, RegisterArrays] = {}
    for function in (*module.device_functions, module.kernel):  # callees before callers
        found = _Function(function, ranges[function.name])
        for call in all_expressions(function.body):
            if isinstance(call, ir.Call):
                for p, argument in zip(parameters.get(call.function, ()), call.arguments):
                    if (call.function, p.name) in in_memory and isinstance(argument, ir.Var):
                        found.loops_of.pop(argument.name, None)
        results[function.name] = RegisterArrays(found.loops_to_unroll(), tuple(found.obstacles))
        in_memory.update(
            (function.name, p.name)
            for p in function.parameters
            if _is_local(p.type) and p.name not in found.loops_of
        )
    return results


class _Function:
    """The local arrays of a function, each with the loops whose counters index it."""

    def __init__(self, function: ir.Function, ranges: Ranges) -> None:
        self.body, self.ranges = function.body, ranges
        self.obstacles: list[Obstacle] = []
        self._definitions: dict[str, list[ir.Assign | ir.For | ir.Let]] = {}
        for s in statements(function.body):
            if isinstance(s, ir.Assign | ir.For):
                self._definitions.setdefault(s.var.name, []).append(s)
        for e in all_expressions(function.body):
            if isinstance(e, ir.Let):
                self._definitions.setdefault(e.name, []).append(e)
        self.loops_of: dict[str, set[ir.For]] = {
            p.name: set() for p in function.parameters if _is_local(p.type)
        }
        for s in statements(function.body):
            if isinstance(s, ir.Allocate) and _is_local(s.var.type):
                self._allocate(s)
        for name, index in _indices(function.body):
            if obstacle := self._obstacle(index, self.loops_of.get(name, set()), frozenset()):
                self._put_in_memory(Obstacle(name, obstacle, index.span))

    def _allocate(self, s: ir.Allocate) -> None:
        assert isinstance(s.var.type, Array)
        assert s.var.type.shape is not None
        self.loops_of[s.var.name] = set()
        registers = prod(s.var.type.shape) * max(1, s.var.type.dtype.size // 4)
        if registers > _MAX_REGISTERS:
            text = f"this requires {registers} registers"
            self._put_in_memory(Obstacle(s.var.name, text, s.span))

    def _put_in_memory(self, obstacle: Obstacle) -> None:
        self.loops_of.pop(obstacle.array, None)
        self.obstacles.append(obstacle)

    def _obstacle(self, e: ir.Expr, loops: set[ir.For], names: frozenset[str]) -> str:
        """Return why unrolling does not make an expression constant, or an empty string.

        Adds the loops to unroll to ``loops``. ``names``: variables that depend on the expression.
        """
        match e:
            case ir.Const():
                return ""
            case ir.Var(name=name) if name not in names:
                match self._definitions.get(name):
                    case [ir.Assign(value=value) | ir.Let(value=value)]:
                        return self._obstacle(value, loops, names | {name})
                    case [ir.For() as loop]:
                        loops.add(loop)
                        bounds = (loop.start, loop.stop, loop.step)
                        if any(self._obstacle(bound, loops, names | {name}) for bound in bounds):
                            return "the number of iterations of its loop is computed"
                        return ""
                return _COMPUTED
            case ir.Var() | ir.Load() | ir.Dim() | ir.Call():
                return _COMPUTED
            case ir.Apply() if not (e.intrinsic.is_pure and e.arguments):
                return _COMPUTED
        return next(filter(None, (self._obstacle(x, loops, names) for x in children(e))), "")

    def loops_to_unroll(self) -> frozenset[ir.For]:
        """Return the loops to unroll; arrays that require too many copies are put in memory."""
        for s in statements(self.body):
            if isinstance(s, ir.For):
                for name, loops in [*self.loops_of.items()]:
                    if s in loops and self._copies((s,), loops) > _MAX_COPIES:
                        text = "unrolling its loops requires too many copies"
                        self._put_in_memory(Obstacle(name, text, s.var.span))
        loops = {loop for loops in self.loops_of.values() for loop in loops}
        return frozenset(self._long_nests(self.body, loops))

    def _long_nests(self, body: ir.Body, loops: set[ir.For]) -> Iterator[ir.For]:
        """Yield the loops in nests with more copies than NVRTC makes by itself."""
        for s in body:
            if not (isinstance(s, ir.For) and s in loops):
                for inner in bodies(s):
                    yield from self._long_nests(inner, loops)
            elif self._copies((s,), loops) > _COPIES_WITHOUT_REQUEST:
                yield from (x for x in statements((s,)) if isinstance(x, ir.For) and x in loops)

    def _copies(self, body: ir.Body, loops: set[ir.For]) -> int:
        """Return the number of copies of the innermost statements."""
        return max((self._copies_of(s, loops) for s in body), default=1)

    def _copies_of(self, s: ir.Stmt, loops: set[ir.For]) -> int:
        inner = max((self._copies(body, loops) for body in bodies(s)), default=1)
        return inner * self._iterations(s) if isinstance(s, ir.For) and s in loops else inner

    def _iterations(self, loop: ir.For) -> int:
        start, stop, step = map(self.ranges.of, (loop.start, loop.stop, loop.step))
        if step.low > 0:
            return max(0, -((start.low - stop.high) // step.low))
        return max(0, -((stop.low - start.high) // -step.high)) if step.high < 0 else _MAX_COPIES


def _is_local(t: object) -> bool:
    return isinstance(t, Array) and t.space is MemorySpace.LOCAL


def _indices(body: ir.Body) -> Iterator[tuple[str, ir.Expr]]:
    """Yield the indices of local arrays, with the names of the arrays."""
    for s in statements(body):
        accesses = [e for x in operands(s) for e in expressions(x)]
        for access in (s, *accesses):
            match access:
                case ir.Load(array=array, indices=indices) | ir.View(array=array, first=indices):
                    pass
                case ir.Store(array=array) | ir.ElementOf(array=array):
                    indices = (*access.indices, *path_indices(access.path))
                case _:
                    continue
            if _is_local(array.type):
                yield from ((array.name, index) for index in indices)
