"""CPU: small arrays of integers that all threads add to become an OS thread's own.

A kernel that does nothing with an array but ``cuda.atomic.add(counts, i, v)``, results unused, is
the same if each OS thread counts for itself, and adds to the array when its blocks are done:
integers may be added in any order. (Floats may not.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import reduce

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.suspension_points import steps_of
from pycu2c.base.limits import MAX_ACCUMULATOR_ELEMENTS
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir.builders import binary, cast, const, integer
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    ArgumentPart,
    BlockLoop,
    Body,
    Dim,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Load,
    Module,
    Parameter,
    Stmt,
    Store,
    Stride,
    Var,
)
from pycu2c.ir.walk import all_expressions, map_stmt, statements
from pycu2c.ops.intrinsics.memory.atomic import ADD, AND, MAX, MIN, OR, OWN, SUB, XOR
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import MUL, NE

_MERGED = {ADD: ADD, SUB: ADD, AND: AND, OR: OR, XOR: XOR, MAX: MAX, MIN: MIN}


def accumulators(kernel: Function) -> dict[str, Intrinsic]:
    """The contiguous array parameters that are only ever changed by one kind of atomic whose
    results are not used, and the atomic that brings two such arrays together."""
    updates = list(_updates(kernel.body))
    arrays = Counter(place.array.name for _, place in updates)
    mentioned = Counter(_mentioned(kernel.body))
    found: dict[str, Intrinsic] = {}
    for p in kernel.parameters:
        kinds = {_MERGED[row] for row, place in updates if place.array.name == p.name}
        only = arrays[p.name] == mentioned[p.name] and len(kinds) == 1
        whole = isinstance(p.type, Array) and p.type.layout == "C" and p.type.dtype.is_integer
        if only and whole:
            found[p.name] = kinds.pop()
    return found


def accumulator_arguments(module: Module) -> tuple[int, ...]:
    """The positions of a built kernel's arguments that may be accumulated."""
    names = accumulators(module.kernel)
    return tuple(p.argument for p in module.kernel.parameters if p.name in names)


def _updates(body: Body) -> Iterator[tuple[Intrinsic, ElementOf]]:
    for s in statements(body):
        if isinstance(s, Evaluate) and isinstance(s.value, Apply) and s.value.intrinsic in _MERGED:
            place = s.value.arguments[0]
            assert isinstance(place, ElementOf)
            yield s.value.intrinsic, place


def _mentioned(body: Body) -> Iterator[str]:
    """The arrays whose elements are looked at or changed, once for each time."""
    lengths = [e.array for e in all_expressions(body) if isinstance(e, Dim | Stride)]
    measured = set(map(id, lengths))
    for e in all_expressions(body):
        if isinstance(e, Var) and id(e) not in measured:
            yield e.name
    for s in statements(body):
        if isinstance(s, Store):
            yield s.array.name


# ---- a copy for each OS thread -----------------------------------------------------------------


def privatize_accumulators(module: Module, facts: Facts) -> Module:
    """``cuda.atomic.add(&counts[i], v)`` -> ``block.atomic.add(&counts.own[i], v)``, with
    ``counts.own`` cleared before all blocks and added to ``counts`` after them. Takes kernels as
    ``work_item_loops_in`` leaves them; those whose threads run in steps stay as they are."""
    kernel = module.kernel
    found = accumulators(kernel)
    taken = [p for p in kernel.parameters if p.part is ArgumentPart.DATA and p.name in found]
    taken = [p for p in taken if p.argument in facts.accumulators]
    if not taken or steps_of(kernel.body) is not None:
        return module
    given = {p.name: p.type for p in kernel.parameters if isinstance(p.type, Scalar)}
    copies = {p.name: _Copy(p, found[p.name], given, kernel.span) for p in taken}
    body = map_stmt(kernel.body, lambda s: (_moved(s, copies),))
    before = [s for copy in copies.values() for s in copy.begun()]
    after = [s for copy in copies.values() for s in copy.ended()]
    parameters = list(kernel.parameters)
    for copy in copies.values():
        _pass_lengths(parameters, copy)
    around = (*before, BlockLoop(body, kernel.span), *after)
    return replace(module, kernel=replace(kernel, body=around, parameters=tuple(parameters)))


