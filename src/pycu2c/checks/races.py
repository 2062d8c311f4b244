"""Check accesses to memory that threads share: races, and reads before the first write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import (
    WEAK_BOOL,
    WEAK_INT,
    Array,
    MemorySpace,
    Scalar,
    float32,
    int64,
    uint32,
    uint64,
)
from pycu2c.checks.bounds import field_name, python_name
from pycu2c.checks.context import (
    CheckContext,
    Guard,
    all_of,
    any_of,
    compare,
    device_call,
    or_record,
)
from pycu2c.checks.device_functions import shadow_words
from pycu2c.checks.element_layout import contiguous, leaves
from pycu2c.checks.shadow_arrays import BLOCK_INDEX, THREAD_STATE, Shadow, clocks
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, integer, scalar_type
from pycu2c.ir.views import add_scaled, field_at_path
from pycu2c.ir.walk import map_expr
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import EQ, MUL, NE, OR, XOR

_MAX_LEAVES = 16  # of an element of which the numbers are compared when it is written
_BITS = {
    FLOAT32: ("cuda.float_as_uint", uint32),
    FLOAT64: ("cuda.double_as_longlong", int64),
}


class _Part(NamedTuple):
    """A part of an element that an access touches, in bytes.

    value: the bits of a word that tell what is written; None for a read.
    """

    offset: int
    size: int
    value: ir.Expr | None = None
    is_atomic: bool = False


@dataclass(slots=True)
class RaceChecks:
    """The checks of one function.

    shadows: of its arrays, by name. has_block_clocks: whether the kernel has the clocks of blocks.
    polled: the arrays that busy-wait loops read; accesses to these are atomic.
    """

    context: CheckContext
    shadows: Mapping[str, Shadow] = field(default_factory=dict)
    has_block_clocks: bool = False
    polled: Set[str] = frozenset()

    def is_checked(self, array: ir.Var) -> bool:
        return array.name in self.shadows

    def guard_load(self, element: ir.ElementOf, fields: frozenset[str] | None = None) -> Guard:
        """Return what records a read, and checks it against the last write.

        fields: those that the program uses; None for an unknown use of all. Then it is a finding if
        no number of the element is written.
        """
        if not self.is_checked(element.array):
            return Guard()
        found = leaves(element.type.dtype)
        used = [leaf for leaf in found if fields is None or leaf.path[0] in fields]
        if not used:
            return Guard()
        needs_all = fields is not None or len(found) == 1
        is_atomic = element.array.name in self.polled
        value = _unknown_value(element.span) if is_atomic else None
        parts = [_Part(*part, value, is_atomic) for part in contiguous(used)]
        return self._guard(element, "read", parts, needs_all=needs_all)

    def guard_store(self, element: ir.ElementOf, value: ir.Expr) -> Guard:
        """Return what records a write, and checks it against the last write and reads."""
        return Guard() if not self.is_checked(element.array) else self._guard_write(element, value)

    def guard_operation(self, e: ir.Apply, element: ir.ElementOf) -> Guard:
        """Return what records an access by an intrinsic, and checks it."""
        if not self.is_checked(element.array):
            return Guard()
        element = replace(element, span=e.span)
        if e.intrinsic.reads:
            return self.guard_load(element)
        if "atomic" not in e.intrinsic.name:
            return self._guard_write(element, e.arguments[-1])
        parts = [_Part(0, element.type.dtype.size, _unknown_value(e.span), is_atomic=True)]
        is_exchange = e.intrinsic.name.endswith(".exch")
        kind = "changed by an atomic operation"
        return self._guard(element, kind, parts, needs_value=not is_exchange)

    def synchronize(self, element: ir.ElementOf, *, releases: bool) -> ir.Call:
        """Return the call that acquires, and may release, by an element."""
        span, number = element.span, shadow_number(releases, element.span)
        if not self.is_checked(element.array):
            return device_call("synchronize_untracked", span, THREAD_STATE, *clocks(span), number)
        shadow = self.shadows[element.array.name]
        arguments = shadow.cells(element, 0, 1), THREAD_STATE, *clocks(span), number
        return device_call(shadow.function("synchronize_element"), span, *arguments)

    def after_load(self, element: ir.ElementOf) -> Iterator[ir.Expr]:
        """Yield the call that acquires by a load of a polled array."""
        if self.has_block_clocks and element.array.name in self.polled:
            yield self.synchronize(element, releases=False)

    def guard_polled(self, element: ir.ElementOf) -> Guard:
        """Return what releases before a store to a polled array."""
        if not self.has_block_clocks or element.array.name not in self.polled:
            return Guard()
        synchronized = self.context.variable("synchronized", WEAK_BOOL, element.span)
        return Guard(((synchronized, self.synchronize(element, releases=True)),))

    def _guard_write(self, element: ir.ElementOf, value: ir.Expr) -> Guard:
        is_atomic = element.array.name in self.polled
        found = leaves(scalar_type(value).dtype)
        if len(found) <= _MAX_LEAVES:
            bits = (_value_bits(field_at(value, leaf.path)) for leaf in found)
            pairs = zip(found, bits)
            parts = [_Part(f.offset, f.dtype.size, value, is_atomic) for f, value in pairs]
        else:  # taken as equal to other writes of all numbers
            value_of_many = _known_value(shadow_words.UNKNOWN_VALUE - 1, element.span)
            parts = [_Part(*part, value_of_many, is_atomic) for part in contiguous(found)]
        return self._guard(element, "written", parts, needs_value=False)

    def _guard(
        self,
        element: ir.ElementOf,
        kind: str,
        parts: Sequence[_Part],
        *,
        needs_value: bool = True,
        needs_all: bool = True,
    ) -> Guard:
        shadow, context, span = self.shadows[element.array.name], self.context, element.span
        name, path = python_name(element.array.name), field_name("", element.path)
        values = {f"index{axis}": index for axis, index in enumerate(element.indices)}
        bindings: list[tuple[ir.Var, ir.Expr]] = []
        conditions: list[ir.Expr] = []
        written: list[ir.Expr] = []
        unwritten = shadow_number(shadow_words.UNWRITTEN, span)
        for part in parts:
            other = context.variable("other", uint64, span)
            written.append(compare(NE, other, unwritten))
            if "race" in context.groups and not shadow.is_private:
                free = compare(EQ, other, shadow_number(0, span)), compare(EQ, other, unwritten)
                race = context.failure("race", span, name, {**values, "other": other}, kind, path)
                conditions.append(or_record(any_of(free), race))
            call = self._recording(shadow, element, part, needs_all=needs_all)
            bindings.append((other, call))
        if needs_value and not shadow.is_initialized and "init" in context.groups:
            failure = context.failure("uninitialized", span, name, values, "read", path)
            is_written = all_of(written) if needs_all else any_of(written)
            conditions.append(or_record(is_written, failure))
        return Guard(tuple(bindings), all_of(conditions) if conditions else None, skips=False)

    def _recording(
        self, shadow: Shadow, element: ir.ElementOf, part: _Part, *, needs_all: bool
    ) -> ir.Expr:
        """Return the call that records an access in the shadow."""
        span = element.span
        cells = shadow.cells(element, part.offset, part.size)
        operation = "read" if part.value is None else "write"
        which = (shadow_number(needs_all, span),) if part.value is None else ()
        if shadow.is_private:
            return device_call(f"{operation}_flags", span, cells, *which, result=uint64)
        site = min(len(self.context.table.sites), shadow_words.MAX_SITE)
        access: ir.Expr = shadow_number(site | part.is_atomic << shadow_words.ATOMIC, span)
        if part.value is not None:
            access = binary(OR, access, part.value, span)
        order = clocks(span) if self.has_block_clocks else ()
        if part.size > shadow.unit:
            name, arguments = (
                f"shadow_{operation}_cells",
                (cells, access, THREAD_STATE, *which, *order),
            )
        else:
            first = integer(0, span)
            name, arguments = f"shadow_{operation}", (cells, first, access, THREAD_STATE, *order)
        name += ".ordered" * self.has_block_clocks
        return device_call(shadow.function(name), span, *arguments, result=uint64)


def bound_indices(
    context: CheckContext, indices: tuple[ir.Expr, ...]
) -> tuple[Guard, tuple[ir.Expr, ...]]:
    """Return indices that are variables or constants, and the bindings that they need."""
    pairs = [context.bind(index, "at") for index in indices]
    return Guard(tuple(b for _, bs in pairs for b in bs)), tuple(index for index, _ in pairs)


def with_thread_state(body: ir.Body, size: int, unknown: bool, span: Span) -> ir.Body:
    """Return the body of a kernel with the state of the thread, of ``size`` words.

    unknown: whether all accesses are taken as ordered.
    """
    words = Array(uint64.dtype, 1, "C")
    allocated = replace(words, space=MemorySpace.LOCAL, shape=(size,))
    memory, zero, one = ir.Var("state.words", allocated, span), integer(0, span), integer(1, span)
    state = ir.View(memory, (zero,), (0,), (one,), (integer(size, span),), words, span)
    name = "start_thread.ordered" if unknown else "start_thread"
    order = clocks(span) if unknown else ()
    start = ir.Evaluate(device_call(name, span, state, *order), span)
    block = ir.Assign(BLOCK_INDEX, _block_index(span), span)
    rest = map_expr(body, lambda e: state if e is THREAD_STATE else e)
    return ir.Allocate(memory, span), block, start, *rest


def _block_index(span: Span) -> ir.Expr:
    """Return the linear index of the block."""
    x, y, z, width, height = (
        ir.Apply(REGISTRY[f"cuda.{name}"], (), WEAK_INT, span)
        for name in ("blockIdx.x", "blockIdx.y", "blockIdx.z", "gridDim.x", "gridDim.y")
    )
    return add_scaled(x, add_scaled(y, z, height), width)


def shadow_number(value: int, span: Span) -> ir.Const:
    """Return an argument of a function of ``shadow_memory``."""
    return const(value, span, uint64)


def _known_value(value: int, span: Span) -> ir.Const:
    return shadow_number(value << shadow_words.VALUE, span)


def _unknown_value(span: Span) -> ir.Const:
    return _known_value(shadow_words.UNKNOWN_VALUE, span)


def _value_bits(value: ir.Expr) -> ir.Expr:
    """Return some bits of a stored number, which tell whether two numbers are equal."""
    return device_call("value_bits", value.span, _all_bits(value), result=uint64)


def _all_bits(value: ir.Expr) -> ir.Expr:
    kind, span = scalar_type(value), value.span
    if kind.dtype.is_complex:
        part = Scalar(kind.dtype.real, kind.weak)
        real, imaginary = (_all_bits(ir.Member(value, x, part, span)) for x in "xy")
        return binary(XOR, real, binary(MUL, imaginary, shadow_number(3, span), span), span)
    if kind.dtype.is_half:
        return _all_bits(cast(value, float32))
    if kind.dtype not in _BITS:
        return cast(value, uint64)
    name, result = _BITS[kind.dtype]
    bits = ir.Apply(REGISTRY[name], (cast(value, Scalar(kind.dtype)),), result, span)
    return cast(bits, uint64)


def field_at(value: ir.Expr, path: Sequence[str | int]) -> ir.Expr:
    """Return a number of a value."""
    steps = (k if isinstance(k, str) else integer(k, value.span) for k in path)
    return field_at_path(value, tuple(steps), value.span)
