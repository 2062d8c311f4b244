"""``cuda.libdevice``: the functions of NVIDIA's libdevice, with the types of numba.

Types that are unsigned in libdevice are signed, as in numba.
"""

from __future__ import annotations

import pycu2c.ops.intrinsics.register_intrinsics  # noqa: F401  # the intrinsics that these rename
from pycu2c.base.dtypes import (
    BOOL,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    UINT32,
    UINT64,
    DType,
)
from pycu2c.ops.intrinsics.floats.exact_rounding import ROUNDING_MODES
from pycu2c.ops.intrinsics.floats.paired_results import PAIRS
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, TypedOperation
from pycu2c.ops.names.typed_functions import declare

_NUMBA_DTYPES = {UINT32: INT32, UINT64: INT64, BOOL: INT32, FLOAT16: INT16}
_PARAMETER_NAMES = {1: ("x",), 2: ("x", "y"), 3: ("x", "y", "z")}


def _declare(
    name: str, operand_types: tuple[DType, ...], result_type: DType, *functions: Intrinsic
) -> Intrinsic:
    """Declare a function with numba's types; each of ``functions`` computes one result."""
    expands_to = tuple(
        TypedOperation(f, operand_types, _result_type(f, result_type)) for f in functions
    )
    kinds = [_NUMBA_DTYPES.get(dtype, dtype).name for dtype in operand_types]
    parameters = tuple(zip(_PARAMETER_NAMES[len(kinds)], kinds))
    result = _NUMBA_DTYPES.get(result_type, result_type).name if len(functions) == 1 else "form"
    doc = functions[0].doc.splitlines()[0] if len(functions) == 1 else _doc_of_pair(name)
    return declare(f"cuda.libdevice.{name}", parameters, result, expands_to, doc)


def _doc_of_pair(name: str) -> str:
    plain = name.removeprefix("fast_")
    return PAIRS[plain if plain in PAIRS else plain[:-1]][2]


def _result_type(function: Intrinsic, dtype: DType) -> DType:
    """Return the type of one result; an integer beside a float has 32 bits."""
    return INT32 if function.result == "int" and dtype.is_float else _NUMBA_DTYPES.get(dtype, dtype)


# ---- functions of floats: names end in f for float32 ------------------------------------------

# names of intrinsics, or libdevice_name=intrinsic_name if they differ
_UNARY = """
    math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt numpy.ceil math.cos
    math.cosh cuda.cospi math.erf math.erfc cuda.erfcinv cuda.erfcx cuda.erfinv math.exp cuda.exp10
    math.exp2 math.expm1 math.fabs numpy.floor cuda.j0 cuda.j1 math.lgamma math.log math.log10
    math.log1p math.log2 cuda.logb nearbyint=numpy.rint cuda.normcdf cuda.normcdfinv cuda.rcbrt
    numpy.rint cuda.round cuda.rsqrt math.sin math.sinh cuda.sinpi math.sqrt math.tan math.tanh
    tgamma=math.gamma numpy.trunc cuda.y0 cuda.y1
"""
_BINARY = """
    math.atan2 math.copysign cuda.fdim numpy.fmax numpy.fmin math.fmod math.hypot math.nextafter
    math.pow math.remainder
"""
_INTEGER_RESULTS = "cuda.ilogb llrint=round cuda.llround"
_INTEGER_EXPONENTS = "math.ldexp cuda.powi scalbn=math.ldexp"
_BESSEL = "cuda.jn cuda.yn"


def _names_and_intrinsics(names: str) -> list[tuple[str, Intrinsic]]:
    pairs = []
    for entry in names.split():
        name, _, path = entry.rpartition("=")
        pairs.append((name or path.rpartition(".")[2], REGISTRY[path]))
    return pairs


def _declare_pairs(suffix: str, dtype: DType) -> None:
    for name, (names, paths, _) in PAIRS.items():
        _declare(
            f"{name}{suffix}", (dtype,) * len(names), dtype, *(REGISTRY[path] for path in paths)
        )


