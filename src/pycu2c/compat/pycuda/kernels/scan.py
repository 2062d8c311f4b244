"""Implement ``pycuda.scan``: prefix sums with any associative operation in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pycu2c.compat.cupy import preamble as cupy_preamble
from pycu2c.compat.cupy.parameter_declarations import require_c_text
from pycu2c.compat.pycuda.c_types import VectorArg, dtype_to_ctype
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray, as_gpuarray
from pycu2c.compat.pycuda.kernels.element_loops import (
    block_size,
    complex_header,
    cuda_template,
    launch_shape,
)
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules.source_module import SourceModule

_MAX_TILE_BYTES = 40 << 10
_MAX_ELEMENTS_PER_THREAD = 9  # odd, to avoid bank conflicts
_MIN_TILES_PER_BLOCK = 2


class _ScanKernel:
    """A prefix sum, or a scan with another operation."""

    _exclusive: ClassVar[bool]

    def __init__(
        self,
        dtype: Any,
        scan_expr: str,
        neutral: Any = None,
        name_prefix: str = "scan",
        options: Sequence[str] = (),
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        require_c_text(scan_expr=scan_expr)
        self.dtype, self.scan_expr, self.neutral = np.dtype(dtype), scan_expr, neutral
        self.name, self.preamble, self._options = name_prefix, preamble, tuple(options)
        self._compiled: dict[bool, dict[str, Any]] = {}

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return str(self._functions()["update"].inspect(language))

    def text(self) -> str:
        """Return the CUDA C."""
        threads = block_size()
        names = frozenset(("_shuffle_up",))
        helper_functions = (
            cupy_preamble.used_functions("reductions.h", names) if threads > 1 else []
        )
        kernels = "scan_gpu" if threads > 1 else "scan_cpu"
        return cuda_template("scan", kernels).substitute(
            header=complex_header([VectorArg(self.dtype, "input")]),
            preamble="\n".join((self.preamble, *helper_functions)),
            threads=threads,
            items_per_thread=self._elements_per_thread,
            exclusive=int(self._exclusive),
            scan_type=dtype_to_ctype(self.dtype),
            scan_expr=self.scan_expr,
            name=self.name,
            # an inclusive scan does not use this initial value
            neutral=self.neutral if self._exclusive else "input[first]",
        )

    @property
    def _elements_per_thread(self) -> int:
        """Return the elements of a thread per tile: an odd number, to avoid bank conflicts."""
        threads = block_size()
        max_elements = _MAX_TILE_BYTES // (threads * self.dtype.itemsize)
        odd = max_elements - 1 | 1  # the largest odd number up to max_elements
        return max(1, min(_MAX_ELEMENTS_PER_THREAD, odd)) if threads > 1 else 1

    def _partition(self, count: int) -> tuple[int, int]:
        """Return the elements per block, and the number of blocks."""
        tile = block_size() * self._elements_per_thread
        blocks = launch_shape(count, self._elements_per_thread * _MIN_TILES_PER_BLOCK).blocks
        piece = -(-count // (blocks * tile)) * tile
        return piece, -(-count // piece)

    def _functions(self) -> dict[str, Any]:
        functions = self._compiled.get(on_gpu())
        if functions is None:
            module = SourceModule(self.text(), options=self._options, no_extern_c=True)
            formats = {"totals": "PllP", "update": "PllPP"}
            functions = self._compiled[on_gpu()] = {
                suffix: module.get_function(f"{self.name}_{suffix}").prepare(types)
                for suffix, types in formats.items()
            }
        return functions

    @translate_errors
    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: Any = None,
        allocator: Any = None,
        stream: object = None,
    ) -> GPUArray:
        """Scan an array.

        Returns
        -------
        GPUArray
            The result.
        """
        input_ary = as_gpuarray(input_ary)
        out: GPUArray = input_ary if output_ary is None else output_ary
        if not isinstance(output_ary, str):
            out = as_gpuarray(out)
        else:
            out = GPUArray(input_ary.shape, self.dtype, allocator or input_ary.allocator)
        if input_ary.shape != out.shape:
            raise ValueError("input and output must have the same shape")
        if not (input_ary.flags.forc and out.flags.forc):
            raise RuntimeError("ScanKernel cannot deal with non-contiguous arrays")
        n = input_ary.size
        if not n:
            return out
        piece, blocks = self._partition(n)
        totals = (allocator or input_ary.allocator)(blocks * self.dtype.itemsize)
        functions, block = self._functions(), (block_size(), 1, 1)
        arguments = input_ary, n, piece, totals
        if blocks > 1:
            functions["totals"].prepared_async_call((blocks, 1), block, stream, *arguments)
        functions["update"].prepared_async_call((blocks, 1), block, stream, *arguments, out)
        return out


class InclusiveScanKernel(_ScanKernel):
    """A scan in which each result includes its own element: ``InclusiveScanKernel(np.int32,
    "a+b")``.
    """

    _exclusive = False


class ExclusiveScanKernel(_ScanKernel):
    """A scan in which each result includes only previous elements.

    ``ExclusiveScanKernel(np.int32, "a+b", neutral="0")`` is a prefix sum.
    """

    _exclusive = True

    def __init__(
        self, dtype: Any, scan_expr: str, neutral: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        if neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        super().__init__(dtype, scan_expr, neutral, *args, **kwargs)
