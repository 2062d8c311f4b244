"""Types of kernel parameters and locals, under the names of ``numba.types``."""

from pycu2c.base.types import (
    Array,
    CPointer,
    Scalar,
    Signature,
    Tuple,
    UniTuple,
    bfloat16,
    bool_,
    boolean,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    surface1d,
    surface2d,
    surface3d,
    texture1d,
    texture2d,
    texture3d,
    uint8,
    uint16,
    uint32,
    uint64,
)
from pycu2c.ops.names import numba_type_names
from pycu2c.ops.names.numba_type_names import *  # noqa: F403

__all__ = [
    "Array",
    "CPointer",
    "Scalar",
    "Signature",
    "Tuple",
    "UniTuple",
    "bfloat16",
    "bool_",
    "boolean",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "surface1d",
    "surface2d",
    "surface3d",
    "texture1d",
    "texture2d",
    "texture3d",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
__all__ += numba_type_names.__all__


def __dir__() -> list[str]:
    return sorted(__all__)
