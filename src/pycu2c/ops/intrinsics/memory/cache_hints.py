"""Loads and stores that tell a GPU which caches to use: ``cuda.ldcg(a, i)`` is ``a[i]``, and
``cuda.stcs(a, i, x)`` is ``a[i] = x``. On the CPU they are just that: ``transforms/cpu/memory/drop_cache_hints``.
"""

from __future__ import annotations

from typing import Any

from pycu2c.base.dtypes import COMPLEX64, COMPLEX128, VECTOR_OF
from pycu2c.base.values import convert, scalar_of
from pycu2c.ops.intrinsics.kinds import T, array, index
from pycu2c.ops.intrinsics.memory.atomic import NUMBERS
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import plain

# CUDA has these functions for vectors of 2 and 4 numbers, of 16 bytes at most
_VECTORS = tuple(
    dtype for (_, count), dtype in VECTOR_OF.items() if count in (2, 4) and dtype.bits <= 128
)
CACHED = (*NUMBERS, COMPLEX64, COMPLEX128, *_VECTORS)

_LOADS = (
    ("ldg", "through the cache of what nobody writes while the kernel runs"),
    ("ldca", "kept in all caches"),
    ("ldcg", "kept in the cache that all multiprocessors share"),
    ("ldcs", "which is likely read once"),
    ("ldlu", "which is not read again"),
    ("ldcv", "fetched again from memory"),
)
_STORES = (
    ("stwb", "kept in all caches"),
    ("stcg", "kept in the cache that all multiprocessors share"),
    ("stcs", "which is likely used once"),
    ("stwt", "written through to memory"),
)


def _load(name: str, how: str) -> Intrinsic:
    def body(array: array, index: index) -> T:
        found: Any = array[index]
        kind = scalar_of(found)
        assert kind is not None
        return convert(found, kind)

    body.__doc__ = f"``array[index]`` in global memory, {how}."
    return intrinsic(
        f"cuda.{name}",
        effect=Effect.MEMORY,
        reads=True,
        dtypes=CACHED,
        cuda=plain(f"__{name}"),
    )(body)


def _store(name: str, how: str) -> Intrinsic:
    def body(array: array, index: index, value: T) -> None:
        array[index] = value

    body.__doc__ = f"``array[index] = value`` in global memory, {how}."
    return intrinsic(
        f"cuda.{name}",
        effect=Effect.MEMORY,
        dtypes=CACHED,
        cuda=plain(f"__{name}"),
    )(body)


LOADS = tuple(_load(*entry) for entry in _LOADS)
STORES = tuple(_store(*entry) for entry in _STORES)
