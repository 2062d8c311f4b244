"""Check the lengths of slice assignments as far as the bounds are constants."""

from __future__ import annotations

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.source import Span
from pycu2c.frontend.expressions import array_views
from pycu2c.frontend.function_context import TupleValue, Value, describe, is_array
from pycu2c.frontend.hints import replacements
from pycu2c.ir.nodes import Apply, Binary, Const, Expr, View
from pycu2c.ops.intrinsics.memory.subscripts import slice_start, slice_stop
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, FLOORDIV, SUB


def check_slice_lengths(place: View, value: Value, span: Span) -> None:
    """Check that a slice such as ``a[1:3]`` can have as many elements as are assigned.

    Where lengths are known exactly, ``slice_assignment.check_shapes`` compares them.
    """
    if isinstance(value, TupleValue) and len(place.axes) == 1:
        count = len(value.items)
        _compare(place.lengths[0], count, span, Label(value.span, f"and {describe(value)}"))
    elif is_array(value) and array_views.array_type(value).ndim:
        source = array_views.whole_view(value, value.span)
        for ours, theirs in zip(reversed(place.lengths), reversed(source.lengths)):
            count = _constant(theirs) or 0
            _compare(ours, count, span, Label(value.span, f"and these have {count}"))


def _compare(length: Expr, count: int, span: Span, given: Label) -> None:
    most = None if isinstance(length, Const) else max_length(length)
    if most is not None and 1 != count > most:
        elements = replacements.count_phrase(most, "element", "elements")
        room = f"there {'is' if most == 1 else 'are'} at most {elements}"
        hint = "assign a number, or as many as there are elements"
        fail("slice-assign", Label(span, room), given, hint=hint)


def max_length(length: Expr) -> int | None:
    """Return an upper bound of a slice's length, or None without one."""
    match length:
        case Const(value=value):
            return int(value)
        case Apply(intrinsic=intrinsic, arguments=(stop, _)) if intrinsic is slice_stop:
            found = _constant(stop)
            return found if found is not None and found >= 0 else None
        case Apply(intrinsic=intrinsic, arguments=(distance, _)) if intrinsic is REGISTRY["max"]:
            found = max_length(distance)
            return None if found is None else max(found, 0)
        case Binary(op=op, left=stop, right=start) if op is SUB:
            return _between(start, stop)
        case Binary(op=op, left=Binary(op=plus, left=distance, right=more), right=pace) if (
            op is FLOORDIV and plus is ADD
        ):
            found, added, divisor = max_length(distance), _constant(more), _constant(pace)
            if found is None or added is None or not divisor:
                return None
            return (found + added) // divisor
        case _:
            return None


def _between(start: Expr, stop: Expr) -> int | None:
    """Return the distance of two constant bounds that count from the same end, or None."""
    first, last = _bound(start), _bound(stop)
    if first is None or last is None or (first < 0) != (last < 0):
        return None
    return max(last - first, 0)


def _bound(e: Expr) -> int | None:
    if isinstance(e, Apply) and e.intrinsic in (slice_start, slice_stop):
        return _constant(e.arguments[0])
    return _constant(e)


def _constant(e: Expr) -> int | None:
    return int(e.value) if isinstance(e, Const) else None
