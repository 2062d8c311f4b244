"""Implement ``pycuda.scan``: prefix sums with any associative operation, in C or Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pycu2c.compat.cupy import preamble as cupy_preamble
from pycu2c.compat.pycuda.c_types import VectorArg, dtype_to_ctype
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray, as_gpuarray
from pycu2c.compat.pycuda.kernels.device_functions import Expression, as_c_expression
from pycu2c.compat.pycuda.kernels.element_loops import block_size, complex_header, launch_shape
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules.source_module import SourceModule

_SCAN_HEADER = """{header}{preamble}
#define THREADS_ {threads}
#define ITEMS_PER_THREAD_ {items_per_thread}
#define EXCLUSIVE_ {exclusive}
typedef {scan_type} scan_type;
static __device__ __forceinline__ scan_type combine_(scan_type a, scan_type b)
{{
    return {scan_expr};
}}
"""
# On a GPU each block scans a contiguous piece in tiles; a thread scans adjacent elements. A first
# kernel computes the totals of the pieces. Then each block combines the totals before its own, and
# scans its piece. The order of elements is preserved.
_GPU_KERNELS = """
#define ITEMS_PER_TILE_ (THREADS_ * ITEMS_PER_THREAD_)
// The elements of a tile, and after them the totals of its warps. The type may have a constructor,
// which an array in shared memory must not have.
#define DECLARE_SHARED_TILE_ \\
    __shared__ __align__(16) unsigned char \\
        shared_memory_[(ITEMS_PER_TILE_ + THREADS_ / 32) * sizeof(scan_type)]; \\
    scan_type *const tile = (scan_type *)shared_memory_

// Scan the elements from `first` to `end`, and return their total, combined with `carry` if
// `has_carry`: the total of the elements before. If `writes`, write the prefix of each element to
// the output: with the element, or if EXCLUSIVE_ without it.
template <bool writes>
static __device__ scan_type scan_range_(
    const scan_type *input, scan_type *output, long first, long end, scan_type carry,
    bool has_carry, scan_type *tile)
{{
    scan_type *const warp_totals = tile + ITEMS_PER_TILE_;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int thread_first = threadIdx.x * ITEMS_PER_THREAD_; // index of the thread's first element
    for (; first < end; first += ITEMS_PER_TILE_) {{
        const int count = end - first < ITEMS_PER_TILE_ ? (int)(end - first) : ITEMS_PER_TILE_;
        const int active_threads = (count + ITEMS_PER_THREAD_ - 1) / ITEMS_PER_THREAD_;
#pragma unroll
        for (int k = threadIdx.x; k < ITEMS_PER_TILE_; k += THREADS_)
            if (k < count) tile[k] = input[first + k];
        __syncthreads();
        scan_type inclusive = tile[thread_first < count ? thread_first : 0];
#pragma unroll
        for (int k = 1; k < ITEMS_PER_THREAD_; k++)
            if (thread_first + k < count) inclusive = combine_(inclusive, tile[thread_first + k]);
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {{
            const scan_type before = _shuffle_up(inclusive, distance);
            if (lane >= distance) inclusive = combine_(before, inclusive);
        }}
        const scan_type before = _shuffle_up(inclusive, 1);
        const int last_of_warp = warp * 32 + 31;
        if (threadIdx.x == (last_of_warp < active_threads ? last_of_warp : active_threads - 1))
            warp_totals[warp] = inclusive;
        __syncthreads();
        scan_type prefix = carry;
        bool has_prefix = has_carry;
        for (int w = 0; w * 32 < active_threads; w++) {{
            if (w == warp) prefix = carry, has_prefix = has_carry;
            carry = has_carry ? combine_(carry, warp_totals[w]) : warp_totals[w];
            has_carry = true;
        }}
        if (writes) {{
            if (lane) prefix = has_prefix ? combine_(prefix, before) : before, has_prefix = true;
#pragma unroll
            for (int k = 0; k < ITEMS_PER_THREAD_; k++) {{
                if (thread_first + k >= count) break;
                const scan_type value = tile[thread_first + k];
                const scan_type next = has_prefix ? combine_(prefix, value) : value;
                tile[thread_first + k] = EXCLUSIVE_ ? prefix : next;
                prefix = next;
                has_prefix = true;
            }}
            __syncthreads();
#pragma unroll
            for (int k = threadIdx.x; k < ITEMS_PER_TILE_; k += THREADS_)
                if (k < count) output[first + k] = tile[k];
        }}
    }}
    __syncthreads();
    return carry;
}}

