"""Infer the types that numba gives to the numbers of a kernel, on the typed IR of pycu2c.

Implements numba's promotion rules, 64-bit literals and unification of the values of a variable.
Values without a rule have their pycu2c type.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Callable, Mapping

from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import (
    Scalar,
    boolean,
    complex64,
    complex128,
    float32,
    float64,
    int64,
    promote,
    to_strong,
    uint64,
)
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.operators import DIV, NOT, POW, SHL, SHR, Operator, bool_result

# ---- rules -------------------------------------------------------------------------------------


def arithmetic_type(op: Operator, a: Scalar, b: Scalar) -> Scalar:
    """Return the type of ``a op b``; integer results have 64 bits."""
    if op.result is bool_result:
        return boolean
    if op is POW and a == float32 and b.dtype.is_integral:
        return float32
    if not (a.dtype.is_integral and b.dtype.is_integral):
        return _floating_type(a, b)
    if op is DIV:
        return float64
    operands = (a,) if op in (SHL, SHR) else (a, b)
    return uint64 if all(map(_is_unsigned, operands)) and op is not POW else _integer_type(op, a, b)


def _integer_type(op: Operator, a: Scalar, b: Scalar) -> Scalar:
    if op is POW and _is_unsigned(a) and _is_unsigned(b):
        return uint64
    return boolean if a == b == boolean and op.name in ("and", "or", "xor") else int64


def unary_type(a: Scalar) -> Scalar:
    """Return the type of ``-a`` and ``~a``."""
    if not a.dtype.is_integral:
        return a
    return uint64 if _is_unsigned(a) else int64


def unify_types(a: Scalar, b: Scalar) -> Scalar:
    """Return the type of a variable with values of both types, and of ``min(a, b)``."""
    if a == b or a.dtype.is_unpromotable or b.dtype.is_unpromotable:
        return a
    if a.dtype.is_integral and b.dtype.is_integral:
        return promote(a, b)
    return _floating_type(a, b, max_unsigned_bits=16)


def _floating_type(a: Scalar, b: Scalar, max_unsigned_bits: int = 15) -> Scalar:
    """Return the type of an operation with at least one floating-point or complex operand.

    With float32, signed integers of up to 16 bits and unsigned ones of up to ``max_unsigned_bits``
    are float32.
    """
    is_complex = a.dtype.is_complex or b.dtype.is_complex
    fits = all(_fits_float32(x, max_unsigned_bits) for x in (a, b))
    if is_complex:
        return complex64 if fits else complex128
    return float32 if fits else float64


def _fits_float32(a: Scalar, max_unsigned_bits: int) -> bool:
    if a.dtype.kind is DTypeKind.UNSIGNED:
        return a.dtype.bits <= max_unsigned_bits
    return a.dtype.bits <= 16 if a.dtype.is_integral else a.dtype.real.bits <= 32


def _is_unsigned(a: Scalar) -> bool:
    return a.dtype.kind is DTypeKind.UNSIGNED


# ---- functions -----------------------------------------------------------------------------

_UNIFYING_INTRINSICS = ("min", "max")
_MAX_ITERATIONS = 20  # of the inference


@dataclass(slots=True, eq=False)
class NumbaTypes:
    """The types in one function.

    ``global_number`` returns the Python number of a global name, or None.
    """

    function: ir.Function
    global_number: Callable[[str], object]
    variables: dict[str, Scalar] = field(default_factory=dict)
    literal_types: dict[Span, Scalar | None] = field(default_factory=dict)

    def infer(self) -> None:
        """Infer the types of variables by unification until a fixed point."""
        previous: Mapping[str, Scalar] | None = None
        for _ in range(_MAX_ITERATIONS):
            if previous == self.variables:
                return
            previous = dict(self.variables)
            for s in statements(self.function.body):
                if isinstance(s, ir.Assign):
                    self._add_value(s.var.name, s.value)
                elif isinstance(s, ir.For):
                    self.variables[s.var.name] = int64
            for e in all_expressions(self.function.body):
                if isinstance(e, ir.Let):
                    self._add_value(e.name, e.value)

    def _add_value(self, name: str, value: ir.Expr) -> None:
        inferred = self.type_of(value)
        previous = self.variables.get(name)
        if inferred is not None:
            self.variables[name] = inferred if previous is None else unify_types(previous, inferred)

    def type_of(self, e: ir.Expr) -> Scalar | None:
        """Return the type of a value; None if it is not a number."""
        if not isinstance(e.type, Scalar):
            return None
        match e:
            case ir.Const():
                return self.literal_type(e) or to_strong(e.type)
            case ir.Var():
                return self.variables.get(e.name, to_strong(e.type))
            case ir.Binary():
                left, right = self._operand_type(e.left), self._operand_type(e.right)
                return arithmetic_type(e.op, left, right) if left and right else to_strong(e.type)
            case ir.Unary():
                inner = self._operand_type(e.operand)
                return boolean if e.op is NOT or inner is None else unary_type(inner)
            case ir.Cast():
                return self._operand_type(e) if is_implicit(e) else to_strong(e.type)
            case ir.Select():
                return self._unified_type(e.then, e.orelse)
            case ir.Logical():
                return boolean
            case ir.Let():
                return self.type_of(e.body)
            case ir.Dim() | ir.Stride():
                return int64
            case ir.Apply() if e.intrinsic.name in _UNIFYING_INTRINSICS:
                return self._unified_type(*e.arguments)
            case ir.Apply() if e.type.dtype.real in (float32.dtype, float64.dtype):
                return self._function_result(e)
            case _:
                return to_strong(e.type)

    def _operand_type(self, e: ir.Expr) -> Scalar | None:
        return self.type_of(without_implicit_cast(e))

    def _unified_type(self, *values: ir.Expr) -> Scalar | None:
        types = [type_ for v in values if (type_ := self._operand_type(v))]
        common = types[0] if types else None
        for type_ in types[1:]:
            assert common is not None
            common = unify_types(common, type_)
        return common

    def _function_result(self, e: ir.Apply) -> Scalar | None:
        """Return the result type of a function: its widest float argument; float64 for integers."""
        assert isinstance(e.type, Scalar)
        types = [type_ for v in e.arguments if (type_ := self._operand_type(v))]
        is_math_function = e.intrinsic.name.startswith(("math.", "numpy.")) and len(types) > 0
        if not is_math_function or e.type.dtype.is_complex:
            return to_strong(e.type)
        return float32 if all(type_ == float32 for type_ in types) else float64

    def literal_type(self, e: ir.Const) -> Scalar | None:
        """Return the type of a Python number: a literal or a global; None if it was converted."""
        if e.span not in self.literal_types:
            self.literal_types[e.span] = self._infer_literal(e)
        return self.literal_types[e.span]

    def _infer_literal(self, e: ir.Const) -> Scalar | None:
        assert isinstance(e.type, Scalar)
        if e.type.weak:
            return to_strong(e.type)
        line = linecache.getline(e.span.file, e.span.line)
        if e.span.line != e.span.end_line or _is_converted(line, e.span):
            return None
        value = _widest_number(source_text(e.span), self.global_number)
        return _PYTHON_TYPES.get(type(value))


_PYTHON_TYPES: dict[type, Scalar] = {
    bool: boolean,
    int: int64,
    float: float64,
    complex: complex128,
}


def source_text(span: Span) -> str:
    """Return the source of a span on one line; empty otherwise."""
    line = linecache.getline(span.file, span.line)
    return line[span.column : span.end_column] if span.line == span.end_line else ""


def _is_converted(line: str, span: Span) -> bool:
    """Return whether a literal is the only argument of a call: ``float32(0.5)``."""
    is_called = re.search(r"[\w\]]\s*\(\s*$", line[: span.column])
    return bool(is_called and re.match(r"\s*,?\s*\)", line[span.end_column :]))


def _widest_number(text: str, global_number: Callable[[str], object]) -> object:
    """Return a constant expression's operand with the widest type; None for other expressions."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return None
    numbers: list[object] = []
    pending: list[ast.AST] = [tree.body]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Name, ast.Attribute)):
            numbers.append(global_number(ast.unparse(node)))
        elif isinstance(node, ast.Constant):
            numbers.append(node.value)
        elif isinstance(node, ast.Call):
            return None
        else:
            pending += ast.iter_child_nodes(node)
            numbers += [0.5] if isinstance(node, ast.Div) else []  # a quotient is a float
    python_types = (bool, int, float, complex)
    if not numbers or any(type(n) not in python_types for n in numbers):
        return None
    return max(numbers, key=lambda n: python_types.index(type(n)))


def is_implicit(e: ir.Cast) -> bool:
    """Return whether a cast is implicit: an operand conversion that is not in the source."""
    return e.span == e.operand.span


def without_implicit_cast(e: ir.Expr) -> ir.Expr:
    """Return an operand without its implicit cast."""
    return e.operand if isinstance(e, ir.Cast) and is_implicit(e) else e
