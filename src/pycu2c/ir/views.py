"""Views taken apart: which element of the array an element of a view is."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.base.records import replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, Scalar
from pycu2c.ir.builders import binary, cast, const, scalar_type
from pycu2c.ir.expressions import Path, field_type, part_type
from pycu2c.ir.nodes import Const, Dim, Expr, Item, Member, View
from pycu2c.ir.walk import inside, path_with
from pycu2c.ops.operators import ADD, MUL, SUB


def starts(view: View) -> list[Expr]:
    """Where a view begins: along each axis of the array, and then along those inside of fields."""
    return [*view.first, *inside(view.path)]


def start_of(view: View, axis: int) -> int:
    """Which of ``starts`` belongs to an axis of the view."""
    own = view.axes[axis]
    return own if own >= 0 else len(view.first) + ~own


def started(view: View, given: Sequence[Expr]) -> View:
    """A view that begins elsewhere."""
    count = len(view.first)
    return replace(view, first=tuple(given[:count]), path=path_with(view.path, given[count:]))


def place_in_array(view: View, indices: tuple[Expr, ...]) -> tuple[tuple[Expr, ...], Path]:
    """``v[j]`` of ``v = a[i, 2:]`` -> the indices ``i, 2 + j`` of ``a``; and the path there."""
    out = starts(view)
    for axis, (step, index) in enumerate(zip(view.steps, indices)):
        place = start_of(view, axis)
        out[place] = shifted(out[place], step, index)
    found = started(view, out)
    return found.first, found.path


def per_element(view: View) -> int:
    """How many elements of the view an element of the array has the room of."""
    kind = view.array.type
    assert isinstance(kind, Array)
    return kind.dtype.size // view.type.dtype.size


def step_inside(view: View, axis: int) -> int:
    """How far neighbours along an axis inside of a field are apart, in elements of the view."""
    kind = view.array.type
    assert isinstance(kind, Array)
    places = [n for n, step in enumerate(view.path) if not isinstance(step, str)]
    element = field_type(kind.element, view.path[: places[~axis] + 1])
    return element.dtype.size // view.type.dtype.size


def read_path(value: Expr, path: Path, span: Span) -> Expr:
    """``value.corners[2].x``"""
    for step in path:
        kind = part_type(scalar_type(value), step)
        if isinstance(step, str):
            value = Member(value, step, kind, span)
        else:
            value = Item(value, step, kind, span)
    return value


def is_flat(view: View) -> bool:
    """Whether a view counts the elements of an array with several axes."""
    assert isinstance(view.array.type, Array)
    return len(view.first) == 1 and view.array.type.ndim > 1


def flat_first(view: View) -> Expr:
    """The number of the first element of a contiguous view."""
    kind = view.array.type
    assert isinstance(kind, Array)
    total = view.first[0]
    for axis, index in enumerate(view.first[1:], start=1):
        length: Expr = Dim(view.array, axis, index.span)
        if kind.shape is not None:
            length = const(kind.shape[axis], index.span)
        total = shifted(scaled(length, total), const(1, index.span), index)
    return total


def numbered(view: View, index: Expr) -> tuple[Expr, ...]:
    """An element of a contiguous view by its number, in the array."""
    return (shifted(flat_first(view), const(1, index.span), index),)


def composed(outer: View, inner: View) -> View:
    """``inner``, a view of the view ``outer``, as a view of the array."""
    if len(inner.first) < len(outer.axes):
        first, path = numbered(outer, inner.first[0]), (*outer.path, *inner.path)
        return replace(inner, array=outer.array, first=first, path=path)
    before = len(inside(outer.path))
    axes = tuple(outer.axes[a] if a >= 0 else ~(~a + before) for a in inner.axes)
    one = const(1, inner.span)
    paces = (outer.steps[a] if a >= 0 else one for a in inner.axes)
    steps = tuple(map(scaled, paces, inner.steps))
    first, place = place_in_array(outer, inner.first)
    path = (*place, *inner.path)
    return View(outer.array, first, axes, steps, inner.lengths, inner.type, inner.span, path)


def shifted(start: Expr, step: Expr, index: Expr) -> Expr:
    """``start + step * index``, without what changes nothing."""
    offset = scaled(step, index)
    if isinstance(start, Const) and start.value == 0:
        return offset
    if isinstance(offset, Const) and offset.value == 0:
        return start
    if isinstance(offset, Const) and offset.value < 0:
        less = const(-int(offset.value), offset.span, offset.type)
        return binary(SUB, *_agreed(start, less), index.span)
    return binary(ADD, *_agreed(start, offset), index.span)


def scaled(step: Expr, index: Expr) -> Expr:
    """``step * index``."""
    for factor in (step, index):
        if isinstance(factor, Const) and factor.value == 0:
            return factor
    for factor, other in ((step, index), (index, step)):
        if isinstance(factor, Const) and factor.value == 1:
            return other
    return binary(MUL, *_agreed(step, index), index.span)


def _agreed(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Two whole numbers in one type: int, unless both are of the same one."""
    kind: Scalar = scalar_type(a) if a.type == b.type else WEAK_INT
    return cast(a, kind), cast(b, kind)