def _declare_float_functions(suffix: str, dtype: DType) -> None:
    for names, count in ((_UNARY, 1), (_BINARY, 2)):
        for name, function in _names_and_intrinsics(names):
            _declare(name + suffix, (dtype,) * count, dtype, function)
    _declare(f"fma{suffix}", (dtype,) * 3, dtype, REGISTRY["cuda.fma"])
    for name, function in _names_and_intrinsics(_INTEGER_RESULTS):
        _declare(name + suffix, (dtype,), INT32 if name == "ilogb" else INT64, function)
    for name, function in _names_and_intrinsics(_INTEGER_EXPONENTS):
        _declare(name + suffix, (dtype, INT32), dtype, function)
    for name, function in _names_and_intrinsics(_BESSEL):
        _declare(name + suffix, (INT32, dtype), dtype, function)
    _declare_pairs(suffix, dtype)


_declare_float_functions("f", FLOAT32)
_declare_float_functions("", FLOAT64)
for _path, _single, _double in (
    ("math.isnan", "isnanf", "isnand"),
    ("math.isinf", "isinff", "isinfd"),
    ("math.isfinite", "finitef", "isfinited"),
    ("numpy.signbit", "signbitf", "signbitd"),
):
    _declare(_single, (FLOAT32,), INT32, REGISTRY[_path])
    _declare(_double, (FLOAT64,), INT32, REGISTRY[_path])
_declare("saturatef", (FLOAT32,), FLOAT32, REGISTRY["cuda.saturate"])
_declare(
    "fast_sincosf", (FLOAT32,), FLOAT32, REGISTRY["cuda.fast_sinf"], REGISTRY["cuda.fast_cosf"]
)

# ---- of integers, by width ------------------------------------------------------------

for _name, _path, _operand, _result in (
    ("abs", "abs", INT32, INT32),
    ("llabs", "abs", INT64, INT64),
    ("brev", "cuda.brev", UINT32, UINT32),
    ("brevll", "cuda.brev", UINT64, UINT64),
    ("clz", "cuda.clz", UINT32, INT32),
    ("clzll", "cuda.clz", UINT64, INT32),
    ("ffs", "cuda.ffs", UINT32, INT32),
    ("ffsll", "cuda.ffs", UINT64, INT32),
    ("popc", "cuda.popc", UINT32, INT32),
    ("popcll", "cuda.popc", UINT64, INT32),
):
    _declare(_name, (_operand,), _result, REGISTRY[_path])
for _stem in ("max", "min"):
    for _name, _dtype in ((_stem, INT32), (f"u{_stem}", UINT32)):
        _declare(_name, (_dtype, _dtype), _dtype, REGISTRY[_stem])
    for _name, _dtype in ((f"ll{_stem}", INT64), (f"ull{_stem}", UINT64)):
        _declare(_name, (_dtype, _dtype), _dtype, REGISTRY[_stem])

# ---- functions with fixed types; unsigned types become signed ----------------------------------

_DIRECTED_ROUNDING = [
    f"{letter}{stem}_{mode}"
    for letter in "fd"
    for stem in ("add", "sub", "mul", "div", "rcp", "sqrt")
    for mode in ROUNDING_MODES
    if (letter, stem) != ("d", "sub")  # libdevice has no dsub
]
_FMA = [f"fma{suffix}_{mode}" for suffix in ("f", "") for mode in ROUNDING_MODES]
_CONVERSIONS = [
    f"{a}2{b}_{mode}"
    for first, second in (
        (("float", "double"), ("int", "uint", "ll", "ull")),
        (("int", "uint", "ll", "ull", "double"), ("float",)),
        (("ll", "ull"), ("double",)),
    )
    for a in first
    for b in second
    for mode in ROUNDING_MODES
]
_OTHER_NAMES = """
    frsqrt_rn fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf
    fast_powf fast_fdividef int2double_rn uint2double_rn float_as_int int_as_float
    double_as_longlong longlong_as_double double2hiint double2loint hiloint2double hadd rhadd uhadd
    urhadd mul24 umul24 mulhi umulhi mul64hi umul64hi byte_perm sad usad
"""
for _name in (*_DIRECTED_ROUNDING, *_FMA, *_CONVERSIONS, *_OTHER_NAMES.split()):
    _intrinsic = REGISTRY[f"cuda.{_name}"]
    _declare(
        _name,
        tuple(FIXED[kind] for _, kind in _intrinsic.parameters),
        FIXED[_intrinsic.result],
        _intrinsic,
    )
_declare("half2float", (INT16,), FLOAT32, REGISTRY["cuda.short_as_half"])
declare(
    "cuda.libdevice.float2half_rn",
    (("x", "float32"),),
    "int16",
    (TypedOperation(REGISTRY["cuda.half_as_short"], (FLOAT16,), INT16),),
    "The bits of the nearest float16.",
)
