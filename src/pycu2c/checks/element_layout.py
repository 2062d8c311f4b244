"""Where the numbers of an element are in memory: the fields of records, and parts of vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, pairwise
from typing import NamedTuple

from pycu2c.base.dtypes import DType
from pycu2c.base.source import Span
from pycu2c.base.types import Scalar, uint64
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const
from pycu2c.ir.expressions import Path, component_type
from pycu2c.ir.walk import all_expressions
from pycu2c.ops.operators import ADD, MUL


class Leaf(NamedTuple):
    """A number of an element, real or complex: its path, and its offset in bytes."""

    path: tuple[str | int, ...]
    offset: int
    dtype: DType

    @property
    def end(self) -> int:
        return self.offset + self.dtype.size


@cache
def leaves(dtype: DType) -> tuple[Leaf, ...]:
    """Return the numbers of an element, by offset."""
    return tuple(sorted(_leaves(dtype), key=lambda leaf: leaf.offset))


def _leaves(dtype: DType) -> Iterator[Leaf]:
    parts: list[tuple[str | int, DType, int]] = []
    if dtype.element is not None:
        size = dtype.element.size
        parts = [(k, dtype.element, k * size) for k in range(dtype.extents[0])]
    elif not dtype.is_complex:
        parts = [(f.name, f.dtype, f.offset) for f in dtype.fields]
    if not parts:
        yield Leaf((), 0, dtype)
    for step, part, start in parts:
        for leaf in leaves(part):
            yield Leaf((step, *leaf.path), start + leaf.offset, leaf.dtype)


def contiguous(found: Sequence[Leaf]) -> Iterator[tuple[int, int]]:
    """Yield the offset and size of the ranges of memory that numbers take, without padding."""
    gaps = [k for k, (a, b) in enumerate(pairwise(found), 1) if a.end != b.offset]
    for first, last in pairwise([0, *gaps, len(found)]):
        yield found[first].offset, found[last - 1].end - found[first].offset


def unit_of(dtype: DType) -> int:
    """Return the largest number of bytes that no number of an array ends inside of."""
    bounds = chain.from_iterable((leaf.offset, leaf.dtype.size) for leaf in leaves(dtype))
    return math.gcd(dtype.size, *bounds)


def number_at(element: Scalar, path: Path) -> tuple[Scalar, Path]:
    """Return the type of a field and its path, or of the complex number of which it is a part."""
    for k, step in enumerate(path):
        if element.dtype.is_complex:
            return element, path[:k]
        element = component_type(element, step)
    return element, path


def field_offset(element: Scalar, path: Path, span: Span) -> ir.Expr:
    """Return the offset of a field in an element, in bytes."""
    total: ir.Expr = const(0, span, uint64)
    for step in path:
        part = component_type(element, step)
        if isinstance(step, str):
            (start,) = (f.offset for f in element.dtype.fields if f.name == step)
            offset: ir.Expr = const(start, span, uint64)
        else:
            size = const(part.dtype.size, span, uint64)
            offset = binary(MUL, cast(step, uint64), size, span)
        total = binary(ADD, total, offset, span)
        element = part
    return total


def loaded_field(e: ir.Expr) -> tuple[ir.Load, Path] | None:
    """Return the element and the path that ``a[i].x[2]`` loads; None for another expression."""
    path: Path = ()
    while isinstance(e, ir.Member | ir.Item):
        path = (e.field if isinstance(e, ir.Member) else e.index, *path)
        e = e.operand
    return (e, path) if isinstance(e, ir.Load) else None


def used_fields(body: ir.Body) -> dict[str, frozenset[str] | None]:
    """Return the fields that are read of the variables of a function; None for whole values."""
    found: dict[str, frozenset[str] | None] = {}
    members: set[int] = set()
    for e in all_expressions(body):
        if isinstance(e, ir.Member) and isinstance(e.operand, ir.Var):
            members.add(id(e.operand))
            earlier = found.setdefault(e.operand.name, frozenset())
            found[e.operand.name] = None if earlier is None else earlier | {e.field}
        elif isinstance(e, ir.Var) and id(e) not in members:
            found[e.name] = None
    return found
