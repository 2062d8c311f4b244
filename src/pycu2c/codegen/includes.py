"""Find the C headers that a text needs from the identifiers in it.

Compiling a header takes about as long as compiling a small kernel, so only needed ones are
included.
"""

from __future__ import annotations

import re

# functions of <math.h> and of CUDA; each also exists with the suffix f or l
MATH_FUNCTIONS = frozenset(
    """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0
    cyl_bessel_i1 drem erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide finite
    floor fma fmax fmin fmod fpclassify frexp gamma hypot ilogb isfinite isgreater isgreaterequal
    isinf isless islessequal islessgreater isnan isnormal isunordered j0 j1 jn ldexp lgamma
    lgamma_r llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter
    nexttoward norm norm3d norm4d normcdf normcdfinv pow pow10 rcbrt remainder remquo rhypot rint
    rnorm rnorm3d rnorm4d round rsqrt scalb scalbln scalbn signbit signgam significand sin sincos
    sincospi sinh sinpi sqrt tan tanh tgamma trunc y0 y1 yn
    """.split()  # noqa: SIM905
)


def is_math(name: str) -> bool:
    """Return whether ``<math.h>`` or CUDA has a function of this name."""
    return name in MATH_FUNCTIONS or (name[-1:] in ("f", "l") and name[:-1] in MATH_FUNCTIONS)


_COMMENT = re.compile(r"//.*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_INTEGER_TYPES = re.compile(r"u?int(\d+|ptr)_t|U?INT\d+_(MAX|MIN|C)")
_HEADERS_BY_NAME = {
    "bool": "stdbool.h",
    "true": "stdbool.h",
    "false": "stdbool.h",
    "INFINITY": "math.h",
    "NAN": "math.h",
    "NULL": "stddef.h",
    "size_t": "stddef.h",
    "memcpy": "string.h",
    "fesetround": "fenv.h",
    "clock_gettime": "time.h",
}


def headers_of(text: str) -> tuple[str, ...]:
    """Return the headers that generated C needs, in alphabetical order."""
    headers = {_header_of(name) for name in set(_NAME.findall(_COMMENT.sub("", text)))}
    return tuple(sorted(headers - {""}))


def _header_of(name: str) -> str:
    if is_math(name):
        return "math.h"
    return "stdint.h" if _INTEGER_TYPES.fullmatch(name) else _HEADERS_BY_NAME.get(name, "")
