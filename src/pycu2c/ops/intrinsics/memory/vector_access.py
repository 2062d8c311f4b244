"""Accesses to a whole vector in CUDA C, to which ``transforms/cuda/vector_accesses`` lowers.

``place`` is the element in memory that has the first component, or the vector. On the CPU, each
component is an access of its own.
"""

from __future__ import annotations

from typing import Any

from pycu2c.base.dtypes import BFLOAT16, FLOAT16, FLOAT32, VECTOR_OF
from pycu2c.ops.intrinsics.kinds import T, form, place
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import helper

# those of atomicAdd in CUDA
ATOMIC_VECTORS = tuple(
    VECTOR_OF[shape] for shape in ((FLOAT32, 2), (FLOAT32, 4), (FLOAT16, 2), (BFLOAT16, 2))
)


def _only_in_cuda(*arguments: Any) -> Any:
    raise AssertionError("the interpreter runs the code before this lowering")


def _declare_load(name: str) -> Intrinsic:
    def body(place: place) -> form:
        """Load neighbouring elements as a vector."""
        return _only_in_cuda(place)

    return intrinsic(f"vector.{name}", effect=Effect.MEMORY, reads=True, cuda=helper(name))(body)


def _declare_store(name: str) -> Intrinsic:
    def body(place: place, value: T) -> None:
        """Store a vector in neighbouring elements."""
        _only_in_cuda(place, value)

    return intrinsic(f"vector.{name}", effect=Effect.MEMORY, cuda=helper(name))(body)


LOAD, LOAD_SHARED = _declare_load("load_vector"), _declare_load("load_shared_vector")
STORE, STORE_SHARED = _declare_store("store_vector"), _declare_store("store_shared_vector")


def _declare_atomic(name: str) -> Intrinsic:
    def body(place: place, value: T) -> T:
        """Add to each component of a vector atomically; return the old vector."""
        return _only_in_cuda(place, value)

    return intrinsic(
        f"vector.{name}", effect=Effect.MEMORY, dtypes=ATOMIC_VECTORS, cuda=helper(name)
    )(body)


ATOMIC_ADD, ATOMIC_ADD_COMPONENTS = map(
    _declare_atomic, ("atomic_add_vector", "atomic_add_components")
)
