"""Implement ``pycuda.reduction``: map and reduce expressions in C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.base import graph_capture
from pycu2c.compat.cupy import preamble as cupy_preamble
from pycu2c.compat.cupy.parameter_declarations import require_c_text
from pycu2c.compat.cupy.reduction import workspace
from pycu2c.compat.pycuda.c_types import VectorArg, dtype_to_ctype, parse_c_args
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.gpuarray_class import GPUArray
from pycu2c.compat.pycuda.kernels.element_loops import (
    block_size,
    complex_header,
    convert_arguments,
    cuda_template,
    launch_shape,
)
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules.source_module import SourceModule
from pycu2c.cuda_driver import driver

_MIN_ELEMENTS_PER_THREAD = 8


class ReductionKernel:
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
        self.dtype_out, self.neutral, self.reduce_expr = np.dtype(dtype_out), neutral, reduce_expr
        self.arguments = parse_c_args(arguments or f"const {dtype_to_ctype(dtype_out)} *in")
        arrays = [each for each in self.arguments if isinstance(each, VectorArg)]
        if not arrays:
            raise RuntimeError(
                "ReductionKernel can only be used with functions that have at least one vector "
                "argument"
            )
        self.map_expr = map_expr or f"{arrays[0].name}[i]"
        self.name, self.preamble = name, preamble
        self._keep, self._options, self._allocator = keep, options, allocator
        self._compiled: dict[bool, Any] = {}

    @translate_errors
    def __call__(self, *args: Any, **kwargs: Any) -> GPUArray:
        """Reduce all elements of the first array.

        Returns
        -------
        GPUArray
            The result, an array without axes.
        """
        stream, allocator = kwargs.pop("stream", None), kwargs.pop("allocator", None)
        out: GPUArray | None = kwargs.pop("out", None)
        if kwargs:
            raise TypeError(f"invalid keyword arguments specified: {', '.join(kwargs)}")
        arguments, first = convert_arguments(self.arguments, args, self.name)
        if out is None:
            out = GPUArray((), self.dtype_out, allocator or self._allocator or first.allocator)
        blocks = launch_shape(first.size, _MIN_ELEMENTS_PER_THREAD).blocks
        memory = self._workspace(blocks, stream)
        launch_arguments = [out, *arguments, first.size, *map(_address, memory)]
        block = block_size(), 1, 1
        self._function().prepared_async_call((blocks, 1), block, stream, *launch_arguments)
        return out

    def _workspace(self, blocks: int, stream: object) -> tuple[Any, Any]:
        """Return memory for partial results of blocks; each captured graph has its own."""
        gpu = driver.current_ordinal() if on_gpu() else -1
        size = blocks * self.dtype_out.itemsize if blocks > 1 else 0
        if graph_capture.current() is not None:
            return workspace.GraphWorkspace(gpu).with_size(size)
        return workspace.workspace_for(size, gpu, stream)

    def _function(self) -> Any:
        function = self._compiled.get(on_gpu())
        if function is None:
            module = SourceModule(
                self.text(), options=self._options, keep=self._keep, no_extern_c=True
            )
            formats = [each.struct_char for each in self.arguments]
            function = module.get_function(self.name).prepare(["P", *formats, "lPP"])
            self._compiled[on_gpu()] = function
        return function

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return str(self._function().inspect(language))

    def text(self) -> str:
        """Return the CUDA C."""
        threads = block_size()
        names = frozenset(("_reduce_block", "_is_last_block", "_load_partial"))
        shared = cupy_preamble.used_functions("reductions.h", names) if threads > 1 else []
        return cuda_template("reduction").substitute(
            header=complex_header(self.arguments, self.dtype_out),
            preamble="\n".join((self.preamble, *shared)),
            threads=threads,
            out_type=dtype_to_ctype(self.dtype_out),
            reduce=self.reduce_expr,
            name=self.name,
            parameters=", ".join(f"const {each.declarator()}" for each in self.arguments),
            neutral=self.neutral,
            mapped=self.map_expr,
        )


def _address(memory: Any) -> Any:
    return int(memory.ctypes.data) if isinstance(memory, np.ndarray) else memory
