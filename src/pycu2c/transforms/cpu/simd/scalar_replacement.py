"""CPU: complex numbers and vectors become variables of their parts in functions with loops that
threads may then run in strips.

``z = z * z + c`` -> ``x = z.x * z.x - z.y * z.y + c.x; z.y = 2 …; z.x = x``, all of floats. Only
where it makes a loop one for strips: elsewhere the program reads better as it was written, and a C
compiler does the same.
"""

from __future__ import annotations

from collections.abc import Iterable

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Scalar, Type
from pycu2c.ir.builders import cast, is_atom, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Body,
    Call,
    ElementOf,
    Expr,
    Function,
    Let,
    Load,
    Member,
    Module,
    Pack,
    Select,
    Stmt,
    Var,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    expressions,
    map_functions,
    operands,
    statements,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.transforms.cpu.simd import divergent_loops
from pycu2c.transforms.cpu.simd.complex_components import PARTS_OF, VALUE_OF, Bind

Parts = tuple[Expr, ...]
_Bound = list[tuple[Var, Expr]]  # what is computed first, in order


def replace_aggregates(module: Module) -> Module:
    """Functions whose loops it does not help stay as they are."""
    return map_functions(module, _split)


def _split(function: Function) -> Function:
    split = in_parts(function, tuple(divergent_loops.early_exit_loops(function.body)))
    more = len(divergent_loops.profitable_loops(split)) > len(
        divergent_loops.profitable_loops(function)
    )
    return split if more else function


def in_parts(function: Function, body: Body) -> Function:
    """The function with the parts of all complex numbers and vectors that a body of it mentions."""
    inside = [e for e in all_expressions(body) if _has_parts(e.type)]
    if not inside:
        return function
    read = {e.name for e in inside if isinstance(e, Var)}
    changed = {s.var.name for s in statements(body) if isinstance(s, Assign)}
    return _Splitter(frozenset(read | changed)).function(function)


def _has_parts(kind: Type) -> bool:
    """Whether values of a type are made of numbers."""
    if not isinstance(kind, Scalar) or not kind.dtype.fields:
        return False
    return not any(f.dtype.fields for f in kind.dtype.fields)


def _of(var: Var) -> tuple[Var, ...]:
    """The variables that a variable becomes."""
    kind = scalar_type(var)
    names = ("real", "imag") if kind.dtype.is_complex else (f.name for f in kind.dtype.fields)
    return tuple(
        Var(f"{var.name}.{name}.item", scalar_type(part), var.span)
        for name, part in zip(names, _members(var))
    )


def _members(e: Expr) -> Parts:
    kind = scalar_type(e)
    weak = kind.weak and kind.dtype.is_complex
    return tuple(Member(e, f.name, Scalar(f.dtype, weak), e.span) for f in kind.dtype.fields)


