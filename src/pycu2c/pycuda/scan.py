"""``pycuda.scan``: prefix sums of any operation that is associative, in C or in Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from pycu2c.pycuda.allocations import on_gpu
from pycu2c.pycuda.c_types import VectorArg, dtype_to_ctype
from pycu2c.pycuda.element_loops import complex_header, shape_for, threads_of_block
from pycu2c.pycuda.errors import translating
from pycu2c.pycuda.gpuarray_class import GPUArray
from pycu2c.pycuda.python_texts import Expression, in_c
from pycu2c.pycuda.source_modules import SourceModule

# Every thread has a run of neighbours. Of all runs the totals are taken first; then each thread
# goes over its run once more, from what the runs before it have come to.
_TEXT = """{header}{preamble}
#define THREADS_ {threads}
typedef {scan_type} scan_type;
static __device__ __forceinline__ scan_type scan_(scan_type a, scan_type b)
{{
    return {scan_expr};
}}

extern "C" __global__ void {name}_totals(
    const scan_type *input, long n, long run, scan_type *totals)
{{
    const long me = (long)blockIdx.x * THREADS_ + threadIdx.x, first = me * run;
    if (first >= n) return;
    const long end = first + run < n ? first + run : n;
    scan_type total = input[first];
    for (long i = first + 1; i < end; i++) total = scan_(total, input[i]);
    totals[me] = total;
}}

extern "C" __global__ void {name}_runs(scan_type *totals, long count)
{{
    const long run = (count + THREADS_ - 1) / THREADS_, first = threadIdx.x * run;
    const long end = first + run < count ? first + run : count;
    if (first < count)
        for (long i = first + 1; i < end; i++) totals[i] = scan_(totals[i - 1], totals[i]);
#if THREADS_ > 1
    __shared__ __align__(16) unsigned char room_[THREADS_ * sizeof(scan_type)];
    scan_type *const ends = (scan_type *)room_;
    if (first < count) ends[threadIdx.x] = totals[end - 1];
    __syncthreads();
    if (threadIdx.x == 0)
        for (long t = 1; t * run < count; t++) ends[t] = scan_(ends[t - 1], ends[t]);
    __syncthreads();
    if (threadIdx.x > 0 && first < count)
        for (long i = first; i < end; i++) totals[i] = scan_(ends[threadIdx.x - 1], totals[i]);
#endif
}}

extern "C" __global__ void {name}_update(
    const scan_type *input, long n, long run, const scan_type *totals, scan_type *output)
{{
    const long me = (long)blockIdx.x * THREADS_ + threadIdx.x, first = me * run;
    if (first >= n) return;
    const long end = first + run < n ? first + run : n;
{update}
}}
"""
_INCLUSIVE = """\
    scan_type sum = me ? scan_(totals[me - 1], input[first]) : input[first];
    output[first] = sum;
    for (long i = first + 1; i < end; i++) output[i] = sum = scan_(sum, input[i]);"""
_EXCLUSIVE = """\
    scan_type sum = {neutral};
    if (me) sum = scan_(sum, totals[me - 1]);
    for (long i = first; i < end; i++) {{
        const scan_type value = input[i];
        output[i] = sum;
        sum = scan_(sum, value);
    }}"""
_RUN = 16  # elements of a thread of a GPU, at least


class _ScanKernel:
    """What both kinds share."""

    _update: ClassVar[str]

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
        """The whole text that is compiled; or what is made of it: "ptx", "sass", "c"."""
        found: str = self._functions()["update"].inspect(language)
        return found

    def text(self) -> str:
        """The CUDA C that is compiled."""
        values = [("a", self.dtype), ("b", self.dtype)]
        scanned = in_c(self.scan_expr, values, self.dtype, f"{self.name}_scanned")
        return _TEXT.format(
            header=complex_header([VectorArg(self.dtype, "input")]),
            preamble=f"{self.preamble}\n{scanned.functions}",
            threads=threads_of_block(),
            scan_type=dtype_to_ctype(self.dtype),
            scan_expr=scanned.expression,
            name=self.name,
            update=self._update.format(neutral=self.neutral),
        )

    def _functions(self) -> dict[str, Any]:
        found = self._compiled.get(on_gpu())
        if found is None:
            module = SourceModule(self.text(), options=self._options, no_extern_c=True)
            letters = {"totals": "PllP", "runs": "Pl", "update": "PllPP"}
            found = self._compiled[on_gpu()] = {
                part: module.get_function(f"{self.name}_{part}").prepare(types)
                for part, types in letters.items()
            }
        return found

    @translating
    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: Any = None,
        allocator: Any = None,
        stream: object = None,
    ) -> GPUArray:
        """Scan an array: in place, into another array, or into a new one if that is "new"."""
        out: GPUArray = input_ary if output_ary is None else output_ary
        if isinstance(output_ary, str):
            out = GPUArray(input_ary.shape, self.dtype, allocator or input_ary.allocator)
        if input_ary.shape != out.shape:
            raise ValueError("input and output must have the same shape")
        if not (input_ary.flags.forc and out.flags.forc):
            raise RuntimeError("ScanKernel cannot deal with non-contiguous arrays")
        n = input_ary.size
        if not n:
            return out
        shape = shape_for(n, _RUN)
        workers = shape.blocks * shape.threads
        run = -(-n // workers)
        totals = (allocator or input_ary.allocator)(workers * self.dtype.itemsize)
        parts, whole = self._functions(), (shape.threads, 1, 1)
        given = input_ary.gpudata, n, run, totals
        parts["totals"].prepared_async_call((shape.blocks, 1), whole, stream, *given)
        parts["runs"].prepared_async_call((1, 1), whole, stream, totals, -(-n // run))
        parts["update"].prepared_async_call((shape.blocks, 1), whole, stream, *given, out.gpudata)
        return out


class InclusiveScanKernel(_ScanKernel):
    """``InclusiveScanKernel(np.int32, "a+b")``: each result has its own element in it."""

    _update = _INCLUSIVE


class ExclusiveScanKernel(_ScanKernel):
    """``ExclusiveScanKernel(np.int32, "a+b", neutral="0")``: each result is of the elements
    before."""

    _update = _EXCLUSIVE

    def __init__(
        self, dtype: Any, scan_expr: Expression, neutral: Any = None, *others: Any, **named: Any
    ) -> None:
        if neutral is None:
            raise ValueError("neutral element is required for exclusive scan")
        super().__init__(dtype, scan_expr, neutral, *others, **named)
