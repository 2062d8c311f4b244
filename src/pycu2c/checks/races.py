"""Check accesses to memory that threads share: races, and reads before the first write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import (
    Scalar,
    float32,
    int64,
    uint32,
    uint64,
)
from pycu2c.checks.bounds import field_name
from pycu2c.checks.context import (
    CheckContext,
    Guard,
    all_of,
    any_of,
    compare,
    or_record,
)
from pycu2c.checks.device_functions import shadow_words
from pycu2c.checks.element_layout import contiguous, leaves
from pycu2c.checks.hidden_arrays import THREAD_STATE, block_clocks, device_call, unsigned
from pycu2c.checks.shadow_arrays import Shadow
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, integer, scalar_type
from pycu2c.ir.name_suffixes import source_name
from pycu2c.ir.views import field_at_path
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, MUL, NE, OR, XOR

_MAX_LEAVES = 16  # of an element of which the numbers are compared when it is written
_BITS = {
    FLOAT32: ("cuda.float_as_uint", uint32),
    FLOAT64: ("cuda.double_as_longlong", int64),
}


class _Part(NamedTuple):
    """A part of an element that an access touches, in bytes.

    value: the field of a shadow word for the value that is written; None for a read.
    """

    offset: int
    size: int
    value: ir.Expr | None = None
    is_atomic: bool = False


@dataclass(frozen=True, slots=True)
class RaceChecks:
    """The checks of one function.

    shadows: of its arrays, by name. has_clocks: whether the kernel has the clocks of blocks.
    polled: the arrays that busy-wait loops read; accesses to these are atomic.
    """

    context: CheckContext
    shadows: Mapping[str, Shadow]
    has_clocks: bool
    polled: Set[str]

    def has_shadow(self, array: ir.Var) -> bool:
        return array.name in self.shadows

    def guard_load(self, element: ir.ElementOf, fields: frozenset[str] | None = None) -> Guard:
        """Return what records a read, and checks it against the last write.

        fields: those that the program uses; None for an unknown use of all. Then the read is a
        finding only if no number of the element is written.
        """
        if not self.has_shadow(element.array):
            return Guard()
        found = leaves(element.type.dtype)
        used = [leaf for leaf in found if fields is None or leaf.path[0] in fields]
        if not used:
            return Guard()
        needs_all = fields is not None or len(found) == 1
        is_atomic = element.array.name in self.polled
        unknown = _value_field(shadow_words.UNKNOWN_VALUE, element.span)
        value = unknown if is_atomic else None
        parts = [_Part(*part, value, is_atomic) for part in contiguous(used)]
        return self._guard(element, "read", parts, needs_all=needs_all)

    def guard_store(self, element: ir.ElementOf, value: ir.Expr) -> Guard:
        """Return what records a write, and checks it against the last write and reads."""
        if not self.has_shadow(element.array):
            return Guard()
        is_atomic = element.array.name in self.polled
        found = leaves(scalar_type(value).dtype)
        parts = [
            _Part(leaf.offset, leaf.dtype.size, _hash(value, leaf.path), is_atomic)
            for leaf in found[:_MAX_LEAVES]
        ]
        if len(found) > _MAX_LEAVES:  # whose writes count as equal
            equal = _value_field(shadow_words.UNKNOWN_VALUE - 1, element.span)
            parts = [_Part(*part, equal, is_atomic) for part in contiguous(found)]
        return self._guard(element, "written", parts, needs_value=False)

    def guard_operation(self, e: ir.Apply, element: ir.ElementOf) -> Guard:
        """Return what records an access by an intrinsic, and checks it."""
        element = replace(element, span=e.span)
        if e.intrinsic.reads:
            return self.guard_load(element)
        if "atomic" not in e.intrinsic.name or not self.has_shadow(element.array):
            return self.guard_store(element, e.arguments[-1])
        unknown = _value_field(shadow_words.UNKNOWN_VALUE, e.span)
        parts = [_Part(0, element.type.dtype.size, unknown, is_atomic=True)]
        is_exchange = e.intrinsic.name.endswith(".exch")
        access = "changed by an atomic operation"
        return self._guard(element, access, parts, needs_value=not is_exchange)

    def _guard(
        self,
        element: ir.ElementOf,
        access: str,
        parts: Sequence[_Part],
        *,
        needs_value: bool = True,
        needs_all: bool = True,
    ) -> Guard:
        shadow, context, span = self.shadows[element.array.name], self.context, element.span
        name, path = source_name(element.array.name), field_name("", element.path)
        values = {f"index{axis}": index for axis, index in enumerate(element.indices)}
        bindings: list[tuple[ir.Var, ir.Expr]] = []
        conditions: list[ir.Expr] = []
        written: list[ir.Expr] = []
        unwritten = unsigned(shadow_words.UNWRITTEN, span)
        for part in parts:
            other = context.variable("other", uint64, span)
            written.append(compare(NE, other, unwritten))
            if "race" in context.groups and not shadow.is_private:
                free = compare(EQ, other, unsigned(0, span)), compare(EQ, other, unwritten)
                race = context.failure("race", span, name, {**values, "other": other}, access, path)
                conditions.append(or_record(any_of(free), race))
            call = self._record_call(shadow, element, part, needs_all=needs_all)
            bindings.append((other, call))
        if needs_value and not shadow.is_initialized and "init" in context.groups:
            failure = context.failure("uninitialized", span, name, values, "read", path)
            is_written = all_of(written) if needs_all else any_of(written)
            conditions.append(or_record(is_written, failure))
        return Guard(tuple(bindings), all_of(conditions) if conditions else None, predicated=False)

    def _record_call(
        self, shadow: Shadow, element: ir.ElementOf, part: _Part, *, needs_all: bool
    ) -> ir.Call:
        """Return the call that records an access in the shadow."""
        span = element.span
        cells = shadow.cells(element, part.offset, part.size)
        operation = "read" if part.value is None else "write"
        which: tuple[ir.Expr, ...] = (unsigned(needs_all, span),) if part.value is None else ()
        if shadow.is_private:
            return device_call(f"{operation}_flags", span, cells, *which, result=uint64)
        site = min(len(self.context.sites), shadow_words.MAX_SITE)
        access: ir.Expr = unsigned(site | part.is_atomic << shadow_words.ATOMIC, span)
        if part.value is not None:
            access = binary(OR, access, part.value, span)
        if part.size > shadow.unit:
            name = f"shadow_{operation}_cells"
            arguments: tuple[ir.Expr, ...] = (access, THREAD_STATE, *which)
        else:
            name, arguments = f"shadow_{operation}", (integer(0, span), access, THREAD_STATE)
        if self.has_clocks:
            name, arguments = f"{name}.ordered", (*arguments, *block_clocks(span))
        return device_call(shadow.function(name), span, cells, *arguments, result=uint64)


def bind_indices(
    context: CheckContext, indices: tuple[ir.Expr, ...]
) -> tuple[Guard, tuple[ir.Expr, ...]]:
    """Return indices that are variables or constants, and the bindings that they need."""
    pairs = [context.bind(index, "at") for index in indices]
    return Guard(tuple(b for _, bs in pairs for b in bs)), tuple(index for index, _ in pairs)


def _value_field(value: int, span: Span) -> ir.Const:
    return unsigned(value << shadow_words.VALUE, span)


def _hash(value: ir.Expr, path: Sequence[str | int]) -> ir.Expr:
    """Return the hash of a number of a stored value, which shows whether two are equal."""
    steps = tuple(k if isinstance(k, str) else integer(k, value.span) for k in path)
    number = field_at_path(value, steps, value.span)
    return device_call("value_bits", value.span, _all_bits(number), result=uint64)


def _all_bits(value: ir.Expr) -> ir.Expr:
    kind, span = scalar_type(value), value.span
    if kind.dtype.is_complex:
        part = Scalar(kind.dtype.real, kind.weak)
        real, imaginary = (_all_bits(ir.Member(value, x, part, span)) for x in "xy")
        return binary(XOR, real, binary(MUL, imaginary, unsigned(3, span), span), span)
    if kind.dtype.is_half:
        return _all_bits(cast(value, float32))
    if kind.dtype not in _BITS:
        return cast(value, uint64)
    name, result = _BITS[kind.dtype]
    bits = ir.Apply(REGISTRY[name], (cast(value, Scalar(kind.dtype)),), result, span)
    return cast(bits, uint64)