@dataclass(slots=True)
class _Splitter:
    names: frozenset[str]
    _fresh: int = 0
    _let: set[str] = field(default_factory=set)  # what Lets have bound in parts

    def function(self, f: Function) -> Function:
        given = [Var(p.name, p.type, f.span) for p in f.parameters if p.name in self.names]
        opening: list[Stmt] = []
        for var in (v for v in given if _has_parts(v.type)):
            opening += (Assign(p, m, f.span) for p, m in zip(_of(var), _members(var)))
        return replace(f, body=(*opening, *self.body(f.body)))

    def body(self, body: Body) -> Body:
        return tuple(new for s in body for new in self.statement(s))

    def statement(self, s: Stmt) -> Body:
        if isinstance(s, Assign) and self._is_split(s.var):
            bound, parts = self.parts(s.value)
            first = tuple(Assign(var, e, s.span) for var, e in bound)
            return (*first, *self._assigned(_of(s.var), parts, s))
        s = with_operands(s, tuple(self.expression(e) for e in operands(s)))
        return (with_bodies(s, tuple(self.body(b) for b in bodies(s))),)

    def _is_split(self, var: Var) -> bool:
        return _has_parts(var.type) and (var.name in self.names or var.name in self._let)

    def _assigned(self, targets: tuple[Var, ...], parts: Parts, s: Stmt) -> Body:
        """All at once: what a later part still reads is changed after it."""
        first: list[Stmt] = []
        last: list[Stmt] = []
        for i, (target, part) in enumerate(zip(targets, parts)):
            value = cast(part, scalar_type(target))
            if any(target.name in _read(later) for later in parts[i + 1 :]):
                kept = self._variable(scalar_type(target), value)
                first.append(Assign(kept, value, s.span))
                last.append(Assign(target, kept, s.span))
            else:
                first.append(Assign(target, value, s.span))
        return (*first, *last)

    # ---- expressions -------------------------------------------------------------------------

    def expression(self, e: Expr) -> Expr:
        """The same value of other nodes."""
        match e:
            case Var() if self._is_split(e):
                return Pack(_of(e), scalar_type(e), e.span)
            case Member(operand, name) if _has_parts(operand.type):
                bound, parts = self.parts(operand)
                fields = [f.name for f in scalar_type(operand).dtype.fields]
                return _within(bound, cast(parts[fields.index(name)], e.type))
            case Let(_, value) if _has_parts(value.type):
                return _within(self._let_in_parts(e), self.expression(e.body))
            case Apply(row, arguments) if row in VALUE_OF:
                bound = []
                given = [self._atoms(a, bound) for a in arguments]
                return _within(bound, VALUE_OF[row](e, *given))
            case _:
                return with_children(e, tuple(self.expression(c) for c in children(e)))

    def parts(self, e: Expr) -> tuple[_Bound, Parts]:
        """What is to be computed first, and then the parts, whose order does not matter."""
        bound: _Bound = []
        return bound, self._parts(e, bound)

    def _parts(self, e: Expr, bound: _Bound) -> Parts:
        match e:
            case Var() if self._is_split(e):
                return _of(e)
            case Var():
                return _members(e)
            case Pack():
                return tuple(self._steady(self.expression(p), bound) for p in e.parts)
            case Let():
                value = e.value
                bound += (
                    self._let_in_parts(e)
                    if _has_parts(value.type)
                    else [(Var(e.name, scalar_type(value), e.span), self.expression(value))]
                )
                return self._parts(e.body, bound)
            case Apply(row, arguments) if row in PARTS_OF:
                given = [self._atoms(a, bound) for a in arguments]
                return PARTS_OF[row](e, self._binder(bound), *given)
            case Select():
                return self._chosen(e, bound)
            case _:
                return _members(self._bound(self.expression(e), bound))

    def _let_in_parts(self, e: Let) -> _Bound:
        var = Var(e.name, scalar_type(e.value), e.span)
        self._let.add(e.name)
        bound, parts = self.parts(e.value)
        return [*bound, *((v, cast(p, scalar_type(v))) for v, p in zip(_of(var), parts))]

    def _chosen(self, e: Select, bound: _Bound) -> Parts:
        """ArgumentPart by part, if either side may be computed in vain."""
        if not all(map(_is_steady, (e.then, e.orelse))):
            return _members(self._bound(self.expression(e), bound))
        condition = self._atom(self.expression(e.condition), bound)
        then, orelse = (
            [_within(own, part) for part in parts]
            for own, parts in (self.parts(e.then), self.parts(e.orelse))
        )
        return tuple(
            Select(condition, a, cast(b, scalar_type(a)), scalar_type(a), e.span)
            for a, b in zip(then, orelse)
        )

    def _atoms(self, e: Expr, bound: _Bound) -> Parts:
        """The parts in a form that may be written twice."""
        if not _has_parts(e.type):
            return (self._atom(self.expression(e), bound),)
        return tuple(self._atom(p, bound) for p in self._parts(e, bound))

    def _atom(self, e: Expr, bound: _Bound) -> Expr:
        simple = is_atom(e) or (isinstance(e, Member) and isinstance(e.operand, Var))
        return e if simple else self._bound(e, bound)

    def _steady(self, e: Expr, bound: _Bound) -> Expr:
        return e if _is_steady(e) else self._bound(e, bound)

    def _bound(self, e: Expr, bound: _Bound) -> Var:
        var = self._variable(scalar_type(e), e)
        bound.append((var, e))
        return var

    def _binder(self, bound: _Bound) -> Bind:
        return lambda e: self._bound(e, bound)

    def _variable(self, kind: Scalar, at: Expr) -> Var:
        self._fresh += 1
        return Var(f"part.p{self._fresh}", kind, at.span)


def _within(bound: Iterable[tuple[Var, Expr]], e: Expr) -> Expr:
    for var, value in reversed(tuple(bound)):
        e = Let(var.name, value, e, value.span)
    return e


def _is_steady(e: Expr) -> bool:
    """Whether an expression gives the same wherever it stands in a statement."""
    return not any(
        isinstance(x, Load | ElementOf | Call) or (isinstance(x, Apply) and not x.intrinsic.is_pure)
        for x in expressions(e)
    )


def _read(e: Expr) -> set[str]:
    return {x.name for x in expressions(e) if isinstance(x, Var)}
