"""Python's floats in another width: ``@kernel(weak_float="float32")``.

Only weak floats change, and weak complex numbers with them; what stands beside a numpy float64
has become a float64 before.
"""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_COMPLEX, WEAK_FLOAT, Array, Scalar, Type
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    Binary,
    Call,
    Cast,
    Const,
    Declare,
    Expr,
    For,
    Function,
    Member,
    Module,
    Pack,
    Print,
    Select,
    Stmt,
    Unary,
    Var,
    field_type,
)
from pycu2c.ir.print_format import scalar_types
from pycu2c.ir.walk import map_expr, map_functions, map_stmt

_COMPLEX = {dtypes.FLOAT32: dtypes.COMPLEX64}


def narrow_weak_floats(module: Module, to: DType) -> Module:
    """``mul.float(0.1, to_float(i))`` -> ``mul.single(0.1, to_single(i))``."""
    rule = _Narrowing(Scalar(to, weak=True), Scalar(_COMPLEX[to], weak=True))
    return map_functions(module, rule.function)


@dataclass(frozen=True, slots=True)
class _Narrowing:
    real: Scalar
    complex: Scalar

    def function(self, function: Function) -> Function:
        body = map_stmt(map_expr(function.body, self._expression), lambda s: (self._statement(s),))
        return replace(
            function,
            parameters=tuple(replace(p, type=_seen(self, p.type)) for p in function.parameters),
            result=self.type(function.result),
            body=body,
        )

    def type(self, kind: Type) -> Type:
        return _seen(self, kind) if isinstance(kind, (Scalar, Array)) else kind

    def scalar(self, kind: Scalar) -> Scalar:
        if kind == WEAK_FLOAT:
            return self.real
        return self.complex if kind == WEAK_COMPLEX else kind

    def _statement(self, s: Stmt) -> Stmt:
        match s:
            case Assign() | Declare() | For() | Allocate():
                return replace(s, var=replace(s.var, type=_seen(self, s.var.type)))
            case Print():  # the text is made of the numbers that Python has
                pairs = zip(s.values, scalar_types(s.text))
                return replace(s, values=tuple(_as(value, kind) for value, kind in pairs))
            case _:
                return s

    def _expression(self, e: Expr) -> Expr:
        """One node whose operands are done."""
        match e:
            case Pack():
                return self._pack(e)
            case _ if e.type not in (WEAK_FLOAT, WEAK_COMPLEX):
                return e
            case Const():
                return cast(e, self.scalar(e.type))
            case Cast():
                return cast(e.operand, self.scalar(e.type))
            case Member():
                return self._member(e)
            case Unary() | Binary() | Select():
                return replace(e, type=self.scalar(e.type))
            case Apply() | Call():
                return replace(e, type=self.type(e.type))
            case Var():
                return replace(e, type=_seen(self, e.type))
            case _:
                return e

    def _member(self, e: Member) -> Expr:
        """A record of several results keeps the width that its fields have."""
        field = field_type(scalar_type(e.operand), (e.field,))
        if field.dtype is self.real.dtype:
            return replace(e, type=self.real)
        return cast(replace(e, type=field), self.scalar(e.type))

    def _pack(self, e: Pack) -> Expr:
        kind = self.scalar(e.type)
        fields = [Scalar(field.dtype) for field in kind.dtype.fields]
        parts = [_as(part, field) for part, field in zip(e.parts, fields, strict=True)]
        return replace(e, type=kind, parts=tuple(parts))


def _seen(rule: _Narrowing, kind: Scalar | Array) -> Scalar | Array:
    return rule.scalar(kind) if isinstance(kind, Scalar) else kind


def _as(part: Expr, field: Scalar) -> Expr:
    own = scalar_type(part)
    return part if own.dtype is field.dtype else cast(part, field)
