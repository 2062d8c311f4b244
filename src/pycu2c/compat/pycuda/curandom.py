"""Implement ``pycuda.curandom``: arrays of random numbers.

All pseudorandom generators are Philox. Quasirandom generators return the first dimension of Sobol's
sequence. Both produce equal numbers on a GPU and on the CPU. The numbers depend on the seed and on
the number of previous calls.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.compat.pycuda import cumath
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray
from pycu2c.compat.pycuda.gpuarrays.kernels import launch
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
def _poisson(probability, mean):  # type: ignore[no-untyped-def]
    """Return the number of events for a cumulative probability."""
    if mean > _MAX_SEARCHED_MEAN:  # the normal distribution is close
        count = np.floor(mean + math.sqrt(mean) * cuda.normcdfinv(probability) + 0.5)
    else:
        count, term = 0.0, math.exp(-mean)
        total = term
        while total < probability and term > 0:
            count += 1
            term *= mean / count
            total += term
    return max(count, 0.0)


_MAX_SEARCHED_MEAN = 500.0


class _Draws:
    """The kernels of a generator, by the dtype of the array."""

    def __init__(self, uint32: Any, uniform_float32: Any, uniform_float64: Any) -> None:
        @device
        def int32(seed, offset, i):  # type: ignore[no-untyped-def]
            return np.int32(uint32(seed, offset, i))

        @device
        def normal(seed, offset, i):  # type: ignore[no-untyped-def]
            return cuda.normcdfinv(uniform_float64(seed, offset, i))

        @kernel
        def poisson(seed, offset, mean, out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = _poisson(uniform_float64(seed, offset, i), mean)

        @kernel
        def poisson_of_means(seed, offset, out):  # type: ignore[no-untyped-def]
            i = cuda.grid(1)
            if i < out.size:
                out[i] = _poisson(uniform_float64(seed, offset, i), np.float64(out[i]))

        self.uniform = {
            "float32": _fill_kernel(uniform_float32),
            "float64": _fill_kernel(uniform_float64),
            "uint32": _fill_kernel(uint32),
            "int32": _fill_kernel(int32),
        }
        self.normal = dict.fromkeys(("float32", "float64"), _fill_kernel(normal))
        self.poisson, self.poisson_of_means = poisson, poisson_of_means


_PHILOX = _Draws(philox_uint32, philox_uniform_float32, philox_uniform_float64)
_PHILOX.normal = {
    "float32": _fill_kernel(philox_normal_float32),
    "float64": _fill_kernel(philox_normal_float64),
}


def _sobol_draws(dtype: Any) -> _Draws:
    """Return the kernels of Sobol's sequence of unsigned integers."""
    bits = np.dtype(dtype).itemsize * 8
    unused32, unused64 = bits - 24, max(bits - 53, 0)

    @device
    def point(scramble, offset, i):  # type: ignore[no-untyped-def]
        n = dtype(offset + i)
        return cuda.brev(n ^ (n >> dtype(1))) ^ dtype(scramble)

    @device
    def uint32(scramble, offset, i):  # type: ignore[no-untyped-def]
        return np.uint32(point(scramble, offset, i) >> dtype(bits - 32))

    @device
    def uniform_float32(scramble, offset, i):  # type: ignore[no-untyped-def]
        x = point(scramble, offset, i) >> dtype(unused32)
        return (np.float32(x) + np.float32(0.5)) * np.float32(2.0**-24)

    @device
    def uniform_float64(scramble, offset, i):  # type: ignore[no-untyped-def]
        x = point(scramble, offset, i) >> dtype(unused64)
        return (np.float64(x) + 0.5) * 2.0 ** (unused64 - bits)

    return _Draws(uint32, uniform_float32, uniform_float64)


def get_curand_version() -> tuple[int, int, int]:
    """Return the version of cuRAND whose API this implements."""
    return 10, 3, 0


