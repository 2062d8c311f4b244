"""CUDA's functions with two results, which return tuples: ``s, c = cuda.sincos(x)``."""

from __future__ import annotations

import pycu2c.ops.intrinsics.register_intrinsics  # noqa: F401  # the intrinsics of the results
from pycu2c.ops.intrinsics.kinds import FORM_RESULT
from pycu2c.ops.intrinsics.registry import REGISTRY, TypedOperation
from pycu2c.ops.names.typed_functions import declare

_FLOATING = "F"  # the kind of a number that is converted to a floating type

# name: a letter for each parameter, the intrinsics of the results, documentation
PAIRS: dict[str, tuple[str, tuple[str, str], str]] = {
    "sincos": ("x", ("math.sin", "math.cos"), "The sine and the cosine of ``x`` radians."),
    "sincospi": ("x", ("cuda.sinpi", "cuda.cospi"), "The sine and the cosine of ``pi * x``."),
    "modf": (
        "x",
        ("cuda.modf.fraction", "numpy.trunc"),
        "The fraction and the whole part, both with the sign of ``x``.",
    ),
    "frexp": (
        "x",
        ("cuda.frexp.mantissa", "cuda.frexp.exponent"),
        "``m, e`` with ``x == m * 2**e`` and ``m`` at least 1/2 and less than 1.",
    ),
    "remquo": (
        "xy",
        ("math.remainder", "cuda.remquo.quotient"),
        "The remainder of ``x / y``, and the lowest 3 bits of the quotient.",
    ),
}

for _name, (_names, _paths, _doc) in PAIRS.items():
    declare(
        f"cuda.{_name}",
        tuple((n, _FLOATING) for n in _names),
        FORM_RESULT,  # the front end makes a tuple of the results
        tuple(TypedOperation(REGISTRY[path]) for path in _paths),
        _doc,
    )
