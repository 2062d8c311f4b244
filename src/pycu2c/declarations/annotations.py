"""Types for annotations of kernels: ``def k(x: Array[float32, Literal[2]], n: int32)``.

They are types of ``pycu2c.types``. Type checkers read ``annotations.pyi``, which says what such a
parameter supports in a kernel, and that it accepts Python numbers and objects indexed like arrays.
"""

from __future__ import annotations

from pycu2c.base import types

_NUMBERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64"
__all__ = [
    *("Array", "boolean", "bool_", *_NUMBERS.split(), "complex64", "complex128"),
    *types.HANDLES,  # textures and surfaces
]

globals().update({name: getattr(types, name) for name in __all__})