class _RandomNumberGenerator:
    """A random number generator: ``generator.gen_uniform(shape, dtype)``."""

    def __init__(self, draws: _Draws, seed: int | np.uint64, offset: int) -> None:
        self._draws, self._seed, self._offset = draws, seed, offset

    def _advance(self, size: int) -> None:
        """Change the state, so that the next call draws other numbers."""
        self._offset += size

    @translate_errors
    def _fill(self, kernel: Any, data: GPUArray, stream: object, mean: float | None = None) -> None:
        if not data.flags.forc:
            raise RuntimeError("only contiguous arrays may be used as arguments to this operation")
        means = () if mean is None else (float(mean),)
        launch(kernel, data.size, (self._seed, self._offset, *means, data.flat()), stream)
        self._advance(data.size)

    @staticmethod
    def _kernel_for(data: GPUArray, kernels: dict[str, Any]) -> Any:
        if data.dtype.name not in kernels:
            raise NotImplementedError(
                f"random numbers have the types {', '.join(kernels)}, not {data.dtype}"
            )
        return kernels[data.dtype.name]

    def fill_uniform(self, data: GPUArray, stream: object = None) -> None:
        """Fill an array uniformly: floats from 0 to 1, integers from their whole range."""
        self._fill(self._kernel_for(data, self._draws.uniform), data, stream)

    def fill_normal(self, data: GPUArray, stream: object = None) -> None:
        """Fill an array from the normal distribution with mean 0 and deviation 1."""
        self._fill(self._kernel_for(data, self._draws.normal), data, stream)

    def fill_log_normal(
        self, data: GPUArray, mean: float, stddev: float, stream: object = None
    ) -> None:
        """Fill an array from a log-normal distribution."""
        self.fill_normal(data, stream)
        data *= stddev
        data += mean
        cumath.exp(data, out=data)

    def fill_poisson(
        self, data: GPUArray, lambda_value: float | None = None, stream: object = None
    ) -> None:
        """Fill an array from Poisson distributions.

        Without ``lambda_value``, each element is the mean of its own distribution.
        """
        self._kernel_for(data, self._draws.uniform)  # raises NotImplementedError
        draws = self._draws
        kernel = draws.poisson_of_means if lambda_value is None else draws.poisson
        self._fill(kernel, data, stream, lambda_value)

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

    def gen_log_normal(
        self, shape: Any, dtype: Any, log_mean: float, log_stddev: float, stream: object = None
    ) -> GPUArray:
        """Return a new array, filled by ``fill_log_normal``."""
        array = GPUArray(shape, dtype)
        self.fill_log_normal(array, log_mean, log_stddev, stream)
        return array

    def gen_poisson(
        self, shape: Any, dtype: Any, lambda_value: float, stream: object = None
    ) -> GPUArray:
        """Return a new array, filled by ``fill_poisson``."""
        array = GPUArray(shape, dtype)
        self.fill_poisson(array, lambda_value, stream)
        return array


class PhiloxRandomNumberGenerator(_RandomNumberGenerator):
    """A pseudorandom number generator."""

    def __init__(
        self, seed_getter: Callable[[int], GPUArray] | None = None, offset: int = 0
    ) -> None:
        seed = secrets.randbits(32) if seed_getter is None else int(seed_getter(1).get()[0])
        super().__init__(_PHILOX, seed & 0xFFFFFFFF, int(offset))

    def _advance(self, size: int) -> None:
        self._offset += 1


XORWOWRandomNumberGenerator = MRG32k3aRandomNumberGenerator = PhiloxRandomNumberGenerator

# ---- quasirandom numbers -----------------------------------------------------------------------

_SOBOL32, _SOBOL64 = _sobol_draws(np.uint32), _sobol_draws(np.uint64)


class Sobol32RandomNumberGenerator(_RandomNumberGenerator):
    """Sobol's sequence of 32 bits; ``dir_vector`` must be None, which is the first dimension."""

    draws, bits = _SOBOL32, 32

    def __init__(self, dir_vector: None = None, offset: int = 0) -> None:
        self._initialize(dir_vector, 0, offset)

    def _initialize(self, dir_vector: None, scramble: int, offset: int) -> None:
        if dir_vector is not None:
            raise NotImplementedError(
                "generators return the first dimension of Sobol's sequence: pass no dir_vector"
            )
        super().__init__(self.draws, np.uint64(scramble), int(offset))


class ScrambledSobol32RandomNumberGenerator(Sobol32RandomNumberGenerator):
    """Sobol's sequence with inverted bits: those of ``scramble_vector``, or random ones."""

    def __init__(
        self, dir_vector: None = None, scramble_vector: Any = None, offset: int = 0
    ) -> None:
        scramble = secrets.randbits(self.bits)
        if scramble_vector is not None:
            scramble = int(scramble_vector.get().flat[0])
        self._initialize(dir_vector, scramble % 2**self.bits, offset)


class Sobol64RandomNumberGenerator(Sobol32RandomNumberGenerator):
    """Sobol's sequence of 64 bits."""

    draws, bits = _SOBOL64, 64


class ScrambledSobol64RandomNumberGenerator(ScrambledSobol32RandomNumberGenerator):
    """Sobol's sequence of 64 bits with inverted bits."""

    draws, bits = _SOBOL64, 64


def seed_getter_uniform(N: int) -> GPUArray:
    """Return seeds that are all equal."""
    return GPUArray((N,), np.int32).fill(np.int32(secrets.randbits(31)))


def seed_getter_unique(N: int) -> GPUArray:
    """Return seeds that are all different."""
    array = GPUArray((N,), np.int32)
    array.set(np.random.default_rng().integers(0, 2**31, N, np.int32))
    return array


def rand(shape: Any, dtype: Any = np.float32, stream: object = None) -> GPUArray:
    """Return a new array of numbers from 0 to 1."""
    return PhiloxRandomNumberGenerator().gen_uniform(shape, dtype, stream)
