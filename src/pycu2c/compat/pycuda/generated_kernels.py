"""Implement PyCUDA's ``ElementwiseKernel`` and ``ReductionKernel``, by generated CUDA C.

On a GPU adjacent threads process adjacent elements; on the CPU a thread processes a contiguous
range.
"""

from __future__ import annotations

import builtins
import functools
import os
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np

from pycu2c.base import graph_capture
from pycu2c.compat.cupy import preamble as cupy_preamble
from pycu2c.compat.cupy.parameter_declarations import require_c_text
from pycu2c.compat.cupy.reduction import workspace
from pycu2c.compat.pycuda.c_types import VectorArg, dtype_to_ctype, parse_c_args
from pycu2c.compat.pycuda.contexts import Context
from pycu2c.compat.pycuda.function import Function
from pycu2c.compat.pycuda.gpuarray import GPUArray, as_gpuarray
from pycu2c.compat.pycuda.modules import HEADERS, SourceModule
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import gpu_selection

_MIN_CPU_ELEMENTS = 4096  # per thread
_GPU_LOOP = "for (i = cta_start + tid; i < {n}; i += total_threads)"
_CPU_LOOP = """const long elements_per_thread_ = ({n} + total_threads - 1) / total_threads;
    const long first_ = (cta_start + tid) * elements_per_thread_;
    const long end_ = first_ + elements_per_thread_ < {n} ? first_ + elements_per_thread_ : {n};
    for (i = first_; i < end_; i++)"""
_RANGE_LOOP = """const long count_ = step < 0 ? (start - stop - step - 1) / -step
                                        : (stop - start + step - 1) / step;
    for (long index_ = cta_start + tid; index_ < count_ && (i = start + index_ * step, true);
         index_ += total_threads)"""


@functools.cache
def _multiprocessors(ordinal: int) -> int:
    """Return the number of multiprocessors, cached: the query takes longer than a small kernel."""
    return Context.get_device().multiprocessor_count


