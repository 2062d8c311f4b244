"""The operators of Python: operand types, result types and semantics.

The front end inserts the conversions to the type that ``operands`` returns. The reference
interpreter and ``constant_folding.py`` call ``reference``; code generation prints ``c``.
``transforms/common/legalize.py`` replaces operators without ``c``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base import dtypes, types
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass
from pycu2c.base.values import Number, convert, scalar_of

# ---- type rules: the common type of the operands, then the type of the result ----------------

# None: not defined for these types
OperandRule = Callable[[types.Scalar, types.Scalar], types.Scalar | None]
ResultRule = Callable[[types.Scalar], types.Scalar]


def numeric(a: types.Scalar, b: types.Scalar) -> types.Scalar:
    """Return the common type; Python's bools are promoted to int."""
    common = types.promote(a, b)
    return types.WEAK_INT if common == types.WEAK_BOOL else common


def real(a: types.Scalar, b: types.Scalar) -> types.Scalar | None:
    """Return the type as ``numeric_bool_as_int8`` does; None for complex numbers."""
    common = numeric_bool_as_int8(a, b)
    return None if common.dtype.is_complex else common


def numeric_no_bool(a: types.Scalar, b: types.Scalar) -> types.Scalar | None:
    """Return the type as ``numeric`` does; None for two NumPy bools."""
    common = numeric(a, b)
    return None if common == types.boolean else common


def floating(a: types.Scalar, b: types.Scalar) -> types.Scalar:
    """Return the common type if it is floating, else float64: the type of true division."""
    common = numeric(a, b)
    if not common.dtype.is_integral:
        return common
    return types.WEAK_FLOAT if common.weak else types.float64


def numeric_bool_as_int8(a: types.Scalar, b: types.Scalar) -> types.Scalar:
    """Return the type as ``numeric`` does; int8 for two NumPy bools, as in NumPy."""
    common = numeric(a, b)
    return types.Scalar(dtypes.INT8) if common == types.boolean else common


def integral(a: types.Scalar, b: types.Scalar) -> types.Scalar | None:
    """Return the common type of integers, for shifts; None for other types."""
    common = numeric_bool_as_int8(a, b)
    return common if common.dtype.is_integer else None


def bitwise(a: types.Scalar, b: types.Scalar) -> types.Scalar | None:
    """Return the common type of integers or bools; None for other types."""
    common = types.promote(a, b)
    return common if common.dtype.is_integral else None


def ordered(a: types.Scalar, b: types.Scalar) -> types.Scalar | None:
    """Return the type as ``comparable`` does; None for complex numbers, which have no order."""
    common = comparable(a, b)
    return None if common.dtype.is_complex else common


def comparable(a: types.Scalar, b: types.Scalar) -> types.Scalar:
    """Return a type in which the comparison is exact, if any: ``uint8 < int`` compares in int64.

    int64 and uint64 have none; the front end splits this comparison by sign.
    """
    common = types.promote(a, b)
    are_integral = a.dtype.is_integral and b.dtype.is_integral
    if are_integral and (a.weak != b.weak) and not common.weak:
        return types.int64 if common != types.Scalar(dtypes.UINT64) else common
    return common


def operand_type(operands: types.Scalar) -> types.Scalar:
    return operands


def bool_result(_: types.Scalar) -> types.Scalar:
    """Return the result type of comparisons, Python's bool, which is weak."""
    return types.WEAK_BOOL


# ---- binary operators --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Operator:
    """A binary operator. ``compute`` takes two numbers of the same type."""

    symbol: str
    name: str
    node: type[ast.AST] | None
    operands: OperandRule
    result: ResultRule
    compute: Callable[[Any, Any], Any]
    c: str | None

    def __repr__(self) -> str:
        return self.name

    def reference(self, a: Number, b: Number) -> Number:
        """Apply the operator to numbers; the reference semantics of all targets."""
        left, right = scalar_of(a), scalar_of(b)
        assert left is not None
        assert right is not None
        if self.result is bool_result:
            return bool(self.compute(*_comparison_pair(a, b, left, right)))
        common = self.operands(left, right)
        if common is None:
            raise TypeError(f"{left} {self.symbol} {right}")
        with np.errstate(all="ignore"):
            value = self.compute(convert(a, common), convert(b, common))
        return convert(value, self.result(common))


