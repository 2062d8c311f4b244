"""Values of expressions during lowering: IR, and objects that exist only at compile time."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import LAMBDA_NAME, Source, Span
from pycu2c.base.types import Array
from pycu2c.ir.nodes import Expr, Var, View
from pycu2c.ir.walk import expressions


@dataclass(frozen=True, slots=True, eq=False)
class StaticObject:
    """A Python object that is a compile-time constant: a function, a dtype, a module."""

    value: object
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TupleValue:
    """A tuple of values, at compile time only; ``names`` are the fields of a named tuple."""

    items: tuple[Value, ...]
    span: Span
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A function defined inside another one.

    ``arguments`` are the declared parameters. ``captured`` are the variables of the enclosing
    function that it reads; ``source`` takes them as further parameters.
    """

    source: Source
    arguments: ast.arguments
    captured: tuple[ast.Name, ...]

    @property
    def __name__(self) -> str:
        """Return the name that errors show."""
        return "lambda" if self.source.name == LAMBDA_NAME else self.source.name


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A local function as a value: with its default arguments and its captured variables.

    ``is_open``: it is still in its enclosing function, so each use reads the current values.
    """

    function: LocalFunction
    defaults: TupleValue
    variables: TupleValue
    span: Span
    is_open: bool = False

    @property
    def operands(self) -> TupleValue:
        """Return the values of which the closure consists."""
        return TupleValue((self.defaults, self.variables), self.span)


@dataclass(frozen=True, slots=True, eq=False)
class ArraySelect:
    """One of ``arrays``, which have one dtype and rank; ``selector`` is its index."""

    selector: Expr
    arrays: tuple[Var | View, ...]
    span: Span

    @property
    def type(self) -> Array:
        first = self.arrays[0].type
        assert isinstance(first, Array)
        return first

    @property
    def operands(self) -> TupleValue:
        """Return the values of which the selection consists."""
        return TupleValue((self.selector, *self.arrays), self.span)


Value: TypeAlias = Expr | StaticObject | TupleValue | Closure | ArraySelect


# ---- leaves: the numbers and arrays in a value ---------------------------------------------------


def leaves(value: Value) -> list[Expr]:
    """Return the numbers and arrays in a value, in order."""
    match value:
        case StaticObject():
            return []
        case Closure() | ArraySelect():
            return leaves(value.operands)
        case TupleValue():
            return [leaf for item in value.items for leaf in leaves(item)]
        case _:
            return [value]


def subexpressions(value: Value) -> Iterator[Expr]:
    """Yield the leaves of a value and all expressions inside them."""
    return (e for leaf in leaves(value) for e in expressions(leaf))


def map_leaves(value: Value, change: Callable[[Expr], Value]) -> Value:
    """Return the value with its leaves replaced, from left to right."""
    match value:
        case StaticObject():
            return value
        case TupleValue():
            return replace(value, items=tuple(map_leaves(item, change) for item in value.items))
        case Closure() | ArraySelect():
            return with_operands(value, map_leaves(value.operands, change))
        case _:
            return change(value)


def with_operands(value: Closure | ArraySelect, operands: Value) -> Closure | ArraySelect:
    """Return the closure or array selection with other operands."""
    assert isinstance(operands, TupleValue)
    if isinstance(value, ArraySelect):
        return array_select(operands.items, value.span)
    defaults, variables = operands.items
    assert isinstance(defaults, TupleValue)
    assert isinstance(variables, TupleValue)
    return replace(value, defaults=defaults, variables=variables)


def array_select(operands: Sequence[Value], span: Span) -> ArraySelect:
    """Return the array selection that consists of a selector and arrays."""
    selector, *arrays = operands
    assert not isinstance(selector, (StaticObject, TupleValue, Closure, ArraySelect))
    return ArraySelect(selector, tuple(a for a in arrays if isinstance(a, (Var, View))), span)
