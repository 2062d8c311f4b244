"""Complex arithmetic and functions, which C operators do not support.

``transforms/common/legalize`` replaces operators on complex numbers with the intrinsics
``complex.add`` and others; the functions are those of numpy and cmath.
"""

from __future__ import annotations

import cmath
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pycu2c.base.dtypes import COMPLEX64, COMPLEX128
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.ops.intrinsics.floats.math import compute_in_type, type_of
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, declare
from pycu2c.ops.intrinsics.spelling import helper
from pycu2c.ops.operators import ADD, DIV, EQ, MUL, NEG, POW, SUB

COMPLEX = (COMPLEX64, COMPLEX128)


def _declare(
    name: str,
    signature: str,
    compute: Callable[..., Any],
    doc: str,
    *bindings: object,
    helper_name: str = "",
) -> Intrinsic:
    """Declare a function; its helper in C has the same name by default."""
    spell = helper(helper_name or f"complex_{name}")
    return declare(
        __name__,
        f"complex.{name}",
        signature,
        compute,
        doc,
        dtypes=COMPLEX,
        spelling=spell,
        bindings=bindings,
    )


_UNARY, _BINARY = "x: T -> T", "a: T, b: T -> T"
OPERATOR_INTRINSICS = {
    operator: _declare(operator.name, _BINARY, operator.reference, doc, helper_name=operator.name)
    for operator, doc in (
        (ADD, "``a + b``."),
        (SUB, "``a - b``."),
        (MUL, "``a * b``."),
        (DIV, "``a / b``, by Smith's method, as in NumPy."),
    )
}


def _equal(a: Any, b: Any) -> bool:
    return bool(EQ.reference(a, b))


POWER = _declare(
    "power", "base: T, exponent: T -> T", POW.reference, "``base ** exponent``, as in NumPy."
)
EQUALITY = _declare(
    "eq", "a: T, b: T -> bool", _equal, "Whether both parts are equal.", helper_name="eq"
)
NEGATION = _declare("neg", _UNARY, NEG.reference, "``-x``.", helper_name="neg")

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


def _log_base(x: Any, base: Any) -> Any:
    return np.log(x) / np.log(base)


_declare("log2", _UNARY, partial(compute_in_type, np.log2), "The logarithm to the base 2.")
_declare(
    "log_base",
    "x: T, base: T -> T",
    partial(compute_in_type, _log_base),
    "The logarithm to a base.",
)
for _name, _compute, _python, _doc in _FUNCTIONS:
    _declare(_name, _UNARY, partial(compute_in_type, _compute), _doc, _python or _compute)

_PREDICATES: tuple[tuple[str, Any, Any, str], ...] = (
    ("isnan", np.isnan, cmath.isnan, "Whether a part is NaN."),
    ("isinf", np.isinf, cmath.isinf, "Whether a part is infinite."),
    ("isfinite", np.isfinite, cmath.isfinite, "Whether both parts are finite."),
)


def _holds(compute: Callable[..., Any], *numbers: Any) -> bool:
    with np.errstate(all="ignore"):
        return bool(compute(*(type_of(n).dtype.numpy.type(n) for n in numbers)))


for _name, _compute, _python, _doc in _PREDICATES:
    _declare(_name, "x: T -> bool", partial(_holds, _compute), _doc, _python)

# ---- NumPy's order: by the real parts, then by the imaginary parts ---------------------------

LESS, LESS_EQUAL = (
    _declare(name, "a: T, b: T -> bool", partial(_holds, compute), doc)
    for name, compute, doc in (
        ("less", np.less, "Whether ``a < b``."),
        ("less_equal", np.less_equal, "Whether ``a <= b``."),
    )
)
for _name, _compute, _doc in (
    ("maximum", np.maximum, "The greater number, or the first with a NaN."),
    ("minimum", np.minimum, "The lesser number, or the first with a NaN."),
    ("fmax", np.fmax, "The greater number; if one has a NaN, the other."),
    ("fmin", np.fmin, "The lesser number; if one has a NaN, the other."),
):
    _declare(_name, _BINARY, partial(compute_in_type, _compute), _doc)

# NumPy's functions order complex numbers, Python's operators do not; True exchanges the operands
COMPARISONS: dict[object, tuple[Intrinsic, bool]] = {
    np.less: (LESS, False),
    np.less_equal: (LESS_EQUAL, False),
    np.greater: (LESS, True),
    np.greater_equal: (LESS_EQUAL, True),
}


def _compute_real(compute: Callable[[Any], Any], x: Any) -> Any:
    kind = type_of(x)
    with np.errstate(all="ignore"):
        return convert(compute(kind.dtype.numpy.type(x)), Scalar(kind.dtype.real, kind.weak))


ABS = _declare(
    "abs", "x: T -> R", partial(_compute_real, np.abs), "The distance from 0, without overflow."
)
_declare(
    "angle",
    "x: T -> R",
    partial(_compute_real, np.angle),
    "The angle with the positive axis, in radians.",
    cmath.phase,
    np.angle,
)


def complex_form(function: Intrinsic, is_complex: bool) -> Intrinsic:
    """Return the variant of a NumPy function for complex numbers if ``is_complex``."""
    variant = REGISTRY.get(f"complex.{function.name.rpartition('.')[2]}")
    # is_pure excludes cuda.atomic.add
    return variant if variant is not None and is_complex and function.is_pure else function
