"""Implement ``pycuda.elementwise``: kernels from an expression over ``x[i]``, in C or Python."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from pycu2c import cuda
from pycu2c.compat.pycuda.c_types import Argument, VectorArg, parse_c_args
from pycu2c.compat.pycuda.errors import translate_errors
from pycu2c.compat.pycuda.gpuarrays.kernels import launch
from pycu2c.compat.pycuda.kernels.element_loops import (
    complex_header,
    convert_arguments,
    cuda_template,
    launch_shape,
)
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules.source_module import SourceModule
from pycu2c.kernels.kernel import device, kernel

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
    """An elementwise kernel: ``ElementwiseKernel("float a, float *x", "x[i] = a * x[i]")``.

    arguments: C declarations, or ``VectorArg`` and ``ScalarArg``; the first array determines the
    number of elements.
    operation: C, or a Python function ``(i, a, x, y)``.
    loop_prep, after_loop: C before and after the loop over elements.
    preamble: C before the kernel.
    """

    def __init__(
        self,
        arguments: Any,
        operation: str | Callable[..., Any],
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        **c_texts: Any,
    ) -> None:
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
        self._python = None if isinstance(operation, str) else _python_kernel(operation)
        self._compiled: dict[tuple[bool, bool], Any] = {}

    @translate_errors
    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Run the kernel for all elements, or for ``range=slice(…)`` or ``slice=``."""
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
        if self._python is not None:
            self._run_python(arguments, (start, step, count), stream)
            return
        shape = launch_shape(count)
        bounds = (first.size,) if selection is None else (start, stop, step)
        function = self._function(has_range=selection is not None)
        function.prepared_async_call(
            (shape.blocks, 1), (shape.threads, 1, 1), stream, *arguments, *bounds
        )

    def _run_python(
        self, args: Sequence[Any], bounds: tuple[int, int, int], stream: object
    ) -> None:
        converted = [
            value.flat() if isinstance(argument, VectorArg) else argument.dtype.type(value)
            for argument, value in zip(self.arguments, args)
        ]
        launch(self._python, bounds[2], (*bounds, *converted), stream)

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
        """Return the compiled source text, or "ptx", "sass" or "c"; for a Python function, that of
        the last launch."""
        function = self._function(has_range=False) if self._python is None else self._python
        return str(function.inspect(language))

    def text(self, *, has_range: bool = False) -> str:
        """Return the CUDA C. Raises TypeError if the operation is a Python function."""
        if not isinstance(self.operation, str):
            raise TypeError(f"the operation of {self.name} is a Python function, not C text")
        return elementwise_text(
            self.arguments, self.operation, self.name, has_range, **self._c_texts
        )


def _python_kernel(function: Callable[..., Any]) -> Any:
    """Return a kernel that calls a function for each ``i``. Raises TypeError."""
    names = list(inspect.signature(getattr(function, "py_func", function)).parameters)
    if names[:1] != ["i"]:
        raise TypeError(
            "a Python function as an operation takes i and then the arguments: "
            f"def f(i, {', '.join(names)})"
        )
    operation = device(function) if inspect.isfunction(function) else function

    @kernel
    def run(start, step, count, *arguments):  # type: ignore[no-untyped-def]
        at = cuda.grid(1)
        if at < count:
            operation(start + at * step, *arguments)

    return run
