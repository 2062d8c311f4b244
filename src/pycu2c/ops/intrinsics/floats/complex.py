"""Complex arithmetic and functions, which C operators do not support.

``transforms/common/legalize`` replaces operators on complex numbers with the intrinsics
``complex.add`` and others; the functions are those of numpy and cmath.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.base.dtypes import COMPLEX64, COMPLEX128
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert, scalar_of
from pycu2c.ops.intrinsics.kinds import R, T
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import helper
from pycu2c.ops.operators import ADD, DIV, EQ, MUL, NEG, POW, SUB, Operator

COMPLEX = (COMPLEX64, COMPLEX128)


def _declare(
    name: str, stem: str, doc: str, body: Callable[..., Any], *bindings: object
) -> Intrinsic:
    body.__doc__ = doc
    spell = helper(stem)
    return intrinsic(name, dtypes=COMPLEX, spelling=spell, bindings=bindings)(body)


def _declare_operator(operator: Operator, doc: str) -> Intrinsic:
    def body(a: T, b: T) -> T:
        return operator.reference(a, b)

    return _declare(f"complex.{operator.name}", operator.name, doc, body)


OPERATOR_INTRINSICS = {
    ADD: _declare_operator(ADD, "``a + b``."),
    SUB: _declare_operator(SUB, "``a - b``."),
    MUL: _declare_operator(MUL, "``a * b``."),
    DIV: _declare_operator(DIV, "``a / b``, by Smith's method, as in NumPy."),
}


def _equal(a: T, b: T) -> bool:
    return bool(EQ.reference(a, b))


def _negate(x: T) -> T:
    return NEG.reference(x)


def _power(base: T, exponent: T) -> T:
    return POW.reference(base, exponent)


POWER = _declare("complex.power", "complex_power", "``base ** exponent``, as in NumPy.", _power)
EQUALITY = _declare("complex.eq", "eq", "Whether both parts are equal.", _equal)
NEGATION = _declare("complex.neg", "neg", "``-x``.", _negate)

# name, numpy's function, cmath's, meaning
_FUNCTIONS: tuple[tuple[str, Any, Any, str], ...] = (
    ("conjugate", np.conjugate, None, "The number with its imaginary part negated."),
    ("exp", np.exp, cmath.exp, "e to the power ``x``."),
    ("log", np.log, cmath.log, "The natural logarithm."),
    ("sqrt", np.sqrt, cmath.sqrt, "The square root in the right half of the plane."),
    ("sin", np.sin, cmath.sin, "The sine."),
    ("cos", np.cos, cmath.cos, "The cosine."),
    ("tan", np.tan, cmath.tan, "The tangent."),
    ("sinh", np.sinh, cmath.sinh, "The hyperbolic sine."),
    ("cosh", np.cosh, cmath.cosh, "The hyperbolic cosine."),
    ("tanh", np.tanh, cmath.tanh, "The hyperbolic tangent."),
    ("log10", np.log10, cmath.log10, "The logarithm to the base 10."),
    ("asin", np.arcsin, cmath.asin, "The arc sine."),
    ("acos", np.arccos, cmath.acos, "The arc cosine."),
    ("atan", np.arctan, cmath.atan, "The arc tangent."),
    ("asinh", np.arcsinh, cmath.asinh, "The inverse hyperbolic sine."),
    ("acosh", np.arccosh, cmath.acosh, "The inverse hyperbolic cosine."),
    ("atanh", np.arctanh, cmath.atanh, "The inverse hyperbolic tangent."),
)


def _compute_quietly(compute: Any, x: Any) -> Any:
    """Apply ``compute`` to a NumPy scalar; return the result and the type of ``x``."""
    kind = scalar_of(x)
    assert kind is not None
    with np.errstate(all="ignore"):
        return compute(kind.dtype.numpy.type(x)), kind


def _declare_function(name: str, compute: Any, cmath_function: Any, doc: str) -> Intrinsic:
    def body(x: T) -> T:
        return convert(*_compute_quietly(compute, x))

    bindings = (cmath_function,) if cmath_function is not None else (compute,)
    return _declare(f"complex.{name}", f"complex_{name}", doc, body, *bindings)


def _log_base(x: T, base: T) -> T:
    kind = scalar_of(x)
    assert kind is not None
    with np.errstate(all="ignore"):
        return convert(_compute_quietly(np.log, x)[0] / _compute_quietly(np.log, base)[0], kind)


def _log2(x: T) -> T:
    return convert(*_compute_quietly(np.log2, x))


LOG2 = _declare("complex.log2", "complex_log2", "The logarithm to the base 2.", _log2)
LOG_BASE = _declare("complex.log_base", "complex_log_base", "The logarithm to a base.", _log_base)
FUNCTIONS = tuple(_declare_function(*entry) for entry in _FUNCTIONS)

_PREDICATES: tuple[tuple[str, Any, Any, str], ...] = (
    ("isnan", np.isnan, cmath.isnan, "Whether a part is NaN."),
    ("isinf", np.isinf, cmath.isinf, "Whether a part is infinite."),
    ("isfinite", np.isfinite, cmath.isfinite, "Whether both parts are finite."),
)


def _declare_predicate(name: str, compute: Any, cmath_function: Any, doc: str) -> Intrinsic:
    def body(x: T) -> bool:
        return bool(_compute_quietly(compute, x)[0])

    return _declare(f"complex.{name}", f"complex_{name}", doc, body, cmath_function)


PREDICATES = tuple(_declare_predicate(*entry) for entry in _PREDICATES)

# ---- NumPy's order: by the real parts, then by the imaginary parts ---------------------------


def _declare_comparison(name: str, compute: Any, doc: str) -> Intrinsic:
    def body(a: T, b: T) -> bool:
        with np.errstate(all="ignore"):
            return bool(compute(a, b))

    return _declare(f"complex.{name}", f"complex_{name}", doc, body)


def _declare_extremum(name: str, compute: Any, doc: str) -> Intrinsic:
    def body(a: T, b: T) -> T:
        kind = scalar_of(a)
        assert kind is not None
        with np.errstate(all="ignore"):
            return convert(compute(a, b), kind)

    return _declare(f"complex.{name}", f"complex_{name}", doc, body)


LESS = _declare_comparison("less", np.less, "Whether ``a < b``.")
LESS_EQUAL = _declare_comparison("less_equal", np.less_equal, "Whether ``a <= b``.")
EXTREMA = (
    _declare_extremum("maximum", np.maximum, "The greater number, or the first with a NaN."),
    _declare_extremum("minimum", np.minimum, "The lesser number, or the first with a NaN."),
    _declare_extremum("fmax", np.fmax, "The greater number; if one has a NaN, the other."),
    _declare_extremum("fmin", np.fmin, "The lesser number; if one has a NaN, the other."),
)

# NumPy's functions order complex numbers, Python's operators do not; True exchanges the operands
COMPARISONS: dict[object, tuple[Intrinsic, bool]] = {
    np.less: (LESS, False),
    np.less_equal: (LESS_EQUAL, False),
    np.greater: (LESS, True),
    np.greater_equal: (LESS_EQUAL, True),
}

_TO_REAL: tuple[tuple[str, Any, Any, str], ...] = (
    ("abs", np.abs, None, "The distance from 0, without overflow."),
    ("angle", np.angle, cmath.phase, "The angle with the positive axis, in radians."),
)


def _declare_to_real(name: str, compute: Any, cmath_function: Any, doc: str) -> Intrinsic:
    def body(x: T) -> R:
        value, kind = _compute_quietly(compute, x)
        return convert(value, Scalar(kind.dtype.real, kind.weak))

    bindings = (cmath_function, compute) if cmath_function is not None else ()
    return _declare(f"complex.{name}", f"complex_{name}", doc, body, *bindings)


TO_REAL = tuple(_declare_to_real(*entry) for entry in _TO_REAL)
ABS = REGISTRY["complex.abs"]


def complex_form(function: Intrinsic, is_complex: bool) -> Intrinsic:
    """Return the variant of a NumPy function for complex numbers if ``is_complex``."""
    variant = REGISTRY.get(f"complex.{function.name.rpartition('.')[2]}")
    # is_pure excludes cuda.atomic.add
    return variant if variant is not None and is_complex and function.is_pure else function