def _moved(s: Stmt, copies: Mapping[str, _Copy]) -> Stmt:
    """The same change, to the copy."""
    if not isinstance(s, Evaluate) or not isinstance(s.value, Apply):
        return s
    place, *values = s.value.arguments or (None,)
    if not isinstance(place, ElementOf) or place.array.name not in copies:
        return s
    own = replace(place, array=copies[place.array.name].var)
    return replace(
        s, value=replace(s.value, intrinsic=OWN[s.value.intrinsic], arguments=(own, *values))
    )


def _pass_lengths(parameters: list[Parameter], copy: _Copy) -> None:
    """Let the kernel be given the lengths that it has not asked for."""
    known = {p.name for p in parameters}
    place = parameters.index(copy.parameter) + 1
    for axis, var in enumerate(copy.lengths()):
        if var.name not in known:
            argument = copy.parameter.argument
            parameters.insert(
                place, Parameter(var.name, WEAK_INT, argument, ArgumentPart.SHAPE, axis)
            )
        place += 1


@dataclass(frozen=True, slots=True)
class _Copy:
    """What one OS thread has of an array."""

    parameter: Parameter
    merged_by: Intrinsic
    given: Mapping[str, Scalar]  # numbers that the kernel gets
    span: Span

    @property
    def array(self) -> Var:
        return Var(self.parameter.name, self.parameter.type, self.span)

    @property
    def var(self) -> Var:
        kind = Array(
            self.parameter.type.dtype, 1, "C", MemorySpace.WORKER, (MAX_ACCUMULATOR_ELEMENTS,)
        )
        return Var(f"{self.parameter.name}.own", kind, self.span)

    def lengths(self) -> list[Var]:
        assert isinstance(self.parameter.type, Array)
        axes = range(self.parameter.type.ndim)
        names = [f"{self.parameter.name}.shape.{axis}" for axis in axes]
        return [Var(name, self.given.get(name, WEAK_INT), self.span) for name in names]

    def size(self) -> Expr:
        first, *others = (cast(length, WEAK_INT) for length in self.lengths())
        return reduce(lambda a, b: binary(MUL, a, b, self.span), others, first)

    def begun(self) -> tuple[Stmt, ...]:
        """Each element is what changes nothing."""
        return (
            Allocate(self.var, self.span),
            self._for_each(lambda i: Store(self.var, (i,), self._neutral(), self.span)),
        )

    def ended(self) -> tuple[Stmt, ...]:
        """What the thread has counted goes to all."""
        return (self._for_each(self._merged),)

    def _merged(self, i: Expr) -> Stmt:
        own = Load(self.var, (i,), self.span)
        place = ElementOf(self.array, (i,), self.span)
        merged = Apply(self.merged_by, (place, own), own.type, self.span)
        changed = binary(NE, own, self._neutral(), self.span)
        return If(changed, (Evaluate(merged, self.span),), (), self.span)

    def _neutral(self) -> Expr:
        """What leaves a number as it is."""
        dtype = self.parameter.type.dtype
        all_bits = -1 if dtype.is_signed else dtype.maximum
        value = {AND: all_bits, MAX: dtype.minimum, MIN: dtype.maximum}.get(self.merged_by, 0)
        return const(value, self.span, Scalar(dtype))

    def _for_each(self, body: Callable[[Expr], Stmt]) -> Stmt:
        i = Var(f"i.{self.parameter.name}", WEAK_INT, self.span)
        zero, one = integer(0, self.span), integer(1, self.span)
        return For(i, zero, self.size(), one, (body(i),), self.span)
