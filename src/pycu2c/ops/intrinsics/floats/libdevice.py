"""``cuda.libdevice``: the functions of NVIDIA's libdevice, with the types of numba.

Types that are unsigned in libdevice are signed, as in numba.
"""

from __future__ import annotations

import pycu2c.ops.intrinsics.declared  # noqa: F401  # the intrinsics that these rename
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
from pycu2c.ops.intrinsics.floats.exact_rounding import MODES
from pycu2c.ops.intrinsics.floats.paired_results import PAIRS
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.registry import REGISTRY, Intrinsic, TypedOperation
from pycu2c.ops.names.typed_functions import declare

_SIGNED = {UINT32: INT32, UINT64: INT64, BOOL: INT32, FLOAT16: INT16}
_NAMES = {1: ("x",), 2: ("x", "y"), 3: ("x", "y", "z")}


def _add(
    name: str, operand_types: tuple[DType, ...], result_type: DType, *functions: Intrinsic
) -> Intrinsic:
    """Declare a function that ``functions`` compute the results of, with the types of numba."""
    expands_to = tuple(
        TypedOperation(f, operand_types, _result_type(f, result_type)) for f in functions
    )
    kinds = [_SIGNED.get(dtype, dtype).name for dtype in operand_types]
    parameters = tuple(zip(_NAMES[len(kinds)], kinds))
    result = _SIGNED.get(result_type, result_type).name if len(functions) == 1 else "form"
    doc = functions[0].doc.splitlines()[0] if len(functions) == 1 else _doc_of_pair(name)
    return declare(f"cuda.libdevice.{name}", parameters, result, expands_to, doc)


def _doc_of_pair(name: str) -> str:
    plain = name.removeprefix("fast_")
    return PAIRS[plain if plain in PAIRS else plain[:-1]][2]


def _result_type(function: Intrinsic, dtype: DType) -> DType:
    """Return the type of one result; an integer beside a float has 32 bits."""
    return INT32 if function.result == "int" and dtype.is_float else _SIGNED.get(dtype, dtype)


# ---- of floats: the name of float32's ends in f ------------------------------------------------

# where a name is not that of the dtype, both
_OF_ONE = """
    math.acos math.acosh math.asin math.asinh math.atan math.atanh math.cbrt numpy.ceil math.cos
    math.cosh cuda.cospi math.erf math.erfc cuda.erfcinv cuda.erfcx cuda.erfinv math.exp cuda.exp10
    math.exp2 math.expm1 math.fabs numpy.floor cuda.j0 cuda.j1 math.lgamma math.log math.log10
    math.log1p math.log2 cuda.logb nearbyint=numpy.rint cuda.normcdf cuda.normcdfinv cuda.rcbrt
    numpy.rint cuda.round cuda.rsqrt math.sin math.sinh cuda.sinpi math.sqrt math.tan math.tanh
    tgamma=math.gamma numpy.trunc cuda.y0 cuda.y1
"""
_OF_TWO = """
    math.atan2 math.copysign cuda.fdim numpy.fmax numpy.fmin math.fmod math.hypot math.nextafter
    math.pow math.remainder
"""
_TO_WHOLE = "cuda.ilogb llrint=round cuda.llround"
_WITH_WHOLE = "math.ldexp cuda.powi scalbn=math.ldexp"
_ORDERED = "cuda.jn cuda.yn"


def _listed(names: str) -> list[tuple[str, Intrinsic]]:
    found = []
    for entry in names.split():
        name, _, path = entry.rpartition("=")
        found.append((name or path.rpartition(".")[2], REGISTRY[path]))
    return found


def _pairs(end: str, dtype: DType) -> None:
    for name, (names, paths, _) in PAIRS.items():
        _add(f"{name}{end}", (dtype,) * len(names), dtype, *(REGISTRY[path] for path in paths))


