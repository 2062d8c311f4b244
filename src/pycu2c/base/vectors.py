"""Values of CUDA's vector types: ``float4(1, 2, 3, 4)``.

Vectors are immutable: in a kernel ``v.x = 1`` assigns a new vector to the variable ``v``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, ClassVar

import numpy as np

from pycu2c.base.dtypes import BY_NAME, DType


class Vector(tuple[np.generic, ...]):
    """A vector; ``v.x`` and ``v["x"]`` are NumPy scalars.

    It is a tuple, because NumPy stores tuples in structured arrays. Unlike a tuple, it equals only
    vectors of its type.
    """

    __slots__ = ()
    vector_type: ClassVar[DType]

    @classmethod
    def _make(cls, components: Iterable[Any]) -> Vector:
        return vector(cls.vector_type, tuple(components))

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self.vector_type.numpy

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray[Any, Any]:
        return np.array(tuple(self), dtype or self.dtype)

    def __getitem__(self, key: Any) -> Any:
        return getattr(self, key) if isinstance(key, str) else tuple.__getitem__(self, key)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.vector_type.name, tuple(self)))

    def __repr__(self) -> str:
        return f"{self.vector_type}({', '.join(str(component) for component in self)})"

    def __reduce__(self) -> Any:
        return _unpickled, (self.vector_type.name, tuple(self))

    def _no_arithmetic(self, other: Any) -> Any:
        return NotImplemented

    __add__ = __mul__ = __rmul__ = __lt__ = __le__ = __gt__ = __ge__ = _no_arithmetic


@functools.cache
def _class_of(dtype: DType) -> type[Vector]:
    properties = {f.name: property(itemgetter(i)) for i, f in enumerate(dtype.fields)}
    return type(dtype.name, (Vector,), {"__slots__": (), "vector_type": dtype, **properties})


def vector(dtype: DType, values: Sequence[Any]) -> Vector:
    """Return ``float4(x, y, z, w)``; a vector among the values counts as its components."""
    components = [x for value in values for x in (value if isinstance(value, Vector) else (value,))]
    if len(components) != len(dtype.fields):
        raise TypeError(f"{dtype} has {len(dtype.fields)} components, {len(components)} given")
    numbers = (f.dtype.numpy.type(x) for f, x in zip(dtype.fields, components))
    return tuple.__new__(_class_of(dtype), numbers)


def _unpickled(name: str, components: Sequence[Any]) -> Vector:
    """Rebuild a pickled vector."""
    return vector(BY_NAME[name], components)
