"""Shadow arrays: which arrays of a kernel have one, and how functions reach it.

The shadow of an array has its axes and one more, of its words. The shadow of a shared array has a
first axis for the blocks. Shadows are hidden parameters, after those of a function.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from pycu2c.analysis.effects import written_arguments
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, uint64
from pycu2c.checks.barrier_memory import ROWS
from pycu2c.checks.shadow_words import CLOCK_SIZE
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.views import has_linear_start
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import ADD, MUL

_NOWHERE = Span("", 0, 0, 0, 0)
BLOCK_INDEX = ir.Var("block.check", WEAK_INT, _NOWHERE)  # the linear index of the block
WORDS = 2  # the write and the read
ORDERED_WORDS = 4  # in kernels with an order: see happens_before
CLOCK = ir.Var(
    "clock.check",
    Array(uint64.dtype, 1, "C", MemorySpace.LOCAL, (CLOCK_SIZE,)),
    _NOWHERE,
)


@dataclass(frozen=True, slots=True)
class Shadow:
    """The shadow of an array in one function.

    prefix: the indices before those of the array. size: of a shared array, in elements.
    is_initialized: whether elements may be read before the kernel writes them. word_count: the
    words of an element.
    """

    array: ir.Var
    prefix: tuple[ir.Expr, ...] = ()
    size: int = 0
    is_initialized: bool = True
    word_count: int = WORDS

    def words(self, indices: Sequence[ir.Expr], *, is_linear: bool, span: Span) -> ir.View:
        """Return the words of an element."""
        length, kind = integer(self.word_count, span), Array(uint64.dtype, 1, "C")
        if is_linear:
            first: tuple[ir.Expr, ...] = (self._linear(indices[0]),)
        else:
            first = (*self.prefix, *indices, integer(0, span))
        axis = len(first) - 1
        return ir.View(self.array, first, (axis,), (integer(1, span),), (length,), kind, span)

    def of_argument(self, argument: ir.Var | ir.View) -> ir.View | ir.Var:
        """Return the shadow of an array that a function is called with."""
        span = argument.span
        one, words = integer(1, span), integer(self.word_count, span)
        first: tuple[ir.Expr, ...]
        kind = shadow_type(argument)
        if isinstance(argument, ir.Var):
            if not self.prefix:
                return self.array
            assert isinstance(argument.type, Array)
            axes = range(len(self.prefix), len(self.prefix) + argument.type.ndim + 1)
            zeros = [integer(0, span) for _ in axes]
            dims = [ir.Dim(argument, k, span) for k in range(argument.type.ndim)]
            lengths: tuple[ir.Expr, ...] = (*dims, words)
            first = (*self.prefix, *zeros)
            return ir.View(self.array, first, tuple(axes), (one,) * len(axes), lengths, kind, span)
        if has_linear_start(argument):
            steps = (*(binary(MUL, step, words, span) for step in argument.steps), one)
            first = (self._linear(argument.first[0]),)
            axes_of_view = (0,) * len(steps)
        else:
            steps = (*argument.steps, one)
            first = (*self.prefix, *argument.first, integer(0, span))
            shifted = (axis + len(self.prefix) for axis in argument.axes)
            axes_of_view = (*shifted, len(first) - 1)
        lengths = (*argument.lengths, words)
        return ir.View(self.array, first, axes_of_view, steps, lengths, kind, span)

    def _linear(self, index: ir.Expr) -> ir.Expr:
        """Return the linear index of the first word of an element."""
        span = index.span
        if self.prefix:
            start = binary(MUL, self.prefix[0], integer(self.size, span), span)
            index = binary(ADD, start, index, span)
        return binary(MUL, index, integer(self.word_count, span), span)


def shadow_type(array: ir.Var | ir.View) -> Array:
    assert isinstance(array.type, Array)
    return Array(uint64.dtype, array.type.ndim + 1, array.type.layout)


@dataclass(frozen=True, slots=True)
class ShadowParameter:
    """A hidden parameter of the kernel.

    argument: the position of the array argument that it is the shadow of; or None, and ``shape`` is
    that of a shared array, of which each block has one.
    """

    var: ir.Var
    argument: int | None = None
    shape: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """The elements of a shared array."""
        return math.prod(self.shape)


# of the last barriers of the threads of a block
BARRIERS = ShadowParameter(
    ir.Var("barriers.check", Array(uint64.dtype, 3, "C"), _NOWHERE), None, (ROWS,)
)
# the clocks of blocks: see happens_before
ORDER = ShadowParameter(ir.Var("clocks.check", Array(uint64.dtype, 2, "C"), _NOWHERE))


def barrier_rows(span: Span) -> ir.View:
    """Return the rows of the block."""
    zero, one = integer(0, span), integer(1, span)
    lengths = integer(ROWS, span), integer(WORDS, span)
    first, kind = (BLOCK_INDEX, zero, zero), Array(uint64.dtype, 2, "C")
    return ir.View(BARRIERS.var, first, (1, 2), (one, one), lengths, kind, span)


def global_shadows(module: ir.Module) -> dict[str, ShadowParameter]:
    """Return the shadows of the arrays that a kernel writes, by name."""
    written = written_arguments(module)
    return {
        p.name: ShadowParameter(_shadow_var(p.name, shadow_type(_as_var(p))), p.argument)
        for p in module.kernel.parameters
        if p.argument in written and isinstance(p.type, Array) and has_shadow(p.type)
    }


def _as_var(p: ir.Parameter) -> ir.Var:
    # elements at the same indices, whatever the strides of the array
    assert isinstance(p.type, Array)
    return ir.Var(p.name, replace(p.type, layout="C"), _NOWHERE)


def has_shadow(kind: Array) -> bool:
    """Return whether accesses to an array are checked for races: its elements are numbers."""
    return (not kind.dtype.fields or kind.dtype.is_complex) and kind.ndim > 0


def shared_shadows(function: ir.Function) -> Iterator[tuple[str, ShadowParameter]]:
    """Yield the shadows of the shared arrays that a function allocates."""
    for s in statements(function.body):
        if isinstance(s, ir.Allocate) and isinstance(s.var.type, Array):
            kind = s.var.type
            if kind.space is MemorySpace.SHARED and kind.shape is not None and has_shadow(kind):
                name = f"{s.var.name}.{function.name}"
                var = _shadow_var(name, Array(uint64.dtype, kind.ndim + 2, "C"))
                yield s.var.name, ShadowParameter(var, None, kind.shape)


def _shadow_var(name: str, kind: Array) -> ir.Var:
    return ir.Var(f"{name}.shadow", kind, _NOWHERE)


def allocated_in_calls(
    callees: Mapping[str, ir.Function], function: ir.Function
) -> dict[str, ShadowParameter]:
    """Return the shadows of the shared arrays of a function and its callees, by variable."""
    found = {p.var.name: p for _, p in shared_shadows(function)}
    for e in all_expressions(function.body):
        if isinstance(e, ir.Call) and e.function in callees:
            found |= allocated_in_calls(callees, callees[e.function])
    return found
