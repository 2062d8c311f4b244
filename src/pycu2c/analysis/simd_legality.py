"""Decide whether ``#pragma omp simd`` may execute the threads of a loop in lockstep.

Threads of a valid program have no data races, so lockstep execution is legal except for:

- side effects: atomics, prints, and device functions that have them;
- thread-local arrays, and stores to a location that is the same for all threads;
- values that the compiler itself accumulates in one element, such as the bits of a ballot;
- strided accesses to memory that is also stored to. gcc merges accesses with gaps, ``a[3 * i]`` and
  ``a[3 * i + 1]``, and under the pragma moves them across possibly aliasing accesses. So a store
  followed by a possibly aliasing access requires that both are unit-stride, or differ by a constant
  only.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Set

from pycu2c.analysis.variables import assigned_names, single_definitions
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir import printer
from pycu2c.ir.walk import all_expressions, bodies, contains, expressions, operands, statements
from pycu2c.ops.operators import ADD, MUL, SUB

_IRREGULAR = object()  # not affine in the axis


def in_lockstep(axis: ir.Var, body: ir.Body, effectful: Set[str]) -> bool:
    """Return whether threads along an axis may execute a body in lockstep."""
    if contains(body, ir.Print | ir.Allocate):
        return False
    for e in all_expressions(body):
        if isinstance(e, ir.Apply) and not e.intrinsic.is_pure:
            return False
        if isinstance(e, ir.Call) and e.function in effectful:
            return False
    strides = LaneStrides(axis.name, single_definitions(body), assigned_names(body))
    accesses = list(_accesses(body, strides))
    if any(a.writes and a.stride == 0 for a in accesses) or _accumulates(body, strides):
        return False
    with_gaps = [i for i, access in enumerate(accesses) if not access.has_no_gaps]
    return not any(
        _may_alias(a, accesses[k])
        for i, a in enumerate(accesses)
        if a.writes
        for k in (with_gaps if a.has_no_gaps else range(i + 1, len(accesses)))
        if k > i
    )


def _accumulates(body: ir.Body, strides: LaneStrides) -> bool:
    """Return whether threads accumulate into one element of a context array."""
    stores = (s for s in statements(body) if isinstance(s, ir.Store))
    context_stores = (s for s in stores if ir.memory_space(s.array) is MemorySpace.BLOCK)
    return any(strides.of(s.indices[0]) is _IRREGULAR for s in context_stores)


# ---- strides of indices from one thread to the next --------------------------------------------


@dataclass(frozen=True, slots=True)
class LaneStrides:
    """Strides of indices: the change from one thread of an axis to the next.

    ``values``: the values of variables with a single definition. ``reassigned``: other variables.
    """

    axis: str
    values: Mapping[str, ir.Expr]
    reassigned: Set[str]
    _by_name: dict[str, object] = field(default_factory=dict)

    def of(self, e: ir.Expr) -> object:
        """Return the stride as an int, None if unknown, or ``_IRREGULAR`` if it is not constant."""
        match e:
            case ir.Var(name=name):
                return self._variable(name)
            case ir.Const():
                return 0
            case ir.Cast(operand=operand):
                return self.of(operand)
            case ir.Binary(op=op, left=left, right=right) if op in (ADD, SUB):
                a, b = self.of(left), self.of(right)
                if isinstance(a, int) and isinstance(b, int):
                    return a + b if op is ADD else a - b
                return _IRREGULAR if _IRREGULAR in (a, b) else None
            case ir.Binary(op=op, left=left, right=right) if op is MUL:
                return self._product(left, right)
            case _:
                variable_strides = [self.of(x) for x in expressions(e) if isinstance(x, ir.Var)]
                return 0 if all(stride == 0 for stride in variable_strides) else _IRREGULAR

    def _variable(self, name: str) -> object:
        if name == self.axis:
            return 1
        if name in self.values:
            if name not in self._by_name:
                self._by_name[name] = self.of(self.values[name])
            return self._by_name[name]
        return _IRREGULAR if name in self.reassigned else 0

    def _product(self, left: ir.Expr, right: ir.Expr) -> object:
        a, b = self.of(left), self.of(right)
        if a == 0 and b == 0:
            return 0
        if a is None or b is None:
            return None
        for stride, factor, other_stride in ((a, right, b), (b, left, a)):
            if other_stride == 0 and isinstance(stride, int):
                return stride * int(factor.value) if isinstance(factor, ir.Const) else None
        return _IRREGULAR


# ---- accesses to memory ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Access:
    """One memory access; ``location`` prints its indices without constants added to the last."""

    array: ir.Var | None  # None: any array
    location: Callable[[], str]
    stride: object
    writes: bool

    @property
    def has_no_gaps(self) -> bool:
        """Return whether gcc does not merge such accesses: unit-stride, uniform, or irregular."""
        return self.stride in (0, 1) or self.stride is _IRREGULAR


def _may_alias(a: _Access, b: _Access) -> bool:
    """Return whether two accesses may alias, and not only at a constant distance."""
    if a.array is None or b.array is None:
        return True
    if a.array.name == b.array.name:
        return a.location() != b.location()
    return ir.memory_space(a.array) is ir.memory_space(b.array) is MemorySpace.GLOBAL


def _accesses(body: ir.Body, strides: LaneStrides) -> Iterator[_Access]:
    """Yield accesses in program order; those in loops occur twice, for two iterations."""
    for s in body:
        if isinstance(s, ir.For | ir.While):
            iteration = [a for x in statements((s,)) for a in _statement_accesses(x, strides)]
            yield from (*iteration, *iteration)
        else:
            yield from _statement_accesses(s, strides)
            for inner in bodies(s):
                yield from _accesses(inner, strides)


def _statement_accesses(s: ir.Stmt, strides: LaneStrides) -> Iterator[_Access]:
    """Yield the accesses of a statement without those of the statements inside it."""
    for value in operands(s):
        for e in expressions(value):
            match e:
                case ir.Load() | ir.ElementOf():
                    yield _access(e.array, e.indices, strides, isinstance(e, ir.ElementOf))
                case ir.Call() if any(isinstance(a.type, Array) for a in e.arguments):
                    yield _Access(None, lambda: "", None, False)
    if isinstance(s, ir.Store):
        yield _access(s.array, s.indices, strides, True)


def _access(
    array: ir.Var, indices: tuple[ir.Expr, ...], strides: LaneStrides, writes: bool
) -> _Access:
    assert isinstance(array.type, Array)
    index_strides = [strides.of(i) for i in indices]
    stride: object = index_strides[-1] if index_strides else 0
    if any(outer_stride != 0 for outer_stride in index_strides[:-1]):
        stride = None if _IRREGULAR not in index_strides else _IRREGULAR
    if array.type.dtype.fields and stride == 1:
        stride = None  # fields of adjacent records have gaps
    *outer, last = indices or (None,)
    location_indices = [*outer, _without_constant(last)] if last else outer
    location = functools.cache(lambda: ", ".join(printer.print_expr(i) for i in location_indices))
    return _Access(array, location, stride, writes)


def _without_constant(e: ir.Expr) -> ir.Expr:
    if isinstance(e, ir.Binary) and e.op in (ADD, SUB) and isinstance(e.right, ir.Const):
        return _without_constant(e.left)
    return e
