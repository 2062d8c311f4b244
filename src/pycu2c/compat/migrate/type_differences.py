"""Report where a typed kernel computes in other types than numba, with visible effects.

Of differences that follow from each other, only the first is is_reported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

import numpy as np

from pycu2c.base.diagnostics import Label
from pycu2c.base.types import Array, Scalar, float32, float64, int64, to_strong, uint64
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.numba_types import NumbaTypes, source_text, without_implicit_cast
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.explain.value_origins import source_name
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import children, operands, statements
from pycu2c.ops import operators as ops

# truncation at the end gives the same result
_MODULAR_OPERATORS = (
    ops.ADD,
    ops.SUB,
    ops.MUL,
    ops.SHL,
    ops.AND,
    ops.OR,
    ops.XOR,
    ops.NEG,
    ops.INVERT,
)
_OVERFLOWING_OPERATORS = (ops.ADD, ops.SUB, ops.MUL, ops.SHL, ops.POW, ops.NEG, ops.INVERT)
# the result depends on the signedness
_SIGN_SENSITIVE_OPERATORS = (ops.FLOORDIV, ops.MOD, ops.SHR, ops.LT, ops.LE, ops.GT, ops.GE)
# computed in float64 and rounded to float32, the result is the same as in float32
_ROUNDED_OPERATORS = (ops.ADD, ops.SUB, ops.MUL, ops.DIV)

_PRECISION_HINT = (
    "if precision matters, convert an operand with float64(…) and keep the result in float64"
)
_INITIAL_VALUE_HINT = "write float64(…) to compute as numba does, or float32(…) to confirm the type"
_WIDTH_HINT = "if the number may be larger, convert an operand: int64(…)"
_WRAP_HINT = "convert an operand: int32(…), or int64(…) as numba does"


def differences(
    module: ir.Module, file: str, global_number: Callable[[str], object]
) -> Iterator[Remark]:
    """Yield the remarks for a kernel and the functions of its file that it calls."""
    for function in (module.kernel, *module.device_functions):
        if function.external_code is None and function.span.file == file:
            yield from _DifferenceAnalysis(function, global_number).remarks()


class _DifferenceAnalysis:
    """The analysis of one function."""

    def __init__(self, function: ir.Function, global_number: Callable[[str], object]) -> None:
        self._function, self._global_number = function, global_number
        self._types = NumbaTypes(function, global_number)
        self._parameters = {p.name for p in function.parameters}
        self._types.infer()

    def remarks(self) -> Iterator[Remark]:
        for s in statements(self._function.body):
            yield from self._statement_remarks(s)

    def _statement_remarks(self, s: ir.Stmt) -> Iterator[Remark]:
        match s:
            case ir.Store(value=value):
                element = value.type if isinstance(value.type, Scalar) else None
                yield from self._expression_remarks(value, element)
                for index in s.indices:
                    yield from self._expression_remarks(index)
            case ir.Assign(var=var, value=ir.Const() as value):
                yield from self._initial_value_remarks(var, value)
            case _:
                for e in operands(s):
                    yield from self._expression_remarks(e)

    def _initial_value_remarks(self, var: ir.Var, value: ir.Const) -> Iterator[Remark]:
        """Yield a remark for the initial value of a variable that is a float64 in numba."""
        if not self._is_narrowed(var) or self._types.literal_type(value) is None:
            return
        name = source_name(var.name)
        text = f"`{name}` is float64 in numba; in pycu2c it is float32, like the values added to it"
        label = Label(value.span, text)
        yield Remark(remarks.FLOAT64, (label,), _INITIAL_VALUE_HINT, self._topic(name))

    def _topic(self, name: str) -> str:
        return f"{self._function.name} {name}"

    def _expression_remarks(
        self, e: ir.Expr, stored_type: Scalar | None = None, is_reported: bool = False
    ) -> Iterator[Remark]:
        """Yield the remarks for an expression.

        ``stored_type``: the type that the value is converted to next. ``is_reported``: an enclosing
        integer expression has been reported.
        """
        child_stored_type, child_is_reported = None, False
        if isinstance(e, (ir.Binary, ir.Unary)) or _is_unifying(e):
            remark = None if is_reported else self._remark(e, stored_type)
            if remark is not None:
                yield remark
            is_integer = isinstance(e.type, Scalar) and e.type.dtype.is_integer
            if isinstance(e, (ir.Binary, ir.Unary)) and e.op in _MODULAR_OPERATORS and is_integer:
                child_stored_type = stored_type
                child_is_reported = is_reported or remark is not None
        if isinstance(e, ir.Cast):
            assert isinstance(e.type, Scalar)
            child_stored_type = to_strong(e.type)
        elif isinstance(e, ir.Apply):
            child_stored_type = _atomic_element_type(e)
        for child in children(e):
            yield from self._expression_remarks(child, child_stored_type, child_is_reported)

    # ---- one expression ----

    def _remark(self, e: ir.Expr, stored_type: Scalar | None) -> Remark | None:
        if isinstance(e, ir.Binary) and (sign_remark := self._sign_remark(e)):
            return sign_remark
        if isinstance(e, ir.Binary) and e.op.result is ops.bool_result:
            return self._comparison_remark(e)
        if self._is_narrowed(e):
            return self._float_remark(e, stored_type)
        if isinstance(e, (ir.Binary, ir.Unary)) and e.op in _OVERFLOWING_OPERATORS:
            return self._integer_remark(e, stored_type)
        return None

    def _sign_remark(self, e: ir.Binary) -> Remark | None:
        """Report int64 with uint64, which is float64 in pycu2c."""
        for value in (
            e,
            *(without_implicit_cast(x) for x in children(e) if e.op in _SIGN_SENSITIVE_OPERATORS),
        ):
            numba_type = self._types.type_of(value)
            if isinstance(value, ir.Const) or not isinstance(value.type, Scalar):
                continue
            pycu2c_type = to_strong(value.type)
            differing = (uint64, float64) if e.op in _SIGN_SENSITIVE_OPERATORS else (float64,)
            if numba_type == int64 and pycu2c_type in differing:
                label = Label(e.span, f"{pycu2c_type} in pycu2c")
                hint = "convert one operand to the type of the other"
                return Remark(remarks.SIGN, (label,), hint)
        return None

    def _is_narrowed(self, e: ir.Expr) -> bool:
        """Return whether an expression is float64 in numba; parameters have their own types."""
        if isinstance(e, ir.Var) and e.name in self._parameters:
            return False
        numba_type = self._types.type_of(e)
        if numba_type is None or not isinstance(e.type, Scalar):
            return False
        return numba_type.dtype.real is float64.dtype and e.type.dtype.real is float32.dtype

    def _float_remark(self, e: ir.Expr, stored_type: Scalar | None) -> Remark | None:
        values = _value_operands(e)
        variables = [without_implicit_cast(v) for v in values if not isinstance(v, ir.Const)]
        if any(map(self._is_narrowed, variables)):
            return None
        if stored_type == float32 and self._rounds_alike(e, values):
            return None
        label = Label(e.span, self._cause(values))
        return Remark(remarks.FLOAT64, (label,), _PRECISION_HINT, self._topic("float"))

    def _rounds_alike(self, e: ir.Expr, values: tuple[ir.Expr, ...]) -> bool:
        """Return whether float64 rounded to float32 gives the same number."""
        if isinstance(e, ir.Binary) and e.op not in _ROUNDED_OPERATORS:
            return False
        return all(
            self._is_exact(v)
            if isinstance(v, ir.Const)
            else self._types.type_of(without_implicit_cast(v)) == float32
            for v in values
        )

    def _is_exact(self, e: ir.Const) -> bool:
        """Return whether a literal is exactly representable in float32."""
        text = source_text(e.span)
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = self._global_number(text)
        return isinstance(value, (int, float)) and float(np.float32(value)) == value

    def _cause(self, values: tuple[ir.Expr, ...]) -> str:
        for v in values:
            if isinstance(v, ir.Const) and self._types.literal_type(v) is not None:
                return f"`{source_text(v.span)}` is {self._types.type_of(v)} in numba"
        types = [
            str(type_) for v in values if (type_ := self._types.type_of(without_implicit_cast(v)))
        ]
        return f"{' and '.join(dict.fromkeys(types))} are float64 in numba"

    def _comparison_remark(self, e: ir.Binary) -> Remark | None:
        """Report a comparison of a float32 with an inexact literal, which numba does not round."""
        pairs = ((e.left, e.right), (e.right, e.left))
        for value, other in pairs:
            is_float = other.type == float32 and not isinstance(other, ir.Const)
            if not (is_float and isinstance(value, ir.Const)) or self._is_narrowed(
                without_implicit_cast(other)
            ):
                continue
            if self._types.literal_type(value) is not None and not self._is_exact(value):
                literal = source_text(value.span)
                text = f"`{literal}` is not a float32; pycu2c compares with the nearest one"
                topic = self._topic("comparison")
                return Remark(remarks.FLOAT64, (Label(e.span, text),), _PRECISION_HINT, topic)
        return None

    def _integer_remark(self, e: ir.Binary | ir.Unary, stored_type: Scalar | None) -> Remark | None:
        numba_type = self._types.type_of(e)
        if numba_type is None or not isinstance(e.type, Scalar) or not e.type.dtype.is_integer:
            return None
        pycu2c_type = to_strong(e.type)
        if not numba_type.dtype.is_integer or numba_type.dtype.bits <= pycu2c_type.dtype.bits:
            return None
        is_converted_to_integer = stored_type is not None and stored_type.dtype.is_integral
        if (
            is_converted_to_integer
            and stored_type
            and stored_type.dtype.bits <= pycu2c_type.dtype.bits
            and e.op in _MODULAR_OPERATORS
        ):
            return None
        is_small = pycu2c_type.dtype.bits <= 16
        kind, hint = (
            (remarks.SMALL_INTEGERS, _WRAP_HINT) if is_small else (remarks.INT32, _WIDTH_HINT)
        )
        label = Label(e.span, f"{numba_type} in numba, {pycu2c_type} in pycu2c")
        return Remark(kind, (label,), hint, self._topic(str(pycu2c_type)))


def _value_operands(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the operands; of a selection without the condition."""
    return (e.then, e.orelse) if isinstance(e, ir.Select) else children(e)


def _is_unifying(e: ir.Expr) -> bool:
    return isinstance(e, ir.Select) or (
        isinstance(e, ir.Apply) and e.intrinsic.name in ("min", "max")
    )


def _atomic_element_type(e: ir.Apply) -> Scalar | None:
    """Return the element type of an atomic operation; None for other calls."""
    first = e.arguments[0] if e.arguments else None
    if not isinstance(first, ir.ElementOf) or not isinstance(first.array.type, Array):
        return None
    return Scalar(first.array.type.dtype)
