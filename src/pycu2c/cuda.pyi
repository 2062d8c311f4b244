# Made by docs/generate.py from the rows of pycu2c/intrinsics: edit those.
# ruff: noqa
# fmt: off
"""The names of CUDA inside a kernel: ``from pycu2c import cuda``."""

from typing import Any, Literal, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from pycu2c.annotations import Array
from pycu2c.vector_types import *

_Number: TypeAlias = complex | np.number[Any] | np.bool_
_Real: TypeAlias = float | np.number[Any] | np.bool_
_Index: TypeAlias = SupportsIndex | tuple[SupportsIndex, ...]
_T = TypeVar("_T", bound=_Number)
_E = TypeVar("_E")

class _atomic:
    @staticmethod
    def add(array: Array[_E, Any, Any], index: _Index, value: _Number) -> _E:
        """Add ``value`` to ``array[index]`` in one step; return the old element."""

atomic: _atomic

class _blockDim:
    @property
    def x(self) -> int:
        """Threads per block, along x."""
    @property
    def y(self) -> int:
        """Threads per block, along y."""
    @property
    def z(self) -> int:
        """Threads per block, along z."""

blockDim: _blockDim

class _blockIdx:
    @property
    def x(self) -> int:
        """The block's index in the grid, along x."""
    @property
    def y(self) -> int:
        """The block's index in the grid, along y."""
    @property
    def z(self) -> int:
        """The block's index in the grid, along z."""

blockIdx: _blockIdx

def fma(a: _Real, b: _Real, c: _Real) -> float:
    """``a * b + c``, rounded once."""

@overload
def grid(ndim: Literal[1]) -> int:
    """The thread's index in the grid: an int for 1 axis, a tuple (x, y) or (x, y, z) for more."""
@overload
def grid(ndim: Literal[2]) -> tuple[int, int]:
    """The thread's index in the grid: an int for 1 axis, a tuple (x, y) or (x, y, z) for more."""
@overload
def grid(ndim: Literal[3]) -> tuple[int, int, int]:
    """The thread's index in the grid: an int for 1 axis, a tuple (x, y) or (x, y, z) for more."""

class _gridDim:
    @property
    def x(self) -> int:
        """Blocks per grid, along x."""
    @property
    def y(self) -> int:
        """Blocks per grid, along y."""
    @property
    def z(self) -> int:
        """Blocks per grid, along z."""

gridDim: _gridDim

@overload
def gridsize(ndim: Literal[1]) -> int:
    """Threads in the whole grid: an int for 1 axis, a tuple for 2 or 3."""
@overload
def gridsize(ndim: Literal[2]) -> tuple[int, int]:
    """Threads in the whole grid: an int for 1 axis, a tuple for 2 or 3."""
@overload
def gridsize(ndim: Literal[3]) -> tuple[int, int, int]:
    """Threads in the whole grid: an int for 1 axis, a tuple for 2 or 3."""

class _local:
    @overload
    @staticmethod
    def array(shape: int | tuple[int], dtype: type[_E]) -> Array[_E, Literal[1], Literal["C"]]:
        """An array of the thread's own; not initialised."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int], dtype: type[_E]) -> Array[_E, Literal[2], Literal["C"]]:
        """An array of the thread's own; not initialised."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int, int], dtype: type[_E]) -> Array[_E, Literal[3], Literal["C"]]:
        """An array of the thread's own; not initialised."""
    @overload
    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: Any) -> Any:
        """An array of the thread's own; not initialised."""

local: _local

class _shared:
    @overload
    @staticmethod
    def array(shape: int | tuple[int], dtype: type[_E]) -> Array[_E, Literal[1], Literal["C"]]:
        """An array that the threads of a block share; not initialised.

        One per block and place in the program. A shape of 0 takes the dynamic shared memory that
        the launch gives."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int], dtype: type[_E]) -> Array[_E, Literal[2], Literal["C"]]:
        """An array that the threads of a block share; not initialised.

        One per block and place in the program. A shape of 0 takes the dynamic shared memory that
        the launch gives."""
    @overload
    @staticmethod
    def array(shape: tuple[int, int, int], dtype: type[_E]) -> Array[_E, Literal[3], Literal["C"]]:
        """An array that the threads of a block share; not initialised.

        One per block and place in the program. A shape of 0 takes the dynamic shared memory that
        the launch gives."""
    @overload
    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: Any) -> Any:
        """An array that the threads of a block share; not initialised.

        One per block and place in the program. A shape of 0 takes the dynamic shared memory that
        the launch gives."""

shared: _shared

def syncthreads() -> None:
    """Wait until every thread of the block has come here.

    What they wrote before is then visible to all of them."""

class _threadIdx:
    @property
    def x(self) -> int:
        """The thread's index in its block, along x."""
    @property
    def y(self) -> int:
        """The thread's index in its block, along y."""
    @property
    def z(self) -> int:
        """The thread's index in its block, along z."""

threadIdx: _threadIdx
