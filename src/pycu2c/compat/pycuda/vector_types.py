"""Implement ``gpuarray.vec``: CUDA vector types as numpy dtypes, ``float3`` and ``make_float3``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NUMBERS: dict[str, tuple[Any, int]] = {  # component type and maximum length
    "char": (np.int8, 4),
    "uchar": (np.uint8, 4),
    "short": (np.int16, 4),
    "ushort": (np.uint16, 4),
    "int": (np.int32, 4),
    "uint": (np.uint32, 4),
    "long": (np.int64, 4),
    "ulong": (np.uint64, 4),
    "longlong": (np.int64, 2),
    "ulonglong": (np.uint64, 2),
    "float": (np.float32, 4),
    "double": (np.float64, 2),
}

VECTORS: dict[str, np.dtype[Any]] = {
    f"{name}{count}": np.dtype([(field, number) for field in "xyzw"[:count]])
    for name, (number, max_count) in _NUMBERS.items()
    for count in range(1, max_count + 1)
}


class _VectorNamespace:
    """The namespace ``gpuarray.vec``."""

    def __getattr__(self, name: str) -> Any:
        if name in VECTORS:
            return VECTORS[name]
        if name.startswith("make_") and name[5:] in VECTORS:
            return _maker(VECTORS[name[5:]])
        raise AttributeError(f"CUDA has no vector type {name}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return [*VECTORS, *(f"make_{name}" for name in VECTORS)]


def _maker(dtype: np.dtype[Any]) -> Callable[..., NDArray[Any]]:
    def make(*numbers: Any) -> NDArray[Any]:
        if len(numbers) != len(dtype.names or ()):
            raise TypeError(f"expected {len(dtype.names or ())} numbers, not {len(numbers)}")
        return np.array(numbers, dtype)

    return make


vec = _VectorNamespace()