def _comparison_pair(
    a: Number, b: Number, left: types.Scalar, right: types.Scalar
) -> tuple[Any, Any]:
    if left.dtype.is_integral and right.dtype.is_integral:
        return int(a), int(b)  # Python's integers compare exactly
    common = types.promote(left, right)
    if common == types.WEAK_FLOAT:
        return a, b  # Python compares an int and a float exactly, too
    return convert(a, common), convert(b, common)


def true_divide(a: Any, b: Any) -> Any:
    return np.true_divide(a, b)


def floor_divide(a: Any, b: Any) -> Any:
    """Return ``a // b``; ``a // 0`` is 0 for integers, as in numpy."""
    if isinstance(a, (int, np.integer)):
        return int(a) // int(b) if b else 0
    return np.floor_divide(a, b)


def modulo(a: Any, b: Any) -> Any:
    """Return ``a % b``; ``a % 0`` is 0 for integers, as in numpy."""
    if isinstance(a, (int, np.integer)):
        return int(a) % int(b) if b else 0
    return np.remainder(a, b)


def power(a: Any, b: Any) -> Any:
    """Return ``a ** b``; an integer to a negative power is truncated to 0, 1 or -1."""
    if isinstance(a, (complex, np.complexfloating)):
        return np.power(a, b)
    if isinstance(a, float):
        a = np.float64(a)
    if not isinstance(a, (int, np.integer)):
        return a**b  # on scalars, because np.power computes ``x ** 0.5`` as a root, also of -inf
    base, exponent = int(a), int(b)
    if exponent >= 0:
        return pow(base, exponent, 1 << 64)  # convert() wraps it to the range of the type
    return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)


def shift_left(a: Any, b: Any) -> Any:
    """Return ``a << b``; 0 if ``b`` is negative, or at least the width of ``a``."""
    bits = 64 if isinstance(a, int) else a.dtype.itemsize * 8
    return int(a) << int(b) if 0 <= int(b) < bits else 0


def shift_right(a: Any, b: Any) -> Any:
    """Return ``a >> b``; only sign bits if ``b`` is negative, or at least the width of ``a``."""
    bits = 64 if isinstance(a, int) else a.dtype.itemsize * 8
    return int(a) >> (int(b) if 0 <= int(b) < bits else bits)


ADD = Operator("+", "add", ast.Add, numeric, operand_type, operator.add, "+")
SUB = Operator("-", "sub", ast.Sub, numeric_no_bool, operand_type, operator.sub, "-")
MUL = Operator("*", "mul", ast.Mult, numeric, operand_type, operator.mul, "*")
DIV = Operator("/", "div", ast.Div, floating, operand_type, true_divide, "/")
FLOORDIV = Operator("//", "floordiv", ast.FloorDiv, real, operand_type, floor_divide, None)
MOD = Operator("%", "mod", ast.Mod, real, operand_type, modulo, None)
POW = Operator("**", "pow", ast.Pow, numeric_bool_as_int8, operand_type, power, None)
SHL = Operator("<<", "shl", ast.LShift, integral, operand_type, shift_left, None)
SHR = Operator(">>", "shr", ast.RShift, integral, operand_type, shift_right, None)
AND = Operator("&", "and", ast.BitAnd, bitwise, operand_type, operator.and_, "&")
OR = Operator("|", "or", ast.BitOr, bitwise, operand_type, operator.or_, "|")
XOR = Operator("^", "xor", ast.BitXor, bitwise, operand_type, operator.xor, "^")
LT = Operator("<", "lt", ast.Lt, ordered, bool_result, operator.lt, "<")
LE = Operator("<=", "le", ast.LtE, ordered, bool_result, operator.le, "<=")
GT = Operator(">", "gt", ast.Gt, ordered, bool_result, operator.gt, ">")
GE = Operator(">=", "ge", ast.GtE, ordered, bool_result, operator.ge, ">=")
EQ = Operator("==", "eq", ast.Eq, comparable, bool_result, operator.eq, "==")
NE = Operator("!=", "ne", ast.NotEq, comparable, bool_result, operator.ne, "!=")

