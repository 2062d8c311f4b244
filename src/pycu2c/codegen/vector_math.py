"""Math functions that vectorized loops can call.

A vector function may have the error that CUDA documents for the scalar one. The listed functions
of glibc 2.36 were measured on random arguments and are within these bounds. Others are not: logf
has an error of 3.9 ulp where CUDA allows 1. So ``helpers/c/vector_math.h`` implements ``exp`` and
``log`` of float32, with an error of 0.9 ulp, ``cbrt`` of float64 (0.7 ulp; glibc: 3) and ``hypot``
(0.5 ulp for float32, 1.2 ulp for float64). All compilers vectorize these implementations.
"""

from __future__ import annotations

from collections.abc import Iterable

_UNARY = ("acos", "acosh", "asinh", "atanh", "erfc", "sinh")
_UNARY_FLOAT32 = ("cos", "exp2", "sin", "tan", "tanh")
_BINARY = ("pow",)
_BINARY_FLOAT32 = ("atan2",)

_DECLARATIONS = {
    **{f"{stem}f": f"float {stem}f(float)" for stem in (*_UNARY, *_UNARY_FLOAT32)},
    **{f"{stem}f": f"float {stem}f(float, float)" for stem in (*_BINARY, *_BINARY_FLOAT32)},
    **{stem: f"double {stem}(double)" for stem in _UNARY},
    **{stem: f"double {stem}(double, double)" for stem in _BINARY},
}


def has_vector_variant(function: str) -> bool:
    """Return whether glibc has a vector variant of a C function that is accurate enough."""
    return function in _DECLARATIONS


def declarations(functions: Iterable[str]) -> str:
    """Return declarations that tell gcc of the vector variants; other compilers do not use them."""
    lines = "".join(
        f'__attribute__((simd("notinbranch"), const)) {_DECLARATIONS[name]};\n'
        for name in sorted(functions)
    )
    if not lines:
        return ""
    return f"""\
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
{lines}#endif
#endif"""