extern "C" __global__ void {name}_totals(
    const scan_type *input, long n, long piece, scan_type *totals)
{{
    DECLARE_SHARED_TILE_;
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    const scan_type total = scan_range_<false>(input, 0, first, end, input[first], false, tile);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}}

extern "C" __global__ void {name}_update(
    const scan_type *input, long n, long piece, const scan_type *totals, scan_type *output)
{{
    DECLARE_SHARED_TILE_;
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type carry = {neutral};
    if (blockIdx.x) {{
        const scan_type before =
            scan_range_<false>(totals, 0, 0, blockIdx.x, totals[0], false, tile);
        carry = EXCLUSIVE_ ? combine_(carry, before) : before;
    }}
    scan_range_<true>(input, output, first, end, carry, EXCLUSIVE_ || blockIdx.x, tile);
}}
"""
# On the CPU each block has one thread, which scans a contiguous piece.
_CPU_KERNELS = """
extern "C" __global__ void {name}_totals(
    const scan_type *input, long n, long piece, scan_type *totals)
{{
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type total = input[first];
    for (long i = first + 1; i < end; i++) total = combine_(total, input[i]);
    totals[blockIdx.x] = total;
}}

extern "C" __global__ void {name}_update(
    const scan_type *input, long n, long piece, const scan_type *totals, scan_type *output)
{{
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type sum = {neutral};
    bool has_prefix = EXCLUSIVE_;
    for (unsigned int k = 0; k < blockIdx.x; k++, has_prefix = true)
        sum = has_prefix ? combine_(sum, totals[k]) : totals[k];
    for (long i = first; i < end; i++, has_prefix = true) {{
        const scan_type value = input[i], next = has_prefix ? combine_(sum, value) : value;
        output[i] = EXCLUSIVE_ ? sum : next;
        sum = next;
    }}
}}
"""
_MAX_TILE_BYTES = 40 << 10
_MAX_ELEMENTS_PER_THREAD = 9  # odd, to avoid bank conflicts
_MIN_TILES_PER_BLOCK = 2


class _ScanKernel:
    """The base class of inclusive and exclusive scans."""

    _exclusive: ClassVar[bool]

    def __init__(
        self,
        dtype: Any,
        scan_expr: Expression,
        neutral: Any = None,
        name_prefix: str = "scan",
        options: Sequence[str] = (),
        preamble: str = "",
        devices: Any = None,
    ) -> None:
        self.dtype, self.scan_expr, self.neutral = np.dtype(dtype), scan_expr, neutral
        self.name, self.preamble, self._options = name_prefix, preamble, tuple(options)
        self._compiled: dict[bool, dict[str, Any]] = {}

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return str(self._functions()["update"].inspect(language))

    def text(self) -> str:
        """Return the CUDA C."""
        values = [("a", self.dtype), ("b", self.dtype)]
        c_expression = as_c_expression(self.scan_expr, values, self.dtype, f"{self.name}_scanned")
        threads = block_size()
        names = frozenset(("_shuffle_up",))
        helper_functions = (
            cupy_preamble.used_functions("reductions.h", names) if threads > 1 else []
        )
        return (_SCAN_HEADER + (_GPU_KERNELS if threads > 1 else _CPU_KERNELS)).format(
            header=complex_header([VectorArg(self.dtype, "input")]),
            preamble="\n".join((self.preamble, c_expression.functions, *helper_functions)),
            threads=threads,
            items_per_thread=self._elements_per_thread,
            exclusive=int(self._exclusive),
            scan_type=dtype_to_ctype(self.dtype),
            scan_expr=c_expression.expression,
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
        """Scan an array. ``output_ary``: an array, "new" for a new one, or None for in place."""
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
    """``InclusiveScanKernel(np.int32, "a+b")``: each result includes its own element."""

    _exclusive = False


class ExclusiveScanKernel(_ScanKernel):
    """``ExclusiveScanKernel(np.int32, "a+b", neutral="0")``: each result includes only previous
    elements."""

    _exclusive = True

    def __init__(
        self, dtype: Any, scan_expr: Expression, neutral: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        if neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        super().__init__(dtype, scan_expr, neutral, *args, **kwargs)
