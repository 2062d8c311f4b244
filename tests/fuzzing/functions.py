"""Functions: Python's own, conversions, those of ``math`` and numpy, device functions."""

from __future__ import annotations

from fuzzing.expressions import (
    absorbed,
    any_expression,
    any_real,
    expression,
    literal,
    makes,
    not_constant,
    only,
)
from fuzzing.writing import FLOATS, HALVES, INTEGERS, Made, Writer, is_ordered
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Scalar


@makes(1.5, is_ordered)
def extreme(w: Writer, kind: Scalar, depth: int) -> Made | None:
    parts = [expression(w, kind, depth - 1), expression(w, absorbed(w, kind), depth - 1)]
    if w.chance(0.2):
        parts.append(expression(w, kind, depth - 1))
    w.rng.shuffle(parts)
    if all(p.constant for p in parts):
        parts[0] = not_constant(w, parts[0])
    listed = ", ".join(p.text for p in parts)
    return Made(f"{w.pick(('min', 'max'))}({listed})", kind, max(p.bits for p in parts))


@makes(0.6, is_ordered)
def absolute(w: Writer, kind: Scalar, depth: int) -> Made | None:
    inner = expression(w, kind, depth - 1)
    if inner.constant:
        inner = not_constant(w, inner)
    return Made(f"abs({inner.text})", kind, inner.bits)


_EXACT = ("math.sqrt", "math.fabs", "np.floor", "np.ceil", "np.trunc", "np.rint", "np.sqrt")
_TO_INT = ("math.floor", "math.ceil", "math.trunc", "round", "int")


@makes(1.5, lambda kind: kind.dtype.is_float or kind == WEAK_BOOL)
def exact_function(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Functions of floats that have one right answer."""
    if kind == WEAK_BOOL:
        inner = expression(w, w.pick((*FLOATS, *HALVES, WEAK_FLOAT)), depth - 1)
        name = w.pick(("math.isnan", "math.isinf", "math.isfinite", "np.isnan"))
        return Made(f"{name}({inner.text})", kind, 1)
    if not kind.dtype.is_float:
        return None
    first = expression(w, kind, depth - 1)
    if w.chance(0.5):
        return Made(f"{w.pick(_EXACT)}({first.text})", kind)
    if w.chance(0.2):  # the sign of a NaN is nobody's: of an integer, then
        sign = f"float({expression(w, w.pick(INTEGERS), depth - 1).text})"
        return Made(f"math.copysign({first.text}, {sign})", kind)
    return Made(f"math.fmod({first.text}, {expression(w, kind, depth - 1).text})", kind)


@makes(1, only(WEAK_INT))
def whole_of_float(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """A float as an int, where it is neither NaN nor too large."""
    if kind != WEAK_INT:
        return None
    inner = expression(w, w.pick((*FLOATS, *HALVES, WEAK_FLOAT)), depth - 2)
    if inner.constant:
        inner = not_constant(w, inner)
    limit = w.pick((100, 50000))
    test = f"-{limit}.0 < {inner.operand} < {limit}.0"
    text = f"{w.pick(_TO_INT)}({inner.text}) if {test} else {w.rng.randrange(9)}"
    return Made(text, kind, 17)


@makes(1, only(WEAK_INT))
def whole_of_any(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``int`` of what is whole already."""
    if kind != WEAK_INT:
        return None
    inner = expression(w, w.pick((WEAK_BOOL, WEAK_INT, *INTEGERS)), depth - 1)
    if inner.constant:
        inner = not_constant(w, inner)
    bits = inner.type.dtype.bits if not inner.type.weak else inner.bits
    return Made(f"{w.pick(('int', 'int', 'round'))}({inner.text})", kind, bits)


@makes(1, only(WEAK_FLOAT))
def python_float(w: Writer, kind: Scalar, depth: int) -> Made | None:
    return Made(f"float({any_real(w, depth - 1).text})", kind) if kind == WEAK_FLOAT else None


@makes(0.5, only(WEAK_BOOL))
def python_bool(w: Writer, kind: Scalar, depth: int) -> Made | None:
    return (
        Made(f"bool({any_expression(w, depth - 1).text})", kind, 1) if kind == WEAK_BOOL else None
    )


@makes(2, lambda kind: not kind.weak)
def conversion(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``float32(x)``, in ours or numpy's name; a float only where the type holds it."""
    if kind.weak:
        return None
    row = kind.dtype
    package = "ml_dtypes" if row.name == "bfloat16" else "np"
    name = w.pick((f"{row}", f"{package}.{row}")) if row.kind is not DTypeKind.BOOL else "boolean"
    anything = row.is_complex or row.kind is DTypeKind.BOOL
    inner = any_expression(w, depth - 1) if anything else any_real(w, depth - 1)
    if inner.constant:
        return literal(w, kind)
    if row.is_integer and inner.type.dtype.is_float:
        inner = expression(w, inner.type, depth - 2)
        least, most = max(row.minimum, -(2**31)), min(row.maximum, 2**31)
        test = f"{least}.0 < {inner.operand} < {most}.0"
        return Made(f"{name}({inner.text}) if {test} else {name}({w.rng.randrange(9)})", kind)
    return Made(f"{name}({inner.text})", kind)


# ---- library functions: compared with a tolerance ---------------------------------------------

_LIBRARY: tuple[tuple[str, str], ...] = (
    ("sin", ""), ("cos", ""), ("tan", "{} % 1.5"), ("exp", "{} % 9.0"), ("log", "abs({}) + 0.5"),
    ("log2", "abs({}) + 0.5"), ("log10", "abs({}) + 0.5"), ("log1p", "abs({})"),
    ("atan", ""), ("asin", "{} % 1.0"), ("acos", "{} % 1.0"), ("sinh", "{} % 5.0"), ("tanh", ""),
    ("cosh", "{} % 5.0"), ("exp2", "{} % 9.0"), ("expm1", "{} % 5.0"), ("cbrt", ""), ("erf", ""),
    ("asinh", ""), ("degrees", "{} % 9.0"), ("radians", "{} % 9.0"),
)  # fmt: skip
# of 0.0 and -0.0 numpy's may give either
_LIBRARY_TWO = ("math.atan2", "math.hypot", "np.fmin", "np.fmax", "np.minimum", "np.maximum")


def library_call(w: Writer, kind: Scalar, depth: int) -> str:
    """A call whose answer is right to a few units in the last place."""
    inner = expression(w, kind, depth)
    if w.chance(0.25):
        other = expression(w, kind, depth)
        return f"{w.pick(_LIBRARY_TWO)}({inner.text}, {other.text})"
    if w.chance(0.15):
        return f"(abs({inner.text}) % 9.0 + 0.25) ** ({expression(w, kind, 0).operand} % 3.0)"
    name, domain = w.pick(_LIBRARY)
    inside = domain.format(inner.operand) if domain else f"{inner.operand} % 100.0"
    return f"math.{name}({inside})"