# the equivalent comparison with exchanged operands
MIRRORED_COMPARISONS = {LT: GT, LE: GE, GT: LT, GE: LE, EQ: EQ, NE: NE}
# the comparison that holds where this one does not, for integers
INVERTED_COMPARISONS = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}

OPERATORS: tuple[Operator, ...] = (
    ADD, SUB, MUL, DIV, FLOORDIV, MOD, POW, SHL, SHR, AND, OR, XOR, LT, LE, GT, GE, EQ, NE,
)  # fmt: skip
BINARY_BY_NODE: dict[type[ast.AST], Operator] = {o.node: o for o in OPERATORS if o.node}


def _c_quotient(a: Any, b: Any) -> int:
    """Return the quotient truncated toward 0; 0 if ``b`` is 0, as it may be in inactive lanes."""
    return abs(int(a)) // abs(int(b)) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def _c_remainder(a: Any, b: Any) -> int:
    return int(a) - int(b) * _c_quotient(a, b)


# operators with the semantics of C, which legalize uses where it has proved them equivalent
C_DIV = Operator("/", "quotient", None, integral, operand_type, _c_quotient, "/")
C_REM = Operator("%", "remainder", None, integral, operand_type, _c_remainder, "%")
C_SHL = Operator("<<", "c_shl", None, integral, operand_type, shift_left, "<<")
C_SHR = Operator(">>", "c_shr", None, integral, operand_type, shift_right, ">>")


@dataclass(frozen=True, slots=True, eq=False)
class UnaryOperator:
    """A unary operator; ``operand`` returns the type of the operation, or None."""

    symbol: str
    name: str
    node: type[ast.AST]
    operand: Callable[[types.Scalar], types.Scalar | None]
    result: ResultRule
    compute: Callable[[Any], Any]
    c: str

    def __repr__(self) -> str:
        return self.name

    def reference(self, a: Number) -> Number:
        """Apply the operator to a number; the reference semantics of all targets."""
        scalar = scalar_of(a)
        assert scalar is not None
        common = self.operand(scalar)
        if common is None:
            raise TypeError(f"{self.symbol}{scalar}")
        with np.errstate(all="ignore"):
            return convert(self.compute(convert(a, common)), self.result(common))


def _signed_operand(a: types.Scalar) -> types.Scalar | None:
    if a.dtype.kind is DTypeKind.BOOL:
        return types.WEAK_INT if a.weak else None
    return a


def _inverted_operand(a: types.Scalar) -> types.Scalar | None:
    if not a.dtype.is_integral:
        return None
    return types.WEAK_INT if a == types.WEAK_BOOL else a


def _any_operand(a: types.Scalar) -> types.Scalar:
    return a


NEG = UnaryOperator("-", "neg", ast.USub, _signed_operand, operand_type, operator.neg, "-")
POS = UnaryOperator("+", "pos", ast.UAdd, _signed_operand, operand_type, operator.pos, "+")
INVERT = UnaryOperator(
    "~", "invert", ast.Invert, _inverted_operand, operand_type, operator.invert, "~"
)
NOT = UnaryOperator("not ", "not", ast.Not, _any_operand, bool_result, operator.not_, "!")

UNARY_OPERATORS: tuple[UnaryOperator, ...] = (NEG, POS, INVERT, NOT)
UNARY_BY_NODE: dict[type[ast.AST], UnaryOperator] = {o.node: o for o in UNARY_OPERATORS}
