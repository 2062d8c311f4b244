"""Python's indices -> C's: what may be negative counts from the end, slices are cut to what
there is. Where ``ranges`` proves that an index is not negative, it stays what it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TypeAlias

from pycu2c.analysis.ranges.range_analysis import Facts, Interval, Ranges
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Array
from pycu2c.ir.builders import binary, cast, const, integer, is_atom, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Const,
    Declare,
    Dim,
    ElementOf,
    Expr,
    For,
    Function,
    Let,
    Load,
    Select,
    Store,
    Var,
    View,
    in_cluster,
)
from pycu2c.ir.verify_expressions import is_flat
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.intrinsics.memory.subscripts import (
    index_from_end,
    slice_back,
    slice_start,
    slice_stop,
)
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import ADD, LT, SUB

_Use: TypeAlias = tuple[str, str, int]  # a variable as an index of an array's axis

# the least place that a bound gives; whether it is brought up to that, and down to the length
_OF_SUBSCRIPT = {
    index_from_end: (0, False, False),
    slice_start: (0, True, False),
    slice_stop: (0, True, True),
    slice_back: (-1, True, True),
}


@dataclass(slots=True)
class Indices:
    """The indices of one function. A variable that is one several times, and is assigned once,
    is counted from the end once: behind its assignment."""

    function: Function
    ranges: Ranges
    facts: Facts
    fresh: Callable[[str], str]
    _wrapped: dict[tuple[str, int, int], Expr] = field(default_factory=dict)
    _places: dict[_Use, Assign] = field(default_factory=dict)

    def __post_init__(self) -> None:
        uses = list(self._open_uses())
        times = Counter(use for use, _, _ in uses)
        once = _assigned_once(self.function)
        for use, array, index in uses:
            if times[use] > 1 and use[0] in once and use not in self._places:
                chosen = self._from_end(array, use[2], index)
                var = Var(self.fresh("at"), scalar_type(chosen), index.span)
                self._places[use] = Assign(var, chosen, index.span)

    def _open_uses(self) -> Iterator[tuple[_Use, Var, Var]]:
        """The variables that are indices of either sign, as far as is known."""
        for array, indices in _accesses(self.function.body):
            assert isinstance(array.type, Array)
            if is_flat(array.type, indices):
                continue
            for axis, index in enumerate(indices):
                if in_cluster(array) and axis == 0:  # the rank of a block
                    continue
                reach = self.ranges.of(index)
                if isinstance(index, Var) and reach.low < 0 <= reach.high and self.facts.wraparound:
                    yield (index.name, array.name, axis), array, index

    def behind(self, name: str) -> Body:
        """What follows the assignment of a variable."""
        return tuple(place for (var, _, _), place in self._places.items() if var == name)

    def at_the_start(self) -> Body:
        return tuple(s for p in self.function.parameters for s in self.behind(p.name))

    def of(self, array: Var, old: tuple[Expr, ...], new: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """The indices of an access, which were ``old`` when ranges were found."""
        assert isinstance(array.type, Array)
        if is_flat(array.type, old):  # the frontend has seen to it
            return new
        return tuple(self._index(array, axis, o, n) for axis, (o, n) in enumerate(zip(old, new)))

    def _index(self, array: Var, axis: int, old: Expr, new: Expr) -> Expr:
        """Negative indices count from the end: found out now, at run time, or ruled out."""
        if in_cluster(array) and axis == 0:
            return new
        reach = self.ranges.of(old)
        if reach.low >= 0 or not (self.facts.wraparound or isinstance(new, Const)):
            return new
        if (
            isinstance(old, Var)
            and reach.high >= 0
            and (old.name, array.name, axis) in self._places
        ):
            return self._places[old.name, array.name, axis].var
        key = (array.name, axis, id(old))
        if key not in self._wrapped:
            self._wrapped[key] = self._wrapped_index(array, axis, new, reach)
        return self._wrapped[key]

    def _wrapped_index(self, array: Var, axis: int, index: Expr, reach: Interval) -> Expr:
        length = self._length(array, axis, index)
        if isinstance(index, Const):
            behind = const(-int(index.value), index.span, scalar_type(length))
            return binary(SUB, length, behind, index.span)
        if reach.high < 0:
            return binary(ADD, length, cast(index, scalar_type(length)), index.span)
        return self._from_end(array, axis, index)

    def _from_end(self, array: Var, axis: int, index: Expr) -> Expr:
        length = self._length(array, axis, index)
        index = cast(index, scalar_type(length))
        value = index if is_atom(index) else Var(self.fresh("at"), scalar_type(index), index.span)
        zero = const(0, index.span, scalar_type(length))
        negative = binary(LT, value, zero, index.span)
        from_end = binary(ADD, value, length, index.span)
        chosen = Select(negative, from_end, value, scalar_type(length), index.span)
        if isinstance(value, Var) and value is not index:
            return Let(value.name, index, chosen, index.span)
        return chosen

    def _length(self, array: Var, axis: int, index: Expr) -> Expr:
        """The axis' length, in a type that also holds the index."""
        assert isinstance(array.type, Array)
        small = self.facts.index32
        if array.type.shape is not None:
            length: Expr = integer(array.type.shape[axis], index.span)
        else:
            length = Dim(array, axis, index.span, WEAK_INT32 if small else WEAK_INT)
        fits = small and scalar_type(index).dtype is dtypes.INT32
        return cast(length, scalar_type(index) if fits else WEAK_INT)

    def subscript(self, e: Apply, reach: Interval) -> Expr:
        """A bound of a slice, or an index of a view, which lies in ``reach``."""
        given, kind = e.arguments[0], scalar_type(e.arguments[0])
        bound = given if is_atom(given) else Var(self.fresh("bound"), kind, e.span)
        length = cast(e.arguments[1], kind)
        least, cut_below, cut_above = _OF_SUBSCRIPT[e.intrinsic]
        inside: Expr = bound
        if cut_above or (cut_below and reach.high > self.facts.most_elements):
            most = binary(ADD, length, const(least, e.span, kind), e.span) if least else length
            inside = Apply(REGISTRY["min"], (bound, most), kind, e.span)
        if reach.low < 0:
            counted = binary(ADD, bound, length, e.span)
            if cut_below:
                floor = const(least, e.span, kind)
                counted = Apply(REGISTRY["max"], (counted, floor), kind, e.span)
            negative = binary(LT, bound, const(0, e.span, kind), e.span)
            inside = counted if reach.high < 0 else Select(negative, counted, inside, kind, e.span)
        inside = cast(inside, scalar_type(e))
        if isinstance(bound, Var) and bound is not given:
            return Let(bound.name, given, inside, e.span)
        return inside


def _accesses(body: Body) -> Iterator[tuple[Var, tuple[Expr, ...]]]:
    """The arrays that are accessed, and with which indices."""
    for s in statements(body):
        if isinstance(s, Store):
            yield s.array, s.indices
    for e in all_expressions(body):
        if isinstance(e, (Load, ElementOf)):
            yield e.array, e.indices
        elif isinstance(e, View):
            yield e.array, e.first


def _assigned_once(function: Function) -> set[str]:
    """The variables that one assignment alone gives their value, or the caller. Where that has
    not come by they are 0, as are their places."""
    times = Counter(p.name for p in function.parameters)
    anew: set[str] = set()
    for s in statements(function.body):
        if isinstance(s, Assign):
            times[s.var.name] += 1
        elif isinstance(s, (For, Declare)):
            anew.add(s.var.name)
    return {name for name, n in times.items() if n == 1} - anew
