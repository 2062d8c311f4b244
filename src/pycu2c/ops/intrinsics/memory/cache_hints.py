"""Loads and stores with cache hints: ``cuda.ldcg(a, i)`` is ``a[i]`` with a hint.

On the CPU, ``transforms/cpu/memory/plain_memory_operations`` lowers them to plain loads and stores.
"""

from __future__ import annotations

from typing import Any

from pycu2c.base.dtypes import COMPLEX64, COMPLEX128, VECTOR_OF
from pycu2c.base.values import convert, scalar_of
from pycu2c.ops.intrinsics.kinds import T, array, index
from pycu2c.ops.intrinsics.memory.atomic import NUMBERS
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded

# CUDA has these functions for vectors of 2 and 4 numbers, of 16 bytes at most
_VECTORS = tuple(
    dtype for (_, count), dtype in VECTOR_OF.items() if count in (2, 4) and dtype.bits <= 128
)
CACHED = (*NUMBERS, COMPLEX64, COMPLEX128, *_VECTORS)

_LOADS = (
    ("ldg", "through the read-only cache; the data must not change during the kernel"),
    ("ldca", "cached at all levels"),
    ("ldcg", "cached in L2 only"),
    ("ldcs", "with the streaming hint: likely accessed once"),
    ("ldlu", "with the last-use hint"),
    ("ldcv", "not cached: fetched again from memory"),
)
_STORES = (
    ("stwb", "with write-back at all levels"),
    ("stcg", "cached in L2 only"),
    ("stcs", "with the streaming hint: likely accessed once"),
    ("stwt", "written through to memory"),
)


def _declare_load(name: str, hint: str) -> Intrinsic:
    def body(array: array, index: index) -> T:
        element: Any = array[index]
        kind = scalar_of(element)
        assert kind is not None
        return convert(element, kind)

    body.__doc__ = f"``array[index]`` in global memory, {hint}."
    return intrinsic(
        f"cuda.{name}",
        effect=Effect.MEMORY,
        reads=True,
        dtypes=CACHED,
        cuda=overloaded(f"__{name}"),
    )(body)


def _declare_store(name: str, hint: str) -> Intrinsic:
    def body(array: array, index: index, value: T) -> None:
        array[index] = value

    body.__doc__ = f"``array[index] = value`` in global memory, {hint}."
    return intrinsic(
        f"cuda.{name}",
        effect=Effect.MEMORY,
        dtypes=CACHED,
        cuda=overloaded(f"__{name}"),
    )(body)


LOADS = tuple(_declare_load(*entry) for entry in _LOADS)
STORES = tuple(_declare_store(*entry) for entry in _STORES)
