"""Read-modify-write of one array element in one step, as threads see it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pycu2c.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, DType
from pycu2c.intrinsics.c_tree import c
from pycu2c.intrinsics.kinds import T, array, index
from pycu2c.intrinsics.registry import Effect, Spell, intrinsic
from pycu2c.values import convert, scalar_of


def _cuda(function: str) -> Spell:
    """CUDA's atomics have no ``long long``; two's complement makes the unsigned ones do."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        if dtype is not INT64:
            return c.Call(function, (a["array"], a["value"]))
        unsigned = c.Named(UINT64.cuda)
        place = c.Cast(c.Pointer(unsigned), a["array"])
        return c.Cast(c.Named(INT64.cuda), c.Call(function, (place, c.Cast(unsigned, a["value"]))))

    return spell


def _c(builtin: str, helper: str) -> Spell:
    """gcc's builtins work on integers; floats take a helper with a compare-exchange loop."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        if dtype.is_float:
            return c.Call(f"{helper}_{dtype.short}", (a["array"], a["value"]))
        return c.Call(builtin, (a["array"], a["value"], c.Name("__ATOMIC_RELAXED")))

    return spell


@intrinsic(
    "cuda.atomic.add",
    effect=Effect.MEMORY,
    dtypes=(INT32, UINT32, INT64, UINT64, FLOAT32, FLOAT64),
    cuda=_cuda("atomicAdd"),
    c=_c("__atomic_fetch_add", "atomic_add"),
    c_helpers=("atomic_add",),
)
def atomic_add(array: array, index: index, value: T) -> T:
    """Add ``value`` to ``array[index]`` in one step; return the old element."""
    old = array[index]
    element = scalar_of(old)
    assert element is not None
    with np.errstate(all="ignore"):
        array[index] = old + convert(value, element)
    return old
