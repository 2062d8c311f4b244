"""What the places where a number is an index say of the number.

An access outside of an array is undefined, so where an array has fewer than 2**30 elements, its
index lies between -(2**30) and 2**30 wherever that matters. Two things follow.

*Wanted*: from where a sum lies, and where one side of it lies, follows where the other does. So
``row * width`` of ``a[row * width + column]`` is below 2**30 if neither is negative: it is
computed in 32 bits without an overflow. The same holds of a variable if an access with it is
sure to follow its assignment.

*Modular*: sums and products give the same modulo 2**32 if their operands are only known modulo
2**32. An index that is known so is known: as a signed number of 32 bits it is the one number
between -(2**30) and 2**30 that it can be, of either sign, and the test whether it is negative
may be done on it. But not before, and nothing else may be: a variable is computed modulo 2**32
only if it is read nowhere but in indices. Where the index was proved not to be negative when it
had 64 bits, it still is not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.ranges.intervals import ANYTHING, Interval, everything, exact_result, negated
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import WEAK_INT, Array
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import (
    Assign,
    Binary,
    Body,
    Call,
    Const,
    Declare,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    Let,
    Load,
    Logical,
    Select,
    Stmt,
    Store,
    Var,
)
from pycu2c.ir.verify_expressions import is_flat
from pycu2c.ir.walk import all_expressions, bodies, children, expressions, operands, statements
from pycu2c.ops.operators import ADD, MUL, SUB

_Accesses = Iterator[tuple[Var, tuple[Expr, ...]]]


@dataclass(slots=True)
class IndexUse:
    """Of one function. ``variables``: where those lie whose every value has been looked at.
    ``modular``: those that are read in indices alone."""

    function: Function
    ranges: Ranges
    facts: Facts
    variables: dict[str, Interval] = field(default_factory=dict)
    modular: frozenset[str] = frozenset()
    _wanted: dict[int, Interval] = field(default_factory=dict)
    _noted: Counter[int] = field(default_factory=Counter)  # how often, by id of a node
    _occurring: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if not self.facts.index32:
            return
        self._occurring.update(id(e) for e in all_expressions(self.function.body))
        for s in statements(self.function.body):
            for array, indices in _accesses(s):
                for axis, index in enumerate(indices):
                    self._note(index, self._inside(array, indices, axis))
        self._block(self.function.body)
        assigned_only = self._candidates()
        self.variables = {n: i for n, i in self.variables.items() if n in assigned_only}
        self.modular = self._read_in_indices()

    def of(self, e: Expr) -> Interval:
        """Where an expression lies in every execution that is defined. A node that also stands
        where nothing is wanted of it is not narrowed by what is wanted here."""
        known = self.ranges.of(e)
        if self._noted[id(e)] >= self._occurring[id(e)]:
            known = self._wanted.get(id(e), known)
        if isinstance(e, Var) and e.name in self.variables:
            known = _common(known, self.variables[e.name])
        return known

    def variable(self, name: str) -> Interval:
        """Where all that a variable is ever assigned lies in every execution that is defined."""
        return self.variables.get(name, self.ranges.variable(name))

    def _inside(self, array: Var, indices: tuple[Expr, ...], axis: int) -> Interval:
        assert isinstance(array.type, Array)
        most = self.facts.most_elements
        if array.type.shape is not None:
            flat = is_flat(array.type, indices)
            most = math.prod(array.type.shape) if flat else array.type.shape[axis]
        return Interval(-most if self.facts.wraparound else 0, most - 1)

    # ---- wanted ----

    def _note(self, e: Expr, wanted: Interval) -> None:
        """The value of ``e`` lies there, or the execution is undefined."""
        if isinstance(e, Const):
            return
        known = self.ranges.of(e)
        here = _common(known, wanted)
        self._wanted[id(e)] = here.joined(self._wanted.get(id(e), here))
        self._noted[id(e)] += 1
        if isinstance(e, Binary) and is_sum(e):
            left, right = self.ranges.of(e.left), self.ranges.of(e.right)
            exact = exact_result(e.op, left, right, e.type.dtype)
            if not everything(e.type).holds(exact):
                here = ANYTHING  # it may have wrapped at 64 bits
            self._note(e.left, _left_of(e, here, right))
            self._note(e.right, _right_of(e, here, left))

    def _block(self, body: Body) -> None:
        """The last statements first: what is wanted of a variable is wanted of its value."""
        for place in reversed(range(len(body))):
            s = body[place]
            for inner in bodies(s):
                self._block(inner)
            if isinstance(s, Assign) and s.var.type == WEAK_INT:
                self._note(s.value, self._ahead(s.var.name, body[place + 1 :]))
                value = self.of(s.value)
                self.variables[s.var.name] = value.joined(
                    self.variables.get(s.var.name, Interval(0, 0))
                )

    def _ahead(self, name: str, following: Body) -> Interval:
        """What is wanted of a variable by those accesses that nothing can keep from coming."""
        wanted = ANYTHING
        for s in following:
            for e in operands(s):
                if any(isinstance(x, Call) for x in expressions(e)):  # it may never return
                    return wanted
                for x in _always(e):
                    if isinstance(x, Var) and x.name == name and id(x) in self._wanted:
                        wanted = _common(self.of(x), wanted)
            if bodies(s) or not isinstance(s, (Assign, Store, Evaluate)) or _assigns(s, name):
                return wanted
        return wanted

    # ---- modular ----

    def _read_in_indices(self) -> frozenset[str]:
        """The variables of Python ints whose every read is a part of an index, or of a value of
        such a variable."""
        inside = Counter(
            leaf.name
            for s in statements(self.function.body)
            for _, indices in _accesses(s)
            for index in indices
            for leaf in leaves(index)
        )
        values = [s for s in statements(self.function.body) if isinstance(s, Assign)]
        reads = Counter(e.name for e in all_expressions(self.function.body) if isinstance(e, Var))
        found = set(self.variables)
        while True:
            allowed = inside + Counter(
                leaf.name for s in values if s.var.name in found for leaf in leaves(s.value)
            )
            kept = {name for name in found if reads[name] <= allowed[name]}
            if kept == found:
                return frozenset(found)
            found = kept

    def _candidates(self) -> set[str]:
        anew = {p.name for p in self.function.parameters}
        for s in statements(self.function.body):
            if isinstance(s, (For, Declare)):
                anew.add(s.var.name)
        anew |= {e.name for e in all_expressions(self.function.body) if isinstance(e, Let)}
        return set(self.variables) - anew


def _common(known: Interval, wanted: Interval) -> Interval:
    """What lies in both; if nothing does, the execution is undefined, and it does not matter."""
    low, high = max(known.low, wanted.low), min(known.high, wanted.high)
    return Interval(low, high) if low <= high else known


def _left_of(e: Binary, here: Interval, right: Interval) -> Interval:
    if e.op is ADD:
        return Interval(here.low - right.high, here.high - right.low)
    if e.op is SUB:
        return Interval(here.low + right.low, here.high + right.high)
    return _factor(here, right)


def _right_of(e: Binary, here: Interval, left: Interval) -> Interval:
    if e.op is ADD:
        return Interval(here.low - left.high, here.high - left.low)
    if e.op is SUB:
        return Interval(left.low - here.high, left.high - here.low)
    return _factor(here, left)


def _factor(product: Interval, other: Interval) -> Interval:
    """A factor is no further from 0 than the product, if the other one is not 0."""
    near = product.joined(Interval(0, 0))
    if other.low > 0:
        return near
    return negated(near) if other.high < 0 else ANYTHING


def _accesses(s: Stmt) -> _Accesses:
    """The arrays that a statement accesses, blocks inside it left out, and with which indices."""
    if isinstance(s, Store):
        yield s.array, s.indices
    for operand in operands(s):
        for e in expressions(operand):
            if isinstance(e, (Load, ElementOf)):
                yield e.array, e.indices


def is_sum(e: Expr) -> bool:
    """Whether it is a sum or product of Python ints, which may be computed modulo 2**32."""
    return isinstance(e, Binary) and e.op in (ADD, SUB, MUL) and e.type == WEAK_INT


def leaves(e: Expr) -> Iterator[Var]:
    """The variables that a sum of products of Python ints is made of."""
    if isinstance(e, Binary) and is_sum(e):
        yield from leaves(e.left)
        yield from leaves(e.right)
    elif isinstance(e, Var) and scalar_type(e) == WEAK_INT:
        yield e


def _always(e: Expr) -> Iterator[Expr]:
    """An expression and what is evaluated in it whatever its conditions say."""
    yield e
    inside = children(e)
    if isinstance(e, (Select, Logical)):
        inside = inside[:1]
    for child in inside:
        yield from _always(child)


def _assigns(s: Stmt, name: str) -> bool:
    return isinstance(s, Assign) and s.var.name == name
