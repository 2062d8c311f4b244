"""Values of CUDA's vector types: ``float4(1, 2, 3, 4)``. Knows their rows, no kernel and no C.

A value never changes: in a kernel, ``v.x = 1`` gives the variable ``v`` another one.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from pycu2c.base.dtypes import BY_NAME, DType


class Vector(tuple[np.generic, ...]):
    """A vector; ``v.x`` and ``v["x"]`` are numpy scalars. It is a tuple, because that is what
    numpy stores in a structured array; unlike one, it equals vectors of its type only."""

    __slots__ = ()
    row: ClassVar[DType]

    @classmethod
    def _make(cls, parts: Iterable[Any]) -> Vector:
        return vector(cls.row, tuple(parts))

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.row.numpy

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array(tuple(self), dtype or self.dtype)

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else tuple.__getitem__(self, key)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.row.name, tuple(self)))

    def __repr__(self) -> str:
        return f"{self.row}({', '.join(str(part) for part in self)})"

    def __reduce__(self) -> Any:
        return _named, (self.row.name, tuple(self))

    def _no_arithmetic(self, other: Any) -> Any:
        return NotImplemented

    __add__ = __mul__ = __rmul__ = __lt__ = __le__ = __gt__ = __ge__ = _no_arithmetic


@functools.cache
def _class_of(row: DType) -> type[Vector]:
    parts = {f.name: property(itemgetter(i)) for i, f in enumerate(row.fields)}
    return type(row.name, (Vector,), {"__slots__": (), "row": row, **parts})


def vector(row: DType, given: Sequence[Any]) -> Vector:
    """``float4(x, y, z, w)``; a vector among the arguments counts as its components."""
    parts = [p for value in given for p in (value if isinstance(value, Vector) else (value,))]
    if len(parts) != len(row.fields):
        raise TypeError(f"{row} has {len(row.fields)} components, {len(parts)} given")
    numbers = (f.dtype.numpy.type(p) for f, p in zip(row.fields, parts))
    return tuple.__new__(_class_of(row), numbers)


def _named(name: str, parts: Sequence[Any]) -> Vector:
    """As pickle makes one again."""
    return vector(BY_NAME[name], parts)
