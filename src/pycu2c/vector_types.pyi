# Made by docs/generate.py from the rows of pycu2c/base/dtypes.py: edit those.
# ruff: noqa
# fmt: off
"""CUDA's vector types: ``from pycu2c import float4``."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np

class _Vector:
    numpy: np.dtype[Any]
    dtype: np.dtype[Any]
    def __init__(self, *components: float | np.number[Any] | np.bool_ | _Vector) -> None: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __getitem__(self, name: str, /) -> Any: ...
    def __setitem__(self, name: str, value: Any, /) -> None: ...

__all__ = [
    "bfloat162",
    "bfloat16x2",
    "char1",
    "char2",
    "char3",
    "char4",
    "double1",
    "double2",
    "double3",
    "double4",
    "float1",
    "float16x2",
    "float2",
    "float3",
    "float32x1",
    "float32x2",
    "float32x3",
    "float32x4",
    "float4",
    "float64x1",
    "float64x2",
    "float64x3",
    "float64x4",
    "half2",
    "int1",
    "int16x1",
    "int16x2",
    "int16x3",
    "int16x4",
    "int2",
    "int3",
    "int32x1",
    "int32x2",
    "int32x3",
    "int32x4",
    "int4",
    "int64x1",
    "int64x2",
    "int64x3",
    "int64x4",
    "int8x1",
    "int8x2",
    "int8x3",
    "int8x4",
    "long1",
    "long2",
    "long3",
    "long4",
    "longlong1",
    "longlong2",
    "longlong3",
    "longlong4",
    "short1",
    "short2",
    "short3",
    "short4",
    "uchar1",
    "uchar2",
    "uchar3",
    "uchar4",
    "uint1",
    "uint16x1",
    "uint16x2",
    "uint16x3",
    "uint16x4",
    "uint2",
    "uint3",
    "uint32x1",
    "uint32x2",
    "uint32x3",
    "uint32x4",
    "uint4",
    "uint64x1",
    "uint64x2",
    "uint64x3",
    "uint64x4",
    "uint8x1",
    "uint8x2",
    "uint8x3",
    "uint8x4",
    "ulong1",
    "ulong2",
    "ulong3",
    "ulong4",
    "ulonglong1",
    "ulonglong2",
    "ulonglong3",
    "ulonglong4",
    "ushort1",
    "ushort2",
    "ushort3",
    "ushort4",
]

class char1(_Vector):
    x: int

int8x1: TypeAlias = char1

class char2(_Vector):
    x: int
    y: int

int8x2: TypeAlias = char2

class char3(_Vector):
    x: int
    y: int
    z: int

int8x3: TypeAlias = char3

class char4(_Vector):
    x: int
    y: int
    z: int
    w: int

int8x4: TypeAlias = char4

class uchar1(_Vector):
    x: int

uint8x1: TypeAlias = uchar1

class uchar2(_Vector):
    x: int
    y: int

uint8x2: TypeAlias = uchar2

class uchar3(_Vector):
    x: int
    y: int
    z: int

uint8x3: TypeAlias = uchar3

class uchar4(_Vector):
    x: int
    y: int
    z: int
    w: int

uint8x4: TypeAlias = uchar4

class short1(_Vector):
    x: int

int16x1: TypeAlias = short1

class short2(_Vector):
    x: int
    y: int

int16x2: TypeAlias = short2

class short3(_Vector):
    x: int
    y: int
    z: int

int16x3: TypeAlias = short3

class short4(_Vector):
    x: int
    y: int
    z: int
    w: int

int16x4: TypeAlias = short4

class ushort1(_Vector):
    x: int

uint16x1: TypeAlias = ushort1

class ushort2(_Vector):
    x: int
    y: int

uint16x2: TypeAlias = ushort2

class ushort3(_Vector):
    x: int
    y: int
    z: int

uint16x3: TypeAlias = ushort3

class ushort4(_Vector):
    x: int
    y: int
    z: int
    w: int

uint16x4: TypeAlias = ushort4

class int1(_Vector):
    x: int

int32x1: TypeAlias = int1

class int2(_Vector):
    x: int
    y: int

int32x2: TypeAlias = int2

class int3(_Vector):
    x: int
    y: int
    z: int

int32x3: TypeAlias = int3

class int4(_Vector):
    x: int
    y: int
    z: int
    w: int

int32x4: TypeAlias = int4

class uint1(_Vector):
    x: int

uint32x1: TypeAlias = uint1

class uint2(_Vector):
    x: int
    y: int

uint32x2: TypeAlias = uint2

class uint3(_Vector):
    x: int
    y: int
    z: int

uint32x3: TypeAlias = uint3

class uint4(_Vector):
    x: int
    y: int
    z: int
    w: int

uint32x4: TypeAlias = uint4

class longlong1(_Vector):
    x: int

long1: TypeAlias = longlong1
int64x1: TypeAlias = longlong1

class longlong2(_Vector):
    x: int
    y: int

long2: TypeAlias = longlong2
int64x2: TypeAlias = longlong2

class longlong3(_Vector):
    x: int
    y: int
    z: int

long3: TypeAlias = longlong3
int64x3: TypeAlias = longlong3

class longlong4(_Vector):
    x: int
    y: int
    z: int
    w: int

long4: TypeAlias = longlong4
int64x4: TypeAlias = longlong4

class ulonglong1(_Vector):
    x: int

ulong1: TypeAlias = ulonglong1
uint64x1: TypeAlias = ulonglong1

class ulonglong2(_Vector):
    x: int
    y: int

ulong2: TypeAlias = ulonglong2
uint64x2: TypeAlias = ulonglong2

class ulonglong3(_Vector):
    x: int
    y: int
    z: int

ulong3: TypeAlias = ulonglong3
uint64x3: TypeAlias = ulonglong3

class ulonglong4(_Vector):
    x: int
    y: int
    z: int
    w: int

ulong4: TypeAlias = ulonglong4
uint64x4: TypeAlias = ulonglong4

class float1(_Vector):
    x: float

float32x1: TypeAlias = float1

class float2(_Vector):
    x: float
    y: float

float32x2: TypeAlias = float2

class float3(_Vector):
    x: float
    y: float
    z: float

float32x3: TypeAlias = float3

class float4(_Vector):
    x: float
    y: float
    z: float
    w: float

float32x4: TypeAlias = float4

class double1(_Vector):
    x: float

float64x1: TypeAlias = double1

class double2(_Vector):
    x: float
    y: float

float64x2: TypeAlias = double2

class double3(_Vector):
    x: float
    y: float
    z: float

float64x3: TypeAlias = double3

class double4(_Vector):
    x: float
    y: float
    z: float
    w: float

float64x4: TypeAlias = double4

class half2(_Vector):
    x: float
    y: float

float16x2: TypeAlias = half2

class bfloat162(_Vector):
    x: float
    y: float

bfloat16x2: TypeAlias = bfloat162
