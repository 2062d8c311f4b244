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
#define RUN_ {run}
#define EXCLUSIVE_ {exclusive}
typedef {scan_type} scan_type;
static __device__ __forceinline__ scan_type scan_(scan_type a, scan_type b)
{{
    return {scan_expr};
}}
"""
# On a GPU each block scans a contiguous piece in tiles; a thread scans adjacent elements. A first
# kernel computes the totals of the pieces. Then each block combines the totals before its own, and
# scans its piece. The order of elements is preserved.
_GPU_KERNELS = """
#define TILE_ (THREADS_ * RUN_)
#define ROOM_ \\
    __shared__ __align__(16) unsigned char room_[(TILE_ + THREADS_ / 32) * sizeof(scan_type)]; \\
    scan_type *const tile = (scan_type *)room_

// Scan elements, starting from `carry` if `follows`, and return the total. If `writes`, write the
// prefix of each element to the output: with the element, or if EXCLUSIVE_ without it.
template <bool writes>
static __device__ scan_type walk_(
    const scan_type *input, scan_type *output, long first, long end, scan_type carry, bool follows,
    scan_type *tile)
{{
    scan_type *const warps = tile + TILE_;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, mine = threadIdx.x * RUN_;
    for (; first < end; first += TILE_) {{
        const int count = end - first < TILE_ ? (int)(end - first) : TILE_;
        const int used = (count + RUN_ - 1) / RUN_;
#pragma unroll
        for (int k = threadIdx.x; k < TILE_; k += THREADS_)
            if (k < count) tile[k] = input[first + k];
        __syncthreads();
        scan_type upto = tile[mine < count ? mine : 0];
#pragma unroll
        for (int k = 1; k < RUN_; k++)
            if (mine + k < count) upto = scan_(upto, tile[mine + k]);
#pragma unroll
        for (int back = 1; back < 32; back *= 2) {{
            const scan_type before = _of_lane_before(upto, back);
            if (lane >= back) upto = scan_(before, upto);
        }}
        const scan_type before = _of_lane_before(upto, 1);
        if (threadIdx.x == (warp * 32 + 31 < used ? warp * 32 + 31 : used - 1)) warps[warp] = upto;
        __syncthreads();
        scan_type prefix = carry;
        bool has = follows;
        for (int w = 0; w * 32 < used; w++) {{
            if (w == warp) prefix = carry, has = follows;
            carry = follows ? scan_(carry, warps[w]) : warps[w];
            follows = true;
        }}
        if (writes) {{
            if (lane) prefix = has ? scan_(prefix, before) : before, has = true;
#pragma unroll
            for (int k = 0; k < RUN_; k++) {{
                if (mine + k >= count) break;
                const scan_type value = tile[mine + k], next = has ? scan_(prefix, value) : value;
                tile[mine + k] = EXCLUSIVE_ ? prefix : next;
                prefix = next;
                has = true;
            }}
            __syncthreads();
#pragma unroll
            for (int k = threadIdx.x; k < TILE_; k += THREADS_)
                if (k < count) output[first + k] = tile[k];
        }}
    }}
    __syncthreads();
    return carry;
}}

extern "C" __global__ void {name}_totals(
    const scan_type *input, long n, long piece, scan_type *totals)
{{
    ROOM_;
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    const scan_type total = walk_<false>(input, 0, first, end, input[first], false, tile);
    if (threadIdx.x == 0) totals[blockIdx.x] = total;
}}

extern "C" __global__ void {name}_update(
    const scan_type *input, long n, long piece, const scan_type *totals, scan_type *output)
{{
    ROOM_;
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type carry = {neutral};
    if (blockIdx.x) {{
        const scan_type before = walk_<false>(totals, 0, 0, blockIdx.x, totals[0], false, tile);
        carry = EXCLUSIVE_ ? scan_(carry, before) : before;
    }}
    walk_<true>(input, output, first, end, carry, EXCLUSIVE_ || blockIdx.x, tile);
}}
"""
# On the CPU each block has one thread, which scans a contiguous piece.
_CPU_KERNELS = """
extern "C" __global__ void {name}_totals(
    const scan_type *input, long n, long piece, scan_type *totals)
{{
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type total = input[first];
    for (long i = first + 1; i < end; i++) total = scan_(total, input[i]);
    totals[blockIdx.x] = total;
}}

extern "C" __global__ void {name}_update(
    const scan_type *input, long n, long piece, const scan_type *totals, scan_type *output)
{{
    const long first = blockIdx.x * piece, end = first + piece < n ? first + piece : n;
    scan_type sum = {neutral};
    bool has = EXCLUSIVE_;
    for (unsigned int k = 0; k < blockIdx.x; k++, has = true)
        sum = has ? scan_(sum, totals[k]) : totals[k];
    for (long i = first; i < end; i++, has = true) {{
        const scan_type value = input[i], next = has ? scan_(sum, value) : value;
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
        names = frozenset(("_of_lane_before",))
        helper_functions = (
            cupy_preamble.used_functions("reductions.h", names) if threads > 1 else []
        )
        return (_SCAN_HEADER + (_GPU_KERNELS if threads > 1 else _CPU_KERNELS)).format(
            header=complex_header([VectorArg(self.dtype, "input")]),
            preamble="\n".join((self.preamble, c_expression.functions, *helper_functions)),
            threads=threads,
            run=self._elements_per_thread,
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
