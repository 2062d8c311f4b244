"""Check accesses to memory that threads share: races, and reads before the first write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TypeAlias

from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Array, Scalar, int64, uint32, uint64
from pycu2c.checks import shadow_words
from pycu2c.checks.bounds import python_name
from pycu2c.checks.context import CheckContext, Guard, all_of, compare, or_record
from pycu2c.checks.shadow_arrays import BLOCK_INDEX, CLOCK, Shadow
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, const, scalar_type
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, NE

Access: TypeAlias = "ir.Load | ir.ElementOf | ir.Store"
_BITS = {
    FLOAT32: ("cuda.float_as_uint", uint32),
    FLOAT64: ("cuda.double_as_longlong", int64),
}


@dataclass(slots=True)
class RaceChecks:
    """The checks of one function.

    shadows: of its arrays, by name. order: the clocks of blocks, if the kernel needs them. polled:
    the arrays that busy-wait loops read; accesses to these are atomic.
    """

    context: CheckContext
    shadows: Mapping[str, Shadow] = field(default_factory=dict)
    order: tuple[ir.Var, ...] = ()
    polled: Set[str] = frozenset()

    def is_checked(self, access: Access) -> bool:
        has_path = not isinstance(access, ir.Load) and bool(access.path)
        return access.array.name in self.shadows and not has_path

    def guard_load(self, e: ir.Load) -> Guard:
        """Return what records a read, and checks it against the last write."""
        return self._guard_read(e) if self.is_checked(e) else Guard()

    def guard_store(self, s: ir.Store) -> Guard:
        """Return what records a write, and checks it against the last write and reads."""
        if not self.is_checked(s):
            return Guard()
        arguments = (_value_bits(s.value), shadow_number(s.array.name in self.polled, s.span))
        return self._guard(s, "written", arguments)

    def guard_operation(self, e: ir.Apply, element: ir.ElementOf) -> Guard:
        """Return what records an access by an intrinsic, and checks it."""
        if not self.is_checked(element):
            return Guard()
        if e.intrinsic.reads:
            return self._guard_read(element)
        is_atomic = "atomic" in e.intrinsic.name or element.array.name in self.polled
        unknown = shadow_number(shadow_words.UNKNOWN_VALUE, e.span)
        kind = "changed by an atomic operation" if "atomic" in e.intrinsic.name else "written"
        arguments = unknown, shadow_number(is_atomic, e.span)
        is_exchange = e.intrinsic.name.endswith(".exch")
        return self._guard(element, kind, arguments, needs_value=not is_exchange)

    def synchronize(self, access: Access, *, releases: bool) -> ir.Call:
        """Return the call that acquires, and may release, by an element."""
        span, number = access.span, shadow_number(releases, access.span)
        if not self.is_checked(access):
            arguments: tuple[ir.Expr, ...] = (CLOCK, *self.order, number)
            return ir.Call("synchronize_unknown.check", arguments, WEAK_BOOL, span)
        arguments = (self._words(access), CLOCK, *self.order, number)
        return ir.Call("synchronize_element.check", arguments, WEAK_BOOL, span)

    def after_load(self, e: ir.Load) -> Iterator[ir.Expr]:
        """Yield the call that acquires by a load of a polled array."""
        if self.order and e.array.name in self.polled:
            yield self.synchronize(e, releases=False)

    def guard_polled(self, access: Access, *, releases: bool) -> Guard:
        """Return what synchronizes before an access to a polled array."""
        if not self.order or access.array.name not in self.polled:
            return Guard()
        synchronized = self.context.variable("synchronized", WEAK_BOOL, access.span)
        return Guard(((synchronized, self.synchronize(access, releases=releases)),))

    def _guard_read(self, access: ir.Load | ir.ElementOf) -> Guard:
        if access.array.name not in self.polled:
            return self._guard(access, "read", ())
        unknown = shadow_number(shadow_words.UNKNOWN_VALUE, access.span)
        return self._guard(access, "read", (unknown, shadow_number(1, access.span)))

    def _words(self, access: Access) -> ir.View:
        assert isinstance(access.array.type, Array)
        is_linear = is_linear_index(access.array.type, access.indices)
        shadow = self.shadows[access.array.name]
        return shadow.words(access.indices, is_linear=is_linear, span=access.span)

    def _guard(
        self,
        access: Access,
        kind: str,
        arguments: Sequence[ir.Expr],
        *,
        needs_value: bool = True,
    ) -> Guard:
        shadow = self.shadows[access.array.name]
        words = self._words(access)
        context, name = self.context, python_name(access.array.name)
        values = {f"index{axis}": index for axis, index in enumerate(access.indices)}
        other = context.variable("other", uint64, access.span)
        race = context.failure("race", access.span, name, {**values, "other": other}, kind)
        site = min(len(context.table.sites), shadow_words.MAX_SITE)
        prefix, operation = "ordered" if self.order else "shadow", "write" if arguments else "read"
        inputs = (words, shadow_number(site, access.span), CLOCK, *arguments, *self.order)
        call = ir.Call(f"{prefix}_{operation}.check", inputs, uint64, access.span)
        unwritten = shadow_number(shadow_words.UNWRITTEN, access.span)
        is_free = ir.Logical(
            ir.LogicalOp.OR,
            compare(EQ, other, shadow_number(0, access.span)),
            compare(EQ, other, unwritten),
            access.span,
        )
        conditions: list[ir.Expr] = [or_record(is_free, race)]
        if needs_value and not shadow.is_initialized and "init" in context.groups:
            failure = context.failure("uninitialized", access.span, name, values)
            conditions.append(or_record(compare(NE, other, unwritten), failure))
        return Guard(((other, call),), all_of(conditions), skips=False)


def bound_indices(
    context: CheckContext, indices: tuple[ir.Expr, ...]
) -> tuple[Guard, tuple[ir.Expr, ...]]:
    """Return indices that are variables or constants, and the bindings that they need."""
    pairs = [context.bind(index, "at") for index in indices]
    return Guard(tuple(b for _, bs in pairs for b in bs)), tuple(index for index, _ in pairs)


def start_clock(unknown: tuple[ir.Var, ...], span: Span) -> ir.Body:
    """Return the statements at the start of the kernel.

    unknown: the clocks of blocks, if accesses are taken as ordered.
    """
    name = "start_ordered.check" if unknown else "start_clock.check"
    call = ir.Call(name, (CLOCK, *unknown), WEAK_BOOL, span)
    index = ir.Call("block_index.check", (), WEAK_INT, span)
    return ir.Allocate(CLOCK, span), ir.Evaluate(call, span), ir.Assign(BLOCK_INDEX, index, span)


def shadow_number(value: int, span: Span) -> ir.Const:
    """Return an argument of a function of ``shadow_memory``."""
    return const(value, span, uint64)


def _value_bits(value: ir.Expr) -> ir.Expr:
    """Return some bits of a stored number, which tell whether two numbers are equal."""
    kind, span = scalar_type(value), value.span
    if kind.dtype in _BITS:
        name, result = _BITS[kind.dtype]
        bits: ir.Expr = ir.Apply(REGISTRY[name], (cast(value, Scalar(kind.dtype)),), result, span)
    elif kind.dtype.is_integral:
        bits = value
    else:
        return shadow_number(shadow_words.UNKNOWN_VALUE, span)
    return ir.Call("value_bits.check", (cast(bits, uint64),), uint64, span)
