"""Implement PyCUDA's ``Function``: calls, prepared calls, attributes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from pycu2c.compat.pycuda.enums import func_cache, function_attribute
from pycu2c.compat.pycuda.errors import LogicError, translate_errors
from pycu2c.compat.pycuda.memory.allocations import keep_until_used
from pycu2c.compat.pycuda.memory.argument_handlers import ArgumentHandler
from pycu2c.compat.pycuda.modules import argument_packing
from pycu2c.devices import streams

_DEFAULT_BLOCK = (256, 1, 1)


def _attribute(name: str, doc: str) -> property:
    """Return a property that reads an attribute of a kernel."""
    return property(lambda self: self.get_attribute(function_attribute[name]), doc=doc)


class Function:
    """A kernel: ``module.get_function(name)``."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._formats: tuple[argument_packing.ArgumentFormat, ...] | None = None
        self._block: tuple[int, ...] = _DEFAULT_BLOCK
        self._prepared_block: tuple[int, ...] | None = None
        self._shared = 0

    def __repr__(self) -> str:
        return f"<pycu2c.pycuda.driver.Function {self.kernel.name}>"

    # ---- calls ----

    @translate_errors
    def __call__(self, *args: Any, **kwargs: Any) -> float | None:
        """Launch the kernel.

        Returns
        -------
        float or None
            With ``time_kernel`` the seconds.

        Raises
        ------
        LaunchError
            If the launch is rejected, or the kernel fails.
        """
        grid, block = kwargs.pop("grid", (1, 1)), kwargs.pop("block", None)
        stream, shared = kwargs.pop("stream", None), kwargs.pop("shared", 0)
        timed = kwargs.pop("time_kernel", False)
        if kwargs:
            raise ValueError(f"extra keyword arguments: {','.join(kwargs)}")
        if block is None and self._prepared_block is not None and not timed:
            self.prepared_async_call(grid, self._prepared_block, stream, *args, shared_size=shared)
            return None
        if block is None:
            raise ValueError("must specify block size: block=(256, 1, 1)")
        if timed and stream is not None:
            raise AssertionError("Can't time the kernel on an asynchronous invocation")
        if not isinstance(block, (tuple, list)):
            raise TypeError(f"block must be a tuple such as (256, 1, 1), not {block!r}")
        self._block = tuple(block)
        arguments = argument_packing.convert_arguments(args, self.kernel.parameters)
        handlers = [each for each in args if isinstance(each, ArgumentHandler)]
        for handler in handlers:
            handler.pre_call(stream)
        if timed:
            streams.synchronize()
        keep_until_used(stream, *args, *(handler.dev_alloc for handler in handlers))
        start = time.perf_counter()
        self.kernel.launch(grid, block, arguments, shared or 0, stream)
        return self._finish(handlers, stream, start if timed else None)

    def _finish(
        self, handlers: Sequence[ArgumentHandler], stream: Any, start: float | None
    ) -> float | None:
        """Copy the outputs back, and return the seconds since ``start`` unless it is None."""
        output_handlers = [handler for handler in handlers if handler.writes]
        if stream is None and (output_handlers or start is not None):
            streams.synchronize()
        elapsed = None if start is None else time.perf_counter() - start
        if output_handlers and stream is not None:
            stream.synchronize()
        for handler in output_handlers:
            handler.post_call(stream)
        return elapsed

    # ---- prepared calls ----

    def prepare(
        self, arg_types: Iterable[Any], block: Any = None, shared: int | None = None
    ) -> Function:
        """Set the types of the arguments of prepared calls.

        Returns
        -------
        Function
            The function itself.
        """
        if block is not None and not isinstance(block, (tuple, list)):
            raise TypeError(f"block must be a tuple such as (256, 1, 1), not {block!r}")
        self._formats = argument_packing.parse_formats(arg_types)
        self._prepared_block = tuple(block) if block is not None else None
        self._block = self._prepared_block or self._block
        self._shared = shared if shared is not None else 0
        return self

    def prepared_call(self, grid: Any, *args: Any, **kwargs: Any) -> None:
        """Launch with prepared arguments: ``prepared_call(grid, block, …)``."""
        block, launch_arguments = self._split_block(args)
        self._launch_prepared(grid, block, None, launch_arguments, kwargs)

    def prepared_async_call(self, grid: Any, *args: Any, **kwargs: Any) -> None:
        """Launch with prepared arguments in a stream."""
        block, launch_arguments = self._split_block(args)
        if not launch_arguments:
            raise TypeError("prepared_async_call takes a stream, or None, before the arguments")
        self._launch_prepared(grid, block, launch_arguments[0], launch_arguments[1:], kwargs)

    def _split_block(self, args: tuple[Any, ...]) -> tuple[tuple[int, ...], tuple[Any, ...]]:
        """Split the arguments into the block, which is optional and a tuple, and the others."""
        if args and isinstance(args[0], (tuple, list)):
            self._block = tuple(args[0])
            return self._block, args[1:]
        return self._block, args

    @translate_errors
    def _launch_prepared(
        self,
        grid: Any,
        block: tuple[int, ...],
        stream: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        shared = kwargs.pop("shared_size", self._shared)
        if kwargs:
            raise TypeError(f"unknown keyword arguments: {', '.join(kwargs)}")
        if self._formats is None:
            raise LogicError(
                f"{self.kernel.name} is not prepared: call prepare('PPi') with its argument types"
            )
        arguments = argument_packing.convert_prepared(self._formats, args, self.kernel.name)
        keep_until_used(stream, *args)
        self.kernel.launch(grid, block, arguments, shared, stream)

    # ---- attributes ----

    @translate_errors
    def get_attribute(self, attribute: Any) -> int:
        """Return an attribute, such as ``function_attribute.NUM_REGS``."""
        return int(self.kernel.attribute(function_attribute(attribute).name))

    @translate_errors
    def set_attribute(self, attribute: Any, value: int) -> None:
        """Set an attribute, such as ``function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES``."""
        self.kernel.set_attribute(function_attribute(attribute).name, value)

    def __getattr__(self, name: str) -> int:
        """Return an attribute by its lower-case name: ``function.ptx_version``."""
        if name.startswith("_") or name.upper() not in function_attribute.__members__:
            raise AttributeError(f"no attribute '{name}' in Function", name=name, obj=self)
        return self.get_attribute(function_attribute[name.upper()])

    num_regs = _attribute("NUM_REGS", "The registers per thread.")
    shared_size_bytes = _attribute("SHARED_SIZE_BYTES", "The static shared memory per block.")
    const_size_bytes = _attribute("CONST_SIZE_BYTES", "The constant memory.")
    local_size_bytes = _attribute("LOCAL_SIZE_BYTES", "The local memory per thread.")
    max_threads_per_block = _attribute("MAX_THREADS_PER_BLOCK", "The maximum threads per block.")

    def set_cache_config(self, fc: Any) -> None:
        """Set the cache preference, which current GPUs may ignore."""
        func_cache(fc)

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return str(self.kernel.inspect(language))


PreparedFunction = Function
