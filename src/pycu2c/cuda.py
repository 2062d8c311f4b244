"""The names of CUDA inside a kernel: ``from pycu2c import cuda``.

At run time each is a row of the registry. Type checkers see here what a kernel gets from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from pycu2c.intrinsics.namespace import CUDA, members

if TYPE_CHECKING:

    class _Axes(Protocol):
        x: int
        y: int
        z: int

    class _PerAxis(Protocol):
        @overload
        def __call__(self, ndim: Literal[1]) -> int: ...
        @overload
        def __call__(self, ndim: Literal[2]) -> tuple[int, int]: ...
        @overload
        def __call__(self, ndim: Literal[3]) -> tuple[int, int, int]: ...

    class _Memory(Protocol):
        def array(self, shape: int | tuple[int, ...], dtype: Any) -> Any: ...

    class _Atomic(Protocol):
        def add(self, array: Any, index: Any, value: Any) -> Any: ...

    threadIdx: _Axes
    blockIdx: _Axes
    blockDim: _Axes
    gridDim: _Axes
    grid: _PerAxis
    gridsize: _PerAxis
    shared: _Memory
    local: _Memory
    atomic: _Atomic

    def fma(a: float, b: float, c: float) -> float: ...
    def syncthreads() -> None: ...

else:
    globals().update(members(CUDA))

__all__ = [
    "atomic",
    "blockDim",
    "blockIdx",
    "fma",
    "grid",
    "gridDim",
    "gridsize",
    "local",
    "shared",
    "syncthreads",
    "threadIdx",
]
