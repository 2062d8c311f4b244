"""Shadow memory: the arrays that have shadows, and the cells of an element.

A shadow has a *cell* for each unit of memory. The address of an element selects the cell, so views,
fields and arguments that share memory share cells. A cell of memory that threads share has two or
four words, and a shadow of shared memory has a row for each block. A cell of a local array is a
flag.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, uint8, uint64
from pycu2c.checks.device_functions.shadow_words import CELL_WORDS
from pycu2c.checks.element_layout import field_offset, unit_of
from pycu2c.checks.hidden_arrays import HiddenArray, cluster_extents, device_call, unsigned, words
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import array_type, binary, cast, integer
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.views import add_scaled
from pycu2c.ir.walk import statements
from pycu2c.ops.intrinsics.memory.addresses import address_of
from pycu2c.ops.intrinsics.memory.subscripts import from_start, index_from_end
from pycu2c.ops.operators import ADD, FLOORDIV, MUL, SUB

FLAGS = Array(uint8.dtype, 1, "C")
_HiddenArguments: TypeAlias = "tuple[tuple[ir.Var, ir.Expr], ...]"


@dataclass(frozen=True, slots=True)
class Shadow:
    """The shadow of memory, in one function.

    array: it, or its row ``row``. base: the address of the memory. unit: the bytes of a cell.
    is_initialized: whether the memory may be read before the kernel writes it.
    is_passed: whether the function is called with the shadow. word_count: the words of a cell.
    cluster: the extents of the cluster, whose other blocks may access the memory.
    """

    array: ir.Var
    base: ir.Expr
    unit: int
    row: ir.Expr | None = None
    is_initialized: bool = True
    is_passed: bool = False
    word_count: int = CELL_WORDS
    cluster: tuple[int, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether no other thread can access the memory."""
        return array_type(self.array).dtype is FLAGS.dtype

    @property
    def space(self) -> MemorySpace:
        """The memory space for the CPU: SHARED if only one block accesses the shadow.

        Then no atomic operations are needed. On a GPU, all shadows are in global memory.
        """
        is_of_block = self.row is not None or array_type(self.array).space is MemorySpace.SHARED
        return MemorySpace.SHARED if is_of_block else MemorySpace.GLOBAL

    def function(self, name: str) -> str:
        """Return the name of a function of ``device_functions`` for the shadow."""
        return f"{name}{'.of_block' * (self.space is MemorySpace.SHARED)}"

    def cells(self, element: ir.ElementOf, offset: int, size: int) -> ir.View:
        """Return the cells of ``size`` bytes of an element, from ``offset`` on."""
        if ir.in_cluster(element.array):
            return self._in_cluster(element).cells(_in_block(element), offset, size)
        span, element_type = element.span, array_type(element.array).element
        count = self.word_count
        start = field_offset(element_type, element.path, span)
        start = binary(ADD, start, unsigned(offset, span), span)
        distance = binary(ADD, self._distance(element), start, span)
        cell = binary(FLOORDIV, distance, unsigned(self.unit, span), span)
        first = binary(MUL, cell, unsigned(count, span), span)
        return self._view(first, integer(count * max(1, size // self.unit), span))

    def _in_cluster(self, element: ir.ElementOf) -> Shadow:
        """Return the shadow of the array in the block whose rank is the first index."""
        arguments = element.indices[0], *cluster_extents(self.cluster, element.span)
        row = device_call("block_of_rank", element.span, *arguments, result=WEAK_INT)
        return replace(self, row=row)

    def _distance(self, element: ir.ElementOf) -> ir.Expr:
        """Return the bytes from the start of the memory to an element.

        They are computed from the indices if the function allocates the array: compilers may keep
        it in registers, which have no address.
        """
        kind, span = array_type(element.array), element.span
        if kind.shape is None or self.is_passed:
            return binary(SUB, _address(replace(element, path=())), self.base, span)
        is_linear = is_linear_index(kind, element.indices)
        lengths = (math.prod(kind.shape),) if is_linear else kind.shape
        total: ir.Expr = integer(0, span)
        for index, length in zip(element.indices, lengths):
            total = add_scaled(_from_start(index, length), integer(length, span), total)
        return binary(MUL, cast(total, uint64), unsigned(kind.dtype.size, span), span)

    def as_argument(self, parameter: str) -> tuple[Shadow, _HiddenArguments]:
        """Return the shadow in a function that is called with it, and the hidden arguments."""
        span = self.base.span
        array: ir.Var | ir.View = self.array
        if self.row is not None:
            array = self._view(integer(0, span), ir.Dim(self.array, 1, span))
        var = ir.Var(f"{parameter}.shadow", array.type, span)
        base = ir.Var(f"{parameter}.base", uint64, span)
        inner = replace(self, array=var, base=base, row=None, is_passed=True)
        return inner, ((var, array), (base, self.base))

    def _view(self, first: ir.Expr, length: ir.Expr) -> ir.View:
        indices = (first,) if self.row is None else (self.row, first)
        dtype, one = array_type(self.array).dtype, (integer(1, first.span),)
        kind, axes = Array(dtype, 1, "C", self.space), (len(indices) - 1,)
        return ir.View(self.array, indices, axes, one, (length,), kind, first.span)


def _in_block(element: ir.ElementOf) -> ir.ElementOf:
    """Return the element of a shared array of the block at the same indices."""
    array = element.array
    own = ir.Var(array.name, array_type(array).in_block, array.span)
    return replace(element, array=own, indices=element.indices[1:])


def _from_start(index: ir.Expr, length: int) -> ir.Expr:
    """Return an index that does not count from the end."""
    if isinstance(index, ir.Apply) and index.intrinsic is from_start:
        return index.arguments[0]
    arguments = cast(index, WEAK_INT), integer(length, index.span)
    return ir.Apply(index_from_end, arguments, WEAK_INT, index.span)


def _address(element: ir.ElementOf) -> ir.Expr:
    return ir.Apply(address_of, (element,), uint64, element.span)


def start_of(array: ir.Var) -> ir.Expr:
    """Return the address of the first element."""
    zeros = (integer(0, array.span),) * array_type(array).ndim
    return _address(ir.ElementOf(array, zeros, array.span))


def of_region(region: MemoryRegion) -> HiddenArray:
    """Return the shadow of the memory of arguments."""
    positions = "_".join(str(position) for position, _ in region.offsets)
    return HiddenArray(words(f"arguments{positions}.shadow", 1), region, unit=region.unit)


def allocated_arrays(function: ir.Function, space: MemorySpace) -> Iterator[ir.Var]:
    """Yield the arrays that a function allocates."""
    for s in statements(function.body):
        if isinstance(s, ir.Allocate) and array_type(s.var).space is space:
            yield s.var


def shared_shadows(
    functions: Sequence[ir.Function],
) -> Iterator[tuple[str, ir.Var, HiddenArray]]:
    """Yield the shared arrays of functions, with their shadows. All dynamic ones have the same."""
    arrays = [(f.name, a) for f in functions for a in allocated_arrays(f, MemorySpace.SHARED)]
    kinds = [array_type(array) for _, array in arrays]
    dynamic_unit = math.gcd(*(unit_of(k.dtype) for k in kinds if k.shape is None))
    dynamic = HiddenArray(words("dynamic.shadow", 2), unit=dynamic_unit)
    for (function, array), kind in zip(arrays, kinds):
        if kind.shape is None:
            yield function, array, dynamic
        else:
            size = math.prod(kind.shape) * kind.dtype.size
            var = words(f"{array.name}.{function}.shadow", 2)
            yield function, array, HiddenArray(var, None, size, unit_of(kind.dtype))


def flags_of(array: ir.Var) -> Shadow:
    """Return the shadow of a local array, which is another local array."""
    kind = array_type(array)
    assert kind.shape is not None
    unit = unit_of(kind.dtype)
    shape = (math.prod(kind.shape) * (kind.dtype.size // unit),)
    flags = replace(FLAGS, space=MemorySpace.LOCAL, shape=shape)
    var = ir.Var(f"{array.name}.flags", flags, array.span)
    return Shadow(var, start_of(array), unit, is_initialized=False, word_count=1)
