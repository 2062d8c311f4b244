"""Compute Python floats in another precision: ``@kernel(weak_float="float32")``.

Only weak floats and weak complex numbers change. Operands of NumPy float64 values were converted to
float64 before. Requires the form TYPED (``ir/forms.py``). Guarantees that no weak float64 or
complex128 remains.
"""

from __future__ import annotations

from pycu2c.base import dtypes
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import WEAK_COMPLEX, WEAK_FLOAT, Array, Scalar, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.print_format import scalar_types
from pycu2c.ir.walk import map_expr, map_functions, map_stmt

_COMPLEX_DTYPES = {dtypes.FLOAT32: dtypes.COMPLEX64}


def narrow_weak_floats(module: ir.Module, dtype: DType) -> ir.Module:
    """Narrow all weak floats of a module.

    In printed IR, ``mul.float(0.1, to_float(i))`` -> ``mul.single(0.1, to_single(i))``.
    """
    types = _WeakFloatTypes(Scalar(dtype, weak=True), Scalar(_COMPLEX_DTYPES[dtype], weak=True))
    return map_functions(module, types.function)


@dataclass(frozen=True, slots=True)
class _WeakFloatTypes:
    real: Scalar
    complex: Scalar

    def function(self, function: ir.Function) -> ir.Function:
        body = map_stmt(map_expr(function.body, self._expression), lambda s: (self._statement(s),))
        return replace(
            function,
            parameters=tuple(
                replace(p, type=_narrow_type(self, p.type)) for p in function.parameters
            ),
            result=self.type(function.result),
            body=body,
        )

    def type(self, old_type: Type) -> Type:
        return _narrow_type(self, old_type) if isinstance(old_type, (Scalar, Array)) else old_type

    def scalar(self, old_type: Scalar) -> Scalar:
        if old_type == WEAK_FLOAT:
            return self.real
        return self.complex if old_type == WEAK_COMPLEX else old_type

    def _statement(self, s: ir.Stmt) -> ir.Stmt:
        match s:
            case ir.Assign() | ir.Declare() | ir.For() | ir.Allocate():
                return replace(s, var=replace(s.var, type=_narrow_type(self, s.var.type)))
            case ir.Print():  # the text prints Python's numbers
                pairs = zip(s.values, scalar_types(s.text))
                return replace(
                    s, values=tuple(_convert(value, old_type) for value, old_type in pairs)
                )
            case _:
                return s

    def _expression(self, e: ir.Expr) -> ir.Expr:
        """Narrow one node whose operands are narrowed already."""
        match e:
            case ir.Pack():
                return self._pack(e)
            case _ if e.type not in (WEAK_FLOAT, WEAK_COMPLEX):
                return e
            case ir.Const():
                return cast(e, self.scalar(e.type))
            case ir.Cast():
                return cast(e.operand, self.scalar(e.type))
            case ir.Member():
                return self._member(e)
            case ir.Unary() | ir.Binary() | ir.Select():
                return replace(e, type=self.scalar(e.type))
            case ir.Apply() | ir.Call():
                return replace(e, type=self.type(e.type))
            case ir.Var():
                return replace(e, type=_narrow_type(self, e.type))
            case _:
                return e

    def _member(self, e: ir.Member) -> ir.Expr:
        """Narrow a member of a structure of several results, whose fields keep their dtypes."""
        field = ir.field_type(scalar_type(e.operand), (e.field,))
        if field.dtype is self.real.dtype:
            return replace(e, type=self.real)
        return cast(replace(e, type=field), self.scalar(e.type))

    def _pack(self, e: ir.Pack) -> ir.Expr:
        new_type = self.scalar(e.type)
        fields = [Scalar(field.dtype) for field in new_type.dtype.fields]
        parts = [_convert(part, field) for part, field in zip(e.parts, fields, strict=True)]
        return replace(e, type=new_type, parts=tuple(parts))


def _narrow_type(types: _WeakFloatTypes, old_type: Scalar | Array) -> Scalar | Array:
    return types.scalar(old_type) if isinstance(old_type, Scalar) else old_type


def _convert(e: ir.Expr, target: Scalar) -> ir.Expr:
    return e if scalar_type(e).dtype is target.dtype else cast(e, target)
