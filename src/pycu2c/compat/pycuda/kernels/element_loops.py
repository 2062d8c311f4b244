"""Choose launch configurations for kernels that PyCUDA generates from expressions.

On a GPU adjacent threads process adjacent elements; on the CPU a thread processes a contiguous
range.
"""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Sequence
from string import Template
from typing import Any, NamedTuple

import numpy as np

from pycu2c.compat.pycuda.c_types import Argument, VectorArg
from pycu2c.compat.pycuda.contexts import Device
from pycu2c.compat.pycuda.enums import device_attribute
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray, as_gpuarray
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.cuda_driver import driver

_GPU_BLOCK_SIZE = 256
_BLOCKS_PER_MULTIPROCESSOR = 8
_THREADS_PER_CORE = 4
_MIN_CPU_ELEMENTS = 4096  # per thread


class LaunchShape(NamedTuple):
    """A number of blocks and of threads per block."""

    blocks: int
    threads: int


def block_size() -> int:
    """Return the block size for the current device."""
    return _GPU_BLOCK_SIZE if on_gpu() else 1


def launch_shape(count: int, min_elements: int = 1) -> LaunchShape:
    """Return the configuration for ``count`` elements. ``min_elements``: per GPU thread."""
    multiprocessors = _multiprocessors(driver.current_ordinal() if on_gpu() else 0)
    threads = block_size()
    if on_gpu():
        max_blocks, elements = _BLOCKS_PER_MULTIPROCESSOR * multiprocessors, threads * min_elements
    else:
        max_blocks, elements = _THREADS_PER_CORE * multiprocessors, _MIN_CPU_ELEMENTS
    return LaunchShape(max(1, min(max_blocks, -(-count // elements))), threads)


@functools.cache
def _multiprocessors(ordinal: int) -> int:
    """Return the number of multiprocessors, cached: the query takes longer than a small kernel."""
    return Device(ordinal).get_attribute(device_attribute.MULTIPROCESSOR_COUNT)


@functools.cache
def cuda_template(*names: str) -> Template:
    """Return the CUDA C of files ``name.cu`` in this folder, joined by empty lines."""
    folder = pathlib.Path(__file__).parent
    return Template("\n".join((folder / f"{n}.cu").read_text(encoding="utf-8") for n in names))


def complex_header(arguments: Sequence[Argument], *other_dtypes: Any) -> str:
    """Return the includes for complex numbers."""
    dtypes = [a.dtype for a in arguments if not a.c_name] + [np.dtype(o) for o in other_dtypes]
    header = "#include <cuComplex.h>\n" if any(a.c_name for a in arguments) else ""
    if any(d.kind == "c" for d in dtypes):
        header += "#include <pycuda-complex.hpp>\n"
    return header


def convert_arguments(
    arguments: Sequence[Argument], values: Sequence[Any], name: str
) -> tuple[list[Any], Any]:
    """Convert arguments for a prepared call, and return the first array.

    Raises TypeError, RuntimeError.
    """
    if len(values) != len(arguments):
        raise TypeError(f"{name} takes {len(arguments)} arguments, not {len(values)}")
    converted: list[Any] = []
    first: Any = None
    for argument, value in zip(arguments, values):
        if not isinstance(argument, VectorArg):
            converted.append(value)
            continue
        array = _array_of(value, f"{name}: {argument.name}")
        if not array.flags.forc:
            raise RuntimeError(
                f"{name} cannot deal with non-contiguous arrays: pass {argument.name}.copy()"
            )
        if array.dtype != argument.dtype:
            raise TypeError(
                f"{name}: {argument.name} is an array of {argument.dtype}, and the argument has "
                f"dtype {array.dtype}"
            )
        converted.append(array)
        first = array if first is None else first
    return converted, first


def _array_of(value: Any, name: str) -> GPUArray:
    try:
        return as_gpuarray(value)
    except TypeError as error:
        raise TypeError(f"{name} is an array, and the argument is {value!r}: {error}") from None
