"""Implement ``pycuda.curandom``: arrays of random numbers.

All generators are Philox, and produce equal numbers on a GPU and on the CPU. The numbers depend on
the seed and on the number of previous calls.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pycu2c import cuda
from pycu2c.compat.pycuda import absent_names
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray
from pycu2c.cuda.random import (
    philox_normal_float32,
    philox_normal_float64,
    philox_uint32,
    philox_uniform_float32,
    philox_uniform_float64,
)
from pycu2c.kernels.kernel import device, kernel


def _fill_kernel(draw: Any) -> Any:
    """Return a kernel that fills an array with the results of ``draw(seed, call, i)``."""

    @kernel
    def run(seed, call, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < out.size:
            out[i] = draw(seed, call, i)

    return run


@device
def _philox_int32(seed, call, i):  # type: ignore[no-untyped-def]
    return np.int32(philox_uint32(seed, call, i))


_THREADS = 256
_UNIFORM = {
    "float32": _fill_kernel(philox_uniform_float32),
    "float64": _fill_kernel(philox_uniform_float64),
    "uint32": _fill_kernel(philox_uint32),
    "int32": _fill_kernel(_philox_int32),
}
_NORMAL = {
    "float32": _fill_kernel(philox_normal_float32),
    "float64": _fill_kernel(philox_normal_float64),
}


class PhiloxRandomNumberGenerator:
    """A random number generator: ``generator.gen_uniform(shape, dtype)``."""

    def __init__(
        self, seed_getter: Callable[[int], GPUArray] | None = None, offset: int = 0
    ) -> None:
        seed = secrets.randbits(32) if seed_getter is None else int(seed_getter(1).get()[0])
        self._seed, self._offset = seed & 0xFFFFFFFF, int(offset)

    @translate_errors
    def _fill(self, kernels: dict[str, Any], data: GPUArray, stream: object) -> None:
        if data.dtype.name not in kernels:
            raise NotImplementedError(
                f"random numbers have the types {', '.join(kernels)}, not {data.dtype}"
            )
        if not data.flags.forc:
            raise RuntimeError("only contiguous arrays may be used as arguments to this operation")
        if data.size:
            launch = kernels[data.dtype.name][-(-data.size // _THREADS), _THREADS, stream]
            launch(self._seed, self._offset, data.ravel())
        self._offset += 1

    def fill_uniform(self, data: GPUArray, stream: object = None) -> None:
        """Fill an array uniformly: floats from 0 to 1, integers from their whole range."""
        self._fill(_UNIFORM, data, stream)

    def fill_normal(self, data: GPUArray, stream: object = None) -> None:
        """Fill an array from the normal distribution with mean 0 and deviation 1."""
        self._fill(_NORMAL, data, stream)

    def gen_uniform(self, shape: Any, dtype: Any, stream: object = None) -> GPUArray:
        """Return a new array, filled by ``fill_uniform``."""
        array = GPUArray(shape, dtype)
        self.fill_uniform(array, stream)
        return array

    def gen_normal(self, shape: Any, dtype: Any, stream: object = None) -> GPUArray:
        """Return a new array, filled by ``fill_normal``."""
        array = GPUArray(shape, dtype)
        self.fill_normal(array, stream)
        return array

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            absent_names.reject(type(self).__name__, name)


XORWOWRandomNumberGenerator = MRG32k3aRandomNumberGenerator = PhiloxRandomNumberGenerator


def seed_getter_uniform(N: int) -> GPUArray:
    """Return seeds that are all equal."""
    return GPUArray((N,), np.int32).fill(np.int32(secrets.randbits(31)))


def rand(shape: Any, dtype: Any = np.float32, stream: object = None) -> GPUArray:
    """Return a new array of numbers from 0 to 1."""
    return PhiloxRandomNumberGenerator().gen_uniform(shape, dtype, stream)
