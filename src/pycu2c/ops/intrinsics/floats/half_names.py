"""``cuda.fp16`` and ``cuda.bf16``: functions of 16-bit floats by CUDA's names.

Each rounds once, as the operators and ``math.f(x)`` do. ``hne`` differs from ``!=``: it is false
for NaN.
"""

from __future__ import annotations

import pycu2c.ops.intrinsics.declared  # noqa: F401  # the intrinsics that these rename
from pycu2c.base.dtypes import BFLOAT16, FLOAT16, DType
from pycu2c.ops.intrinsics.floats.half import COMPARED
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, TypedOperation
from pycu2c.ops.names.typed_functions import declare
from pycu2c.ops.operators import EQ, GE, GT, LE, LT, NE, Operator

_OF_ONE = """
    hneg=half.neg habs=abs hsin=math.sin hcos=math.cos htanh=math.tanh hlog=math.log hlog2=math.log2
    hlog10=math.log10 hexp=math.exp hexp2=math.exp2 hexp10=cuda.exp10 hfloor=numpy.floor
    hceil=numpy.ceil hrint=numpy.rint htrunc=numpy.trunc hsqrt=math.sqrt hrsqrt=cuda.rsqrt
    hrcp=cuda.rcp
"""
_OF_TWO = "hadd=half.add hsub=half.sub hmul=half.mul hdiv=half.div hmax=numpy.fmax hmin=numpy.fmin"
_QUESTIONS = "hisnan=math.isnan hisinf=math.isinf"
_COMPARISONS: tuple[tuple[str, Operator | Intrinsic, str], ...] = (
    ("heq", EQ, "``x == y``."),
    ("hlt", LT, "``x < y``."),
    ("hle", LE, "``x <= y``."),
    ("hgt", GT, "``x > y``."),
    ("hge", GE, "``x >= y``."),
    ("hneu", NE, "``x != y``: true of a NaN, as Python's operator."),
    *((f"h{name}", function, function.doc) for name, function in COMPARED.items()),
)


def _add_all(namespace: str, dtype: DType) -> None:
    for names, count, result_type in (
        (_OF_ONE, 1, dtype),
        (_OF_TWO, 2, dtype),
        (_QUESTIONS, 1, None),
    ):
        for entry in names.split():
            name, _, path = entry.partition("=")
            _add(namespace, name, (dtype,) * count, result_type, path)
    _add(namespace, "hfma", (dtype,) * 3, dtype, "half.fma")
    for name, compared, doc in _COMPARISONS:
        parameters = (("x", dtype.name), ("y", dtype.name))
        typed = TypedOperation(compared, (dtype, dtype), None)
        declare(f"cuda.{namespace}.{name}", parameters, "bool", (typed,), doc)


def _add(
    namespace: str,
    name: str,
    operand_types: tuple[DType, ...],
    result_type: DType | None,
    path: str,
) -> None:
    scalar_function = REGISTRY[path]
    parameters = tuple((p, dtype.name) for p, dtype in zip("xyz", operand_types))
    result = "bool" if result_type is None else result_type.name
    declare(
        f"cuda.{namespace}.{name}",
        parameters,
        result,
        (TypedOperation(scalar_function, operand_types, result_type),),
        scalar_function.doc,
    )


_add_all("fp16", FLOAT16)
_add_all("bf16", BFLOAT16)
