"""Python's ints in 32 bits wherever ``ranges`` proves that they fit: a GPU computes those twice
as fast, and the C reads like what a person writes.

A narrow int stays weak: it is the same Python int, known to be small.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.ranges.index_constraints import IndexConstraints, is_linear, leaves
from pycu2c.analysis.ranges.intervals import Interval, everything
from pycu2c.analysis.ranges.range_analysis import Facts, Ranges, analyse_module
from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, WEAK_INT32, Array, Scalar, Type
from pycu2c.ir.builders import binary, cast
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Body,
    Call,
    Cast,
    Const,
    Declare,
    Dim,
    ElementOf,
    Expr,
    For,
    Function,
    Let,
    Load,
    Module,
    Pack,
    Return,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    map_functions,
    operands,
    statements,
    with_bodies,
    with_children,
    with_operands,
)
from pycu2c.ops.intrinsics.memory.subscripts import from_start
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.operators import POW, SHL, SHR, truth

_MODULAR = Scalar(dtypes.INT32)  # numpy's: it wraps
IN_32_BITS = everything(WEAK_INT32)


def narrow(module: Module, facts: Facts) -> Module:
    """``i: int = cuda.grid.x()`` -> ``i: small = cuda.grid.x.small()``."""
    found = analyse_module(module, facts)
    functions = (module.kernel, *module.devices)
    uses = {f.name: IndexConstraints(f, found[f.name], facts) for f in functions}
    signatures = {f.name: _signature(f, uses[f.name]) for f in functions}
    return map_functions(module, lambda f: _narrowed(f, uses[f.name], signatures))


@dataclass(frozen=True, slots=True)
class NarrowSignature:
    """A function's types after narrowing."""

    parameters: tuple[Scalar | Array, ...]
    result: Type


def _signature(function: Function, use: IndexConstraints) -> NarrowSignature:
    small = _small_variables(function, use)
    parameters = tuple(WEAK_INT32 if p.name in small else p.type for p in function.parameters)
    fits = function.result == WEAK_INT and IN_32_BITS.contains(use.ranges.result)
    return NarrowSignature(parameters, WEAK_INT32 if fits else function.result)


def _narrowed(
    function: Function, use: IndexConstraints, signatures: Mapping[str, NarrowSignature]
) -> Function:
    own = signatures[function.name]
    narrower = Narrower(use, _small_variables(function, use), own.result, signatures)
    parameters = tuple(
        replace(p, type=kind) for p, kind in zip(function.parameters, own.parameters)
    )
    body = narrower.body(function.body)
    return replace(function, parameters=parameters, body=body, result=own.result)


def _small_variables(function: Function, use: IndexConstraints) -> frozenset[str]:
    """Ints that are never given anything that needs more than 32 bits."""
    found = {p.name for p in function.parameters if p.type == WEAK_INT}
    wide = set()
    for s in statements(function.body):
        if isinstance(s, (Assign, Declare, For)) and s.var.type == WEAK_INT:
            found.add(s.var.name)
        if isinstance(s, For) and not counts_in_32_bits(s, use.ranges):
            wide.add(s.var.name)
    for e in all_expressions(function.body):
        if isinstance(e, Let) and e.value.type == WEAK_INT:
            found.add(e.name)
    return frozenset(n for n in found - wide if IN_32_BITS.contains(use.variable(n)))


def counts_in_32_bits(loop: For, ranges: Ranges) -> bool:
    """C's counter goes one step beyond the last value."""
    start, stop, step = (ranges.of(e) for e in operands(loop))
    beyond = Interval(stop.low + min(step.low, 0), stop.high + max(step.high, 1) - 1)
    return all(IN_32_BITS.contains(i) for i in (start, stop, step, beyond))


