"""``cuda.fp16`` and ``cuda.bf16``: functions of 16-bit floats by CUDA's names.

Each rounds once, as the operators and ``math.f(x)`` do. ``hne`` differs from ``!=``: it is false
for NaN.
"""

from __future__ import annotations

import pycu2c.ops.intrinsics.register_intrinsics  # noqa: F401  # the intrinsics that these rename
from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.ops.intrinsics.floats.half import COMPARISONS
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, TypedOperation
from pycu2c.ops.names.typed_functions import declare
from pycu2c.ops.operators import EQ, GE, GT, LE, LT, NE, Operator

_UNARY = """
    hneg=half.neg habs=abs hsin=math.sin hcos=math.cos htanh=math.tanh hlog=math.log hlog2=math.log2
    hlog10=math.log10 hexp=math.exp hexp2=math.exp2 hexp10=cuda.exp10 hfloor=numpy.floor
    hceil=numpy.ceil hrint=numpy.rint htrunc=numpy.trunc hsqrt=math.sqrt hrsqrt=cuda.rsqrt
    hrcp=cuda.rcp
"""
_BINARY = "hadd=half.add hsub=half.sub hmul=half.mul hdiv=half.div hmax=numpy.fmax hmin=numpy.fmin"
_PREDICATES = "hisnan=math.isnan hisinf=math.isinf"
_COMPARISONS: tuple[tuple[str, Operator | Intrinsic, str], ...] = (
    ("heq", EQ, "``x == y``."),
    ("hlt", LT, "``x < y``."),
    ("hle", LE, "``x <= y``."),
    ("hgt", GT, "``x > y``."),
    ("hge", GE, "``x >= y``."),
    ("hneu", NE, "``x != y``: true of a NaN, as Python's operator."),
    *((f"h{name}", function, function.doc) for name, function in COMPARISONS.items()),
)


def _declare_all(namespace: str, dtype: DType) -> None:
    for names, count, result_type in (
        (_UNARY, 1, dtype),
        (_BINARY, 2, dtype),
        (_PREDICATES, 1, None),
    ):
        for entry in names.split():
            name, _, intrinsic_name = entry.partition("=")
            _declare_typed(namespace, name, (dtype,) * count, result_type, intrinsic_name)
    _declare_typed(namespace, "hfma", (dtype,) * 3, dtype, "half.fma")
    for name, comparison, doc in _COMPARISONS:
        parameters = (("x", dtype.name), ("y", dtype.name))
        typed = TypedOperation(comparison, (dtype, dtype), None)
        declare(f"cuda.{namespace}.{name}", parameters, "bool", (typed,), doc)


def _declare_typed(
    namespace: str,
    name: str,
    operand_types: tuple[DType, ...],
    result_type: DType | None,
    intrinsic_name: str,
) -> None:
    scalar_function = REGISTRY[intrinsic_name]
    parameters = tuple((p, dtype.name) for p, dtype in zip("xyz", operand_types))
    result = "bool" if result_type is None else result_type.name
    declare(
        f"cuda.{namespace}.{name}",
        parameters,
        result,
        (TypedOperation(scalar_function, operand_types, result_type),),
        scalar_function.doc,
    )


_declare_all("fp16", FLOAT16)
_declare_all("bf16", BFLOAT16)