def _launch_shape(count: int, min_elements: int = 1) -> tuple[int, int]:
    """Return blocks and threads per block. ``min_elements``: per thread of a GPU."""
    ordinal = gpu_selection.ordinal_of(None)
    on_gpu = ordinal >= 0
    threads, max_blocks = (256, 8) if on_gpu else (1, 4)  # blocks per multiprocessor
    elements = threads * min_elements if on_gpu else _MIN_CPU_ELEMENTS
    return max(1, min(max_blocks * _multiprocessors(ordinal), -(-count // elements))), threads


class _GeneratedPyCudaKernel:
    """A kernel of C expressions, whose CUDA C is compiled by the first call on each device."""

    def __init__(self, arguments: Any, name: str, options: Sequence[str] | None, file: str) -> None:
        self.arguments, self.name, self._options = parse_c_args(arguments), name, options
        self._arrays = [each for each in self.arguments if isinstance(each, VectorArg)]
        if not self._arrays:
            raise RuntimeError(f"{type(self).__name__} requires at least one vector argument")
        self._compiled: dict[Any, Function] = {}
        with open(os.path.join(HEADERS, file), encoding="utf-8") as template:
            self._template = Template(template.read())

    def _convert(self, values: Sequence[Any]) -> tuple[list[Any], GPUArray]:
        """Return the arguments of a prepared call, and the first array. Raises TypeError."""
        if len(values) != len(self.arguments):
            count = len(self.arguments)
            raise TypeError(f"{self.name} takes {count} arguments, not {len(values)}")
        converted = []
        for argument, value in zip(self.arguments, values):
            if isinstance(argument, VectorArg):
                value = as_gpuarray(value)
                if value.dtype != argument.dtype:
                    raise TypeError(
                        f"{self.name}: {argument.name} is an array of {argument.dtype}, and the "
                        f"argument has dtype {value.dtype}"
                    )
                if not value.flags.forc:
                    raise RuntimeError(
                        f"{self.name} cannot deal with non-contiguous arrays: pass "
                        f"{argument.name}.copy()"
                    )
            converted.append(value)
        return converted, converted[self.arguments.index(self._arrays[0])]

    def _compile(self, formats: tuple[str, ...], **texts: Any) -> Function:
        """Return the prepared function; ``formats``: of arguments after the user's."""
        dtypes = [each.dtype for each in self.arguments]
        header = "#include <pycuda-complex.hpp>\n" if any(d.kind == "c" for d in dtypes) else ""
        text = self._template.substitute(
            header=header,
            name=self.name,
            parameters=", ".join(each.declarator() for each in self.arguments),
            **texts,
        )
        function = SourceModule(text, options=self._options).get_function(self.name)
        return function.prepare((*(each.struct_char for each in self.arguments), *formats))


class ElementwiseKernel(_GeneratedPyCudaKernel):
    """An elementwise kernel: ``ElementwiseKernel("float a, float *x", "x[i] = a * x[i]")``."""

    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        require_c_text(operation=operation)
        super().__init__(arguments, name, options, "elementwise.cu")
        self._texts = {"operation": operation, "preamble": preamble}
        self._texts |= {"loop_prep": loop_prep, "after_loop": after_loop}

    def __call__(
        self, *args: Any, stream: Any = None, range: Any = None, slice: Any = None
    ) -> None:
        """Run the kernel for all elements, or for a slice."""
        arguments, first = self._convert(args)
        selection = range or slice
        bounds = (first.size,) if selection is None else selection.indices(first.size)
        count = len(builtins.range(*bounds))
        if count:
            blocks, threads = _launch_shape(count)
            function = self._function(threads > 1, selection is not None)
            function.prepared_async_call((blocks, 1), (threads, 1, 1), stream, *arguments, *bounds)

    def _function(self, on_gpu: bool, has_range: bool = False) -> Function:
        key = on_gpu, has_range
        if key not in self._compiled:
            n = "n_" if any(each.name == "n" for each in self.arguments) else "n"
            loop = _RANGE_LOOP if has_range else (_GPU_LOOP if on_gpu else _CPU_LOOP).format(n=n)
            bounds = "long start, long stop, long step" if has_range else f"long {n}"
            formats = ("lll" if has_range else "l",)
            self._compiled[key] = self._compile(formats, bounds=bounds, loop=loop, **self._texts)
        return self._compiled[key]

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return self._function(gpu_selection.ordinal_of(None) >= 0).inspect(language)


class ReductionKernel(_GeneratedPyCudaKernel):
    """A reduction kernel, which returns an array without axes.

    ``ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
    arguments="float *x, float *y")`` is a scalar product.
    """

    def __init__(
        self,
        dtype_out: Any,
        neutral: Any,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: Any = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
        allocator: Any = None,
    ) -> None:
        require_c_text(reduce_expr=reduce_expr, map_expr=map_expr)
        self.dtype_out, self._preamble, self._allocator = np.dtype(dtype_out), preamble, allocator
        declarations = arguments or f"{dtype_to_ctype(dtype_out)} *in"
        super().__init__(declarations, name, options, "reduction.cu")
        self._texts = {"mapped": map_expr or f"{self._arrays[0].name}[i]", "reduce": reduce_expr}
        self._texts["neutral"] = str(neutral)

    def __call__(
        self, *args: Any, stream: Any = None, out: GPUArray | None = None, allocator: Any = None
    ) -> GPUArray:
        """Return the reduction of all elements of the first array, as an array without axes."""
        arguments, first = self._convert(args)
        if out is None:
            out = GPUArray((), self.dtype_out, allocator or self._allocator or first.allocator)
        blocks, threads = _launch_shape(first.size, min_elements=8)
        gpu = gpu_selection.ordinal_of(None)
        size = blocks * self.dtype_out.itemsize if blocks > 1 else 0
        if graph_capture.current() is not None:
            memory = workspace.GraphWorkspace(gpu).with_size(size)
        else:
            memory = workspace.workspace_for(size, gpu, stream)
        partials = [each.ctypes.data if isinstance(each, np.ndarray) else each for each in memory]
        function, block = self._function(threads), (threads, 1, 1)
        launch_arguments = *arguments, out, first.size, *partials
        function.prepared_async_call((blocks, 1), block, stream, *launch_arguments)
        return out

    def _function(self, threads: int) -> Function:
        if threads not in self._compiled:
            names = frozenset(("_reduce_block", "_is_last_block", "_load_partial"))
            shared = cupy_preamble.reduction_functions(names) if threads > 1 else []
            self._compiled[threads] = self._compile(
                ("P", "lPP"),
                threads=threads,
                preamble="\n".join((self._preamble, *shared)),
                out_type=dtype_to_ctype(self.dtype_out),
                **self._texts,
            )
        return self._compiled[threads]

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return self._function(256 if gpu_selection.ordinal_of(None) >= 0 else 1).inspect(language)


document_parameters(
    globals(),
    """
arguments : str or list | Declarations in C, or ``VectorArg`` and ``ScalarArg``.
operation : str | Statements in C, for each index ``i``.
name : str | The name of the kernel.
keep : bool | Ignored.
options : sequence of str | Options of nvcc.
preamble, loop_prep, after_loop : str | CUDA C before the kernel, before its loop and after it.
dtype_out : dtype_like | The dtype of the result.
neutral : str or number | The result of no elements.
reduce_expr, map_expr : str | Expressions that combine ``a`` and ``b``, and that map element ``i``.
allocator : callable | Allocates the result, as ``mem_alloc``.
*args : GPUArray or number | The arguments.
stream : Stream | The stream of the launch.
range, slice : slice | The indices; by default all.
out : GPUArray | The target; by default a new array.
language : str | "cuda", "ptx", "sass" or "c".
""",
)
