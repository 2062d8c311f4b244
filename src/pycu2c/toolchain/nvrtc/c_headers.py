"""Provide headers of the C standard library to NVRTC, which has none.

NVRTC predefines many of their declarations, so some headers are empty.
"""

from __future__ import annotations

from pycu2c.base.hashing import digest_of

_STDINT = """
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef long long intptr_t;
typedef unsigned long long uintptr_t;
#define INT8_MIN (-128)
#define INT8_MAX 127
#define UINT8_MAX 255
#define INT16_MIN (-32768)
#define INT16_MAX 32767
#define UINT16_MAX 65535
#define INT32_MIN (-2147483647 - 1)
#define INT32_MAX 2147483647
#define UINT32_MAX 4294967295u
#define INT64_MIN (-9223372036854775807ll - 1)
#define INT64_MAX 9223372036854775807ll
#define UINT64_MAX 18446744073709551615ull
"""
_LIMITS = """
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647 - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295u
#define LONG_MIN (-9223372036854775807l - 1)
#define LONG_MAX 9223372036854775807l
#define ULONG_MAX 18446744073709551615ul
#define LLONG_MIN (-9223372036854775807ll - 1)
#define LLONG_MAX 9223372036854775807ll
#define ULLONG_MAX 18446744073709551615ull
"""
_FLOAT = """
#define FLT_RADIX 2
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.192092896e-07f
#define FLT_MIN 1.175494351e-38f
#define FLT_MAX 3.402823466e+38f
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
"""
_MATH = """
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define HUGE_VALF INFINITY
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
"""
_STDDEF = """
typedef unsigned long size_t;
typedef long ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
"""
_BY_NAME = {
    "stdint": _STDINT,
    "inttypes": _STDINT,
    "limits": _LIMITS,
    "float": _FLOAT,
    "math": _MATH,
    "stddef": _STDDEF,
    "stdio": "",
    "stdlib": "",
    "string": "",
    "assert": "",
    "time": "",
}
_EMPTY_HEADERS = (  # NVRTC predefines their declarations
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "vector_functions.h",
    "math_functions.h",
    "stdbool.h",
)


def _guarded(name: str, text: str) -> bytes:
    guard = f"PYCU2C_{name.upper()}"
    return f"#ifndef {guard}\n#define {guard}\n{text}#endif\n".encode()


HEADERS: dict[str, bytes] = {
    **{f"{name}.h": _guarded(name, text) for name, text in _BY_NAME.items()},
    **{f"c{name}": _guarded(name, text) for name, text in _BY_NAME.items()},
    **dict.fromkeys(_EMPTY_HEADERS, b""),
}
DIGEST = digest_of(*HEADERS.values())
