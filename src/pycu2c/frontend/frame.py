"""What is known of the function being built: names, types so far, what went wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from pycu2c.diagnostics import CompileError, Diagnostic, Label, fail
from pycu2c.frontend.liveranges import LiveRanges
from pycu2c.ir.nodes import Expr, Function, Stmt, Var
from pycu2c.source import Source, Span
from pycu2c.types import Array, Scalar, Type, join


@dataclass(frozen=True, slots=True, eq=False)
class Static:
    """A Python object known when the kernel is compiled: a function, a dtype, a module."""

    value: object
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """A tuple; it exists only while compiling, its items are values of their own."""

    items: tuple[Value, ...]
    span: Span


Value: TypeAlias = Expr | Static | Items

# (a device function, the types of its arguments, the call's place) -> its IR
DeviceBuilder: TypeAlias = Callable[[Source, tuple[Scalar | Array, ...], Span], Function]


CallBuilder: TypeAlias = "Callable[[Frame, ast.Call], Value]"


class Unknown(Exception):
    """An expression depends on one that was already reported, or whose type is not yet known."""


@dataclass(slots=True)
class Frame:
    """One walk over one function. ``settled`` holds the types that the walk before found."""

    source: Source
    ranges: LiveRanges
    settled: dict[str, Scalar]
    device: DeviceBuilder
    call: CallBuilder  # calls and expressions contain each other; this ties the knot
    is_kernel: bool
    types: dict[str, Scalar] = field(default_factory=dict)
    origins: dict[str, Span] = field(default_factory=dict)  # where a variable got its type
    bound: dict[str, Value] = field(default_factory=dict)  # arrays, tuples, functions
    results: list[tuple[Type, Span]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    blocks: list[list[Stmt]] = field(default_factory=lambda: [[]])
    store_types: dict[int, str] = field(default_factory=dict)  # id(ast.Name) -> variable
    join_types: dict[int, Scalar] = field(default_factory=dict)  # id(ast.IfExp) -> its type
    returns: list[int] = field(default_factory=list)  # id(ast.Return) of those with a value
    target: str | None = None  # the name that the next allocated array gets
    _fresh: int = 0

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def emit(self, statement: Stmt) -> None:
        self.blocks[-1].append(statement)

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to a block of their own."""
        self.blocks.append([])
        try:
            yield self.blocks[-1]
        finally:
            self.blocks.pop()

    @contextmanager
    def recovering(self) -> Iterator[None]:
        """A mistake inside is noted, and the walk goes on after it."""
        try:
            yield
        except CompileError as error:
            self.problems += error.diagnostics
        except Unknown:
            pass

    def fresh(self, hint: str) -> str:
        """A variable name that no Python name can be."""
        self._fresh += 1
        return f"{hint}.t{self._fresh}"

    def take_target(self, otherwise: str) -> str:
        """The variable that the value being built is assigned to, if it is one."""
        name, self.target = self.target, None
        return name or self.fresh(otherwise)

    def assigned(self, name: str, value_type: Scalar, span: Span) -> Scalar:
        """Note a type that reaches a variable; give the type that the variable has."""
        known = self.types.get(name)
        self.types[name] = value_type if known is None else join(known, value_type)
        if known != self.types[name]:
            self.origins[name] = span
        return self.settled.get(name, self.types[name])

    def variable(self, name: str, span: Span) -> Var:
        """A read of a number's variable."""
        known = self.settled.get(name) or self.types.get(name)
        if known is None:
            raise Unknown
        return Var(name, known, span)


def number(value: Value, what: str = "this") -> Expr:
    """The value as an expression that is a number, or an error that says what it is."""
    if isinstance(value, Static):
        shown = getattr(value.value, "__name__", None) or repr(value.value)
        fail("type-needed", Label(value.span, f"{what} is `{shown}`, not a number"))
    if isinstance(value, Items):
        fail(
            "type-needed",
            Label(value.span, f"{what} is a tuple of {len(value.items)}"),
            help="take one of its items: t[0]",
        )
    if isinstance(value.type, Array):
        fail(
            "type-needed",
            Label(value.span, f"{what} is an array `{value.type}`"),
            help="index it: a kernel works on one element at a time, a[i]",
        )
    if not isinstance(value.type, Scalar):
        fail("type-needed", Label(value.span, f"{what} gives no value"))
    return value
