"""Implement ``pycuda.elementwise``: kernels from a C expression over ``x[i]``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.compat.cupy.parameter_declarations import require_c_text
from pycu2c.compat.pycuda.c_types import Argument, VectorArg, parse_c_args
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.kernels.element_loops import (
    complex_header,
    convert_arguments,
    cuda_template,
    launch_shape,
)
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules.source_module import SourceModule

_GPU_LOOP = "for (i = cta_start + tid; i < {n}; i += total_threads)"
_CPU_LOOP = """const long elements_per_thread_ = ({n} + total_threads - 1) / total_threads;
    const long first_ = (cta_start + tid) * elements_per_thread_;
    const long end_ = first_ + elements_per_thread_ < {n} ? first_ + elements_per_thread_ : {n};
    for (i = first_; i < end_; i++)"""
_RANGE_LOOP = """const long count_ = step < 0 ? (start - stop - step - 1) / -step
                                        : (stop - start + step - 1) / step;
    for (long index_ = cta_start + tid; index_ < count_ && (i = start + index_ * step, true);
         index_ += total_threads)"""


def elementwise_text(
    arguments: Sequence[Argument], operation: str, name: str, has_range: bool, **c_texts: str
) -> str:
    """Return CUDA C that runs an operation for each ``i``."""
    n = "n_" if any(argument.name == "n" for argument in arguments) else "n"
    loop = _RANGE_LOOP if has_range else (_GPU_LOOP if on_gpu() else _CPU_LOOP).format(n=n)
    return cuda_template("elementwise").substitute(
        header=complex_header(arguments),
        preamble=c_texts.get("preamble", ""),
        name=name,
        parameters=", ".join(argument.declarator() for argument in arguments),
        bounds="long start, long stop, long step" if has_range else f"long {n}",
        loop_prep=c_texts.get("loop_prep", ""),
        loop=loop,
        operation=operation,
        after_loop=c_texts.get("after_loop", ""),
    )


class ElementwiseKernel:
    """An elementwise kernel: ``ElementwiseKernel("float a, float *x", "x[i] = a * x[i]")``."""

    def __init__(
        self,
        arguments: Any,
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **c_texts: Any,
    ) -> None:
        require_c_text(operation=operation)
        self.arguments, self.operation, self.name = parse_c_args(arguments), operation, name
        self._keep, self._options = keep, options
        self._c_texts = {
            each: c_texts.pop(each, "") for each in ("preamble", "loop_prep", "after_loop")
        }
        c_texts.pop("use_range", None)
        if c_texts:
            raise TypeError(f"extra keyword arguments specified: {', '.join(c_texts)}")
        if not any(isinstance(each, VectorArg) for each in self.arguments):
            raise RuntimeError(
                "ElementwiseKernel can only be used with functions that have at least one vector "
                "argument"
            )
        self._compiled: dict[tuple[bool, bool], Any] = {}

    @translate_errors
    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run the kernel for all elements, or for a slice."""
        stream = kwargs.pop("stream", None)
        selection = kwargs.pop("range", None) or kwargs.pop("slice", None)
        kwargs.pop("slice", None)
        if kwargs:
            raise TypeError(f"invalid keyword arguments specified: {', '.join(kwargs)}")
        arguments, first = convert_arguments(self.arguments, args, self.name)
        start, stop, step = (selection or slice(None)).indices(first.size)
        count = len(range(start, stop, step))
        if not count:
            return
        shape = launch_shape(count)
        bounds = (first.size,) if selection is None else (start, stop, step)
        function = self._function(has_range=selection is not None)
        function.prepared_async_call(
            (shape.blocks, 1), (shape.threads, 1, 1), stream, *arguments, *bounds
        )

    def _function(self, *, has_range: bool) -> Any:
        key = (has_range, on_gpu())
        if key not in self._compiled:
            module = SourceModule(
                self.text(has_range=has_range),
                options=self._options,
                keep=self._keep,
                no_extern_c=True,
            )
            function = module.get_function(self.name)
            formats = [argument.struct_char for argument in self.arguments]
            function.prepare([*formats, *("lll" if has_range else "l")])
            self._compiled[key] = function
        return self._compiled[key]

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return str(self._function(has_range=False).inspect(language))

    def text(self, *, has_range: bool = False) -> str:
        """Return the CUDA C."""
        return elementwise_text(
            self.arguments, self.operation, self.name, has_range, **self._c_texts
        )
