"""Report where a typed kernel computes in fewer bits than numba, with visible effects.

In numba, Python numbers have 64 bits, and so has the result of an operation with one, except
``float32 ** int``. Integer operations have 64 bits. Of differences that follow from each other,
only the first is reported.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Iterator

import numpy as np

from pycu2c.base.diagnostics import Label
from pycu2c.base.source import Span
from pycu2c.base.types import Array, Scalar, float32, to_strong
from pycu2c.compat.migrate import remarks
from pycu2c.compat.migrate.remarks import Remark
from pycu2c.explain.value_origins import source_name
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import children, operands, statements
from pycu2c.ops import operators as ops

# truncation at the end gives the same result
_MODULAR_OPERATORS = (
    ops.ADD, ops.SUB, ops.MUL, ops.SHL, ops.AND, ops.OR, ops.XOR, ops.NEG, ops.INVERT,
)  # fmt: skip
_OVERFLOWING_OPERATORS = (ops.ADD, ops.SUB, ops.MUL, ops.SHL, ops.POW, ops.NEG, ops.INVERT)
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
    """Yield the remarks for a kernel and the functions of its file that it calls.

    ``global_number`` returns the Python number of a global name, or None.
    """
    for function in (module.kernel, *module.device_functions):
        if function.external_code is None and function.span.file == file:
            analysis = _DifferenceAnalysis(function.name, global_number)
            for s in statements(function.body):
                yield from analysis.statement_remarks(s)


class _DifferenceAnalysis:
    """The analysis of one function, whose statements are visited in order."""

    def __init__(self, function: str, global_number: Callable[[str], object]) -> None:
        self._function, self._global_number = function, global_number
        self._wide_variables: set[str] = set()  # float64 in numba

    def statement_remarks(self, s: ir.Stmt) -> Iterator[Remark]:
        match s:
            case ir.Store(value=value):
                element = value.type if isinstance(value.type, Scalar) else None
                yield from self._expression_remarks(value, element)
                for index in s.indices:
                    yield from self._expression_remarks(index)
            case ir.Assign(var=var, value=value) if _is_float32(var) and self._is_wide(value):
                if isinstance(value, ir.Const):
                    yield self._initial_value_remark(var, value)
                else:
                    yield from self._expression_remarks(value)
                self._wide_variables.add(var.name)
            case _:
                for e in operands(s):
                    yield from self._expression_remarks(e)

    def _initial_value_remark(self, var: ir.Var, value: ir.Const) -> Remark:
        name = source_name(var.name)
        text = f"`{name}` is float64 in numba; in pycu2c it is float32, like the values added to it"
        return self._remark(remarks.FLOAT64, Label(value.span, text), _INITIAL_VALUE_HINT, name)

    def _remark(self, kind: remarks.RemarkKind, label: Label, hint: str, topic: str) -> Remark:
        return Remark(kind, (label,), hint, f"{self._function} {topic}")

    def _expression_remarks(
        self, e: ir.Expr, stored_type: Scalar | None = None, is_reported: bool = False
    ) -> Iterator[Remark]:
        """Yield the remarks for an expression.

        ``stored_type``: the type that the value is converted to next. ``is_reported``: an enclosing
        integer expression has been reported.
        """
        child_stored_type, child_is_reported = None, False
        if _is_operation(e):
            remark = self._float_remark(e, stored_type)
            if isinstance(e, (ir.Binary, ir.Unary)) and _is_integer(e):
                remark = None if is_reported else self._integer_remark(e, stored_type)
                if e.op in _MODULAR_OPERATORS:
                    child_stored_type = stored_type
                    child_is_reported = is_reported or remark is not None
            if remark is not None:
                yield remark
        if isinstance(e, ir.Cast):
            assert isinstance(e.type, Scalar)
            child_stored_type = to_strong(e.type)
        elif isinstance(e, ir.Apply):
            child_stored_type = _atomic_element_type(e)
        for child in children(e):
            yield from self._expression_remarks(child, child_stored_type, child_is_reported)

    # ---- floating point ----

    def _is_wide(self, e: ir.Expr) -> bool:
        """Return whether a number has 64 bits in numba, although it is converted to float32."""
        e = _without_implicit_cast(e)
        if isinstance(e.type, Scalar) and e.type.weak:
            return True
        match e:
            case ir.Const():
                return self._is_python_number(e.span)
            case ir.Var():
                return e.name in self._wide_variables
            case _:
                return _is_float32(e) and any(map(self._is_wide, _value_operands(e)))

    def _is_python_number(self, span: Span) -> bool:
        """Return whether a constant consists of Python numbers that no call converts."""
        text, line = _source_text(span), linecache.getline(span.file, span.line)
        is_argument = re.search(r"[\w\]]\s*\(\s*$", line[: span.column])
        if is_argument and re.match(r"\s*,?\s*\)", line[span.end_column :]):
            return False  # float32(0.5)
        names = re.findall(r"(?<![\w.])[A-Za-z_][\w.]*", text)
        return text != "" and all(self._global_number(name) is not None for name in names)

    def _float_remark(self, e: ir.Expr, stored_type: Scalar | None) -> Remark | None:
        values = [_without_implicit_cast(v) for v in _value_operands(e)]
        causes = [v for v in values if self._is_wide(v)]
        if not _is_float32(e) or not causes or any(map(self._is_wide_result, causes)):
            return None
        if stored_type == float32 and self._rounds_alike(e, values):
            return None
        label = Label(e.span, f"`{_source_text(causes[0].span)}` has 64 bits in numba")
        return self._remark(remarks.FLOAT64, label, _PRECISION_HINT, "float")

    def _is_wide_result(self, v: ir.Expr) -> bool:
        """Return whether an operand is wide because of a number that has been reported."""
        return _is_float32(v) and not isinstance(v, ir.Const) and self._is_wide(v)

    def _rounds_alike(self, e: ir.Expr, values: list[ir.Expr]) -> bool:
        """Return whether float64 rounded to float32 gives the same number."""
        if isinstance(e, ir.Binary) and e.op not in _ROUNDED_OPERATORS:
            return False
        return all(self._is_exact(v) if self._is_wide(v) else v.type == float32 for v in values)

    def _is_exact(self, e: ir.Expr) -> bool:
        """Return whether a value is a literal that is exactly representable in float32."""
        text = _source_text(e.span)
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = self._global_number(text)
        return isinstance(value, (int, float)) and float(np.float32(value)) == value

    # ---- integers ----

    def _integer_remark(self, e: ir.Binary | ir.Unary, stored_type: Scalar | None) -> Remark | None:
        assert isinstance(e.type, Scalar)
        bits = to_strong(e.type).dtype.bits
        if bits == 64 or e.op not in _OVERFLOWING_OPERATORS:
            return None
        is_truncated = (
            stored_type is not None
            and stored_type.dtype.is_integral
            and stored_type.dtype.bits <= bits
        )
        if is_truncated and e.op in _MODULAR_OPERATORS:
            return None
        kind, hint = remarks.INT32, _WIDTH_HINT
        if bits <= 16:
            kind, hint = remarks.SMALL_INTEGERS, _WRAP_HINT
        label = Label(e.span, f"64 bits in numba, {to_strong(e.type)} in pycu2c")
        return self._remark(kind, label, hint, str(e.type))


def _value_operands(e: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return the operands that determine the type of a result."""
    if isinstance(e, ir.Binary) and e.op is ops.POW:
        right = _without_implicit_cast(e.right)
        is_integer_power = _source_text(right.span).isdigit() or _is_integer(right)
        return (e.left,) if is_integer_power else (e.left, e.right)
    if isinstance(e, ir.Select):
        return e.then, e.orelse
    return children(e) if _is_operation(e) else ()


def _is_operation(e: ir.Expr) -> bool:
    return isinstance(e, (ir.Binary, ir.Unary, ir.Select)) or (
        isinstance(e, ir.Apply) and e.intrinsic.name in ("min", "max")
    )


def _is_float32(e: ir.Expr) -> bool:
    """Return whether an expression is float32 or complex64."""
    return isinstance(e.type, Scalar) and not e.type.weak and e.type.dtype.real is float32.dtype


def _is_integer(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype.is_integer


def _without_implicit_cast(e: ir.Expr) -> ir.Expr:
    """Return an operand without the conversion to its operation, which is not in the source."""
    return e.operand if isinstance(e, ir.Cast) and e.span == e.operand.span else e


def _source_text(span: Span) -> str:
    """Return the source of a span on one line; empty otherwise."""
    line = linecache.getline(span.file, span.line)
    return line[span.column : span.end_column] if span.line == span.end_line else ""


def _atomic_element_type(e: ir.Apply) -> Scalar | None:
    """Return the element type of an atomic operation; None for other calls."""
    first = e.arguments[0] if e.arguments else None
    if not isinstance(first, ir.ElementOf) or not isinstance(first.array.type, Array):
        return None
    return Scalar(first.array.type.dtype)