def _of_floats(end: str, dtype: DType) -> None:
    for names, count in ((_OF_ONE, 1), (_OF_TWO, 2)):
        for name, of in _listed(names):
            _add(name + end, (dtype,) * count, dtype, of)
    _add(f"fma{end}", (dtype,) * 3, dtype, REGISTRY["cuda.fma"])
    for name, of in _listed(_TO_WHOLE):
        _add(name + end, (dtype,), INT32 if name == "ilogb" else INT64, of)
    for name, of in _listed(_WITH_WHOLE):
        _add(name + end, (dtype, INT32), dtype, of)
    for name, of in _listed(_ORDERED):
        _add(name + end, (INT32, dtype), dtype, of)
    _pairs(end, dtype)


_of_floats("f", FLOAT32)
_of_floats("", FLOAT64)
for _path, _single, _double in (
    ("math.isnan", "isnanf", "isnand"),
    ("math.isinf", "isinff", "isinfd"),
    ("math.isfinite", "finitef", "isfinited"),
    ("numpy.signbit", "signbitf", "signbitd"),
):
    _add(_single, (FLOAT32,), INT32, REGISTRY[_path])
    _add(_double, (FLOAT64,), INT32, REGISTRY[_path])
_add("saturatef", (FLOAT32,), FLOAT32, REGISTRY["cuda.saturate"])
_add("fast_sincosf", (FLOAT32,), FLOAT32, REGISTRY["cuda.fast_sinf"], REGISTRY["cuda.fast_cosf"])

# ---- of integers, by width ------------------------------------------------------------

for _name, _path, _row, _gives in (
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
    _add(_name, (_row,), _gives, REGISTRY[_path])
for _stem in ("max", "min"):
    for _name, _row in ((_stem, INT32), (f"u{_stem}", UINT32)):
        _add(_name, (_row, _row), _row, REGISTRY[_stem])
    for _name, _row in ((f"ll{_stem}", INT64), (f"ull{_stem}", UINT64)):
        _add(_name, (_row, _row), _row, REGISTRY[_stem])

# ---- those that have types of their own, but signed --------------------------------------------

_DIRECTED = [
    f"{letter}{stem}_{mode}"
    for letter in "fd"
    for stem in ("add", "sub", "mul", "div", "rcp", "sqrt")
    for mode in MODES
    if (letter, stem) != ("d", "sub")  # which the library has not
]
_FUSED = [f"fma{end}_{mode}" for end in ("f", "") for mode in MODES]
_CONVERTED = [
    f"{a}2{b}_{mode}"
    for first, second in (
        (("float", "double"), ("int", "uint", "ll", "ull")),
        (("int", "uint", "ll", "ull", "double"), ("float",)),
        (("ll", "ull"), ("double",)),
    )
    for a in first
    for b in second
    for mode in MODES
]
_OTHERS = """
    frsqrt_rn fast_cosf fast_exp10f fast_expf fast_log10f fast_log2f fast_logf fast_sinf fast_tanf
    fast_powf fast_fdividef int2double_rn uint2double_rn float_as_int int_as_float
    double_as_longlong longlong_as_double double2hiint double2loint hiloint2double hadd rhadd uhadd
    urhadd mul24 umul24 mulhi umulhi mul64hi umul64hi byte_perm sad usad
"""
for _name in (*_DIRECTED, *_FUSED, *_CONVERTED, *_OTHERS.split()):
    _own = REGISTRY[f"cuda.{_name}"]
    _add(_name, tuple(FIXED[kind] for _, kind in _own.parameters), FIXED[_own.result], _own)
_add("half2float", (INT16,), FLOAT32, REGISTRY["cuda.short_as_half"])
declare(
    "cuda.libdevice.float2half_rn",
    (("x", "float32"),),
    "int16",
    (TypedOperation(REGISTRY["cuda.half_as_short"], (FLOAT16,), INT16),),
    "The bits of the nearest float16.",
)