@dataclass(slots=True)
class Narrower:
    use: IndexConstraints
    small: frozenset[str]  # variables
    result: Type
    signatures: Mapping[str, NarrowSignature]
    converted: frozenset[str] = (
        frozenset()
    )  # wide variables that are made small where they are read
    _done: dict[int, Expr] = field(default_factory=dict)  # one node stays one node

    def body(self, body: Body) -> Body:
        return tuple(self.statement(s) for s in body)

    def statement(self, s: Stmt) -> Stmt:
        if isinstance(s, Assign) and self._is_modular(s.var):
            return replace(s, var=self._variable(s.var), value=self._modular(s.value))
        wanted = self.wanted(s)
        new = tuple(to_type(self._value(e), wanted) for e in operands(s))
        if isinstance(s, Store):
            new = (new[0], *(self._index(e) for e in operands(s)[1:]))
        s = with_operands(s, new)
        s = with_bodies(s, tuple(self.body(b) for b in bodies(s)))
        if isinstance(s, (Assign, Declare, For)):
            return replace(s, var=self._variable(s.var))
        return s

    def wanted(self, s: Stmt) -> Type | None:
        """The type that a statement's operands must have; None where they may choose."""
        match s:
            case Assign() | Declare() | For():
                return self._variable(s.var).type
            case Return():
                return self.result
            case _:
                return None

    def _variable(self, var: Var) -> Var:
        if self._is_modular(var):
            return replace(var, type=_MODULAR)
        return replace(var, type=WEAK_INT32) if var.name in self.small else var

    # ---- indices ----

    def _index(self, e: Expr) -> Expr:
        """An index, in 32 bits if it is a sum of products that would need 64."""
        new = self._value(e)
        sum_of_wide = new.type == WEAK_INT and is_linear(e) and self.use.facts.index32
        if not sum_of_wide and not any(self._is_modular(x) for x in leaves(e)):
            return new
        new = self._modular(e)
        if self.use.ranges.of(e).low >= 0:
            return Apply(from_start, (new,), _MODULAR, e.span)
        return new

    def _value(self, e: Expr) -> Expr:
        """A sum of products that fits 32 bits though its parts do not, or anything."""
        new = self.expression(e)
        if new.type == WEAK_INT and is_linear(e) and self._fits(e):
            return cast(self._modular(e), WEAK_INT32)
        return new

    def _modular(self, e: Expr) -> Expr:
        """The same number modulo 2**32."""
        if isinstance(e, Binary) and is_linear(e):
            return binary(e.op, self._modular(e.left), self._modular(e.right), e.span)
        return cast(self.expression(e), _MODULAR)

    def _is_modular(self, var: Var) -> bool:
        return var.name in self.use.modular and var.name not in self.small

    # ---- expressions ----

    def expression(self, e: Expr) -> Expr:
        if id(e) not in self._done:
            self._done[id(e)] = self._expression(e)
        return self._done[id(e)]

    def _expression(self, e: Expr) -> Expr:
        inside = tuple(self.expression(child) for child in children(e))
        match e:
            case Const():
                return replace(e, type=WEAK_INT32) if self._fits(e) else e
            case Var(name) if name in self.converted:
                return cast(e, WEAK_INT32)
            case Var():
                return self._variable(e)
            case Load() | ElementOf():
                return with_children(e, (e.array, *map(self._index, children(e)[1:])))
            case Dim() if (
                e.type == WEAK_INT and self.use.facts.index32
            ):  # all of them: a length is passed in one type
                return replace(e, type=WEAK_INT32)
            case Cast() if self._fits(e) and e.operand.type != WEAK_INT:
                return Cast(inside[0], WEAK_INT32, e.span)
            case Binary() if e.op.result is truth and e.left.type == WEAK_INT:
                return with_children(e, _agreed(inside))
            case Unary() | Binary() if self._computes_in_32_bits(e, children(e)):
                return _typed(e, inside, WEAK_INT32)
            case Select() if self._fits(e):
                return _typed(e, inside, WEAK_INT32)
            case Apply():
                return self._apply(e, inside)
            case Let():
                kind = WEAK_INT32 if e.name in self.small else e.value.type
                return with_children(e, (to_type(inside[0], kind), inside[1]))
            case Cast():
                return with_children(e, inside)
            case Call():
                return self.call(e, inside)
            case _:
                return _same_types(e, inside)

    def _apply(self, e: Apply, inside: tuple[Expr, ...]) -> Expr:
        kinds = [kind for _, kind in e.intrinsic.parameters if kind != "index"]
        typed = e.intrinsic.result == "T" and e.type == WEAK_INT
        if not kinds and self._fits(e):
            return replace(e, type=WEAK_INT32)
        if typed and _has_variant(e.intrinsic) and self._computes_in_32_bits(e, e.arguments):
            return _typed(e, inside, WEAK_INT32)
        free = [kind == "int" for kind in kinds]
        pairs = zip(inside, e.arguments, free)
        made = with_children(e, tuple(n if ok else to_type(n, old.type) for n, old, ok in pairs))
        assert isinstance(made, Apply)
        counts = e.intrinsic.bounds is not None and self._fits(e)
        return replace(made, type=WEAK_INT32) if counts else made

    def call(self, e: Call, inside: tuple[Expr, ...]) -> Expr:
        callee = self.signatures[e.function]
        pairs = zip(inside, callee.parameters)
        arguments = tuple(to_type(argument, kind) for argument, kind in pairs)
        return replace(e, arguments=arguments, type=callee.result)

    def _fits(self, e: Expr) -> bool:
        return e.type == WEAK_INT and IN_32_BITS.contains(self.use.of(e))

    def _computes_in_32_bits(self, e: Expr, given: tuple[Expr, ...]) -> bool:
        """Whether operands and result fit, and the operator means the same in 32 bits."""
        if not (self._fits(e) and all(self._fits(x) for x in given)):
            return False
        if isinstance(e, Binary) and e.op in (SHL, SHR):
            return Interval(0, 31).contains(self.use.of(e.right))
        return not (isinstance(e, Binary) and e.op is POW) or isinstance(e.right, Const)


def _has_variant(row: Intrinsic) -> bool:
    return not row.dtypes or dtypes.INT32 in row.dtypes


def to_type(e: Expr, wanted: Type | None) -> Expr:
    """An int of 32 or 64 bits as the place needs it; anything else stays what it is."""
    ints = (WEAK_INT, WEAK_INT32)
    return cast(e, wanted) if isinstance(wanted, Scalar) and wanted in ints else e


def _typed(e: Unary | Binary | Select | Apply, inside: tuple[Expr, ...], kind: Scalar) -> Expr:
    numbers = inside[1:] if isinstance(e, Select) else inside
    first = inside[: len(inside) - len(numbers)]
    new = with_children(e, (*first, *(to_type(n, kind) for n in numbers)))
    assert isinstance(new, (Unary, Binary, Select, Apply))
    return replace(new, type=kind)


def _agreed(pair: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The two sides of a comparison in one type: the wider one, if they have two."""
    wide = any(e.type == WEAK_INT for e in pair)
    return tuple(to_type(e, WEAK_INT if wide else WEAK_INT32) for e in pair)


def _same_types(e: Expr, inside: tuple[Expr, ...]) -> Expr:
    """Operands in the types that they had, but for indices, which may be of any."""
    pairs = zip(inside, children(e))
    old_types = isinstance(e, (Unary, Binary, Select, Pack))
    return with_children(e, tuple(to_type(n, o.type) if old_types else n for n, o in pairs))
