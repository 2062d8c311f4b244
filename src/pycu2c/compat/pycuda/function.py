"""Implement PyCUDA's ``Function``: calls, prepared calls, attributes."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from typing import Any

import numpy as np

from pycu2c.compat.pycuda.enums import func_cache, function_attribute
from pycu2c.compat.pycuda.errors import LogicError
from pycu2c.compat.pycuda.memory import DeviceAllocation, bytes_at
from pycu2c.declarations.parameter_docs import document_parameters
from pycu2c.devices import streams
from pycu2c.devices.array import DeviceArray

_DEFAULT_BLOCK = (256, 1, 1)
_COUNTED_LETTER = re.compile(r"(\d*)([a-zA-Z?])")


def _argument(value: Any) -> Any:
    """Return an argument of a launch: allocations and unusual arrays as bytes."""
    if isinstance(value, DeviceAllocation):
        return value.device_array()
    if isinstance(value, DeviceArray) and (value.dtype.kind == "V" or not value.is_c_contiguous()):
        return bytes_at(value, value.nbytes)
    return value


def _parse_formats(arg_types: Iterable[Any]) -> tuple[np.dtype[Any] | None, ...]:
    """Parse ``"PPif"``, or a list of letters and dtypes; None for an address. Raises LogicError."""
    formats: list[np.dtype[Any] | None] = []
    for each in [arg_types] if isinstance(arg_types, str) else arg_types:
        if not isinstance(each, str):
            is_dtype = isinstance(each, np.dtype) or issubclass(each, np.generic)
            formats.append(np.dtype(each) if is_dtype else None)
            continue
        if not re.fullmatch(rf"(?:{_COUNTED_LETTER.pattern})*", each):
            raise LogicError(f"prepare: {each!r} is not a list of types, such as 'Pi'")
        for count, letter in _COUNTED_LETTER.findall(each):
            if letter == "s":
                formats.append(np.dtype(f"V{count or 1}"))
            else:
                formats += [None if letter == "P" else np.dtype(letter)] * int(count or 1)
    return tuple(formats)


def _prepared_argument(dtype: np.dtype[Any] | None, value: Any) -> Any:
    if dtype is None:
        return _argument(value)
    return np.void(bytes(value)) if dtype.kind == "V" else dtype.type(value)


def _block_of(block: Any) -> tuple[int, ...]:
    if not isinstance(block, tuple | list):
        raise TypeError(f"block must be a tuple such as (256, 1, 1), not {block!r}")
    return tuple(block)


def _attribute(name: str, doc: str) -> property:
    """Return a property that reads an attribute of a kernel."""
    return property(lambda self: self.get_attribute(function_attribute[name]), doc=doc)


class Function:
    """A kernel: ``module.get_function(name)``."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self._formats: tuple[np.dtype[Any] | None, ...] | None = None
        self._block: tuple[int, ...] | None = None
        self._shared = 0

    def __call__(
        self,
        *args: Any,
        grid: Any = (1, 1),
        block: Any = None,
        stream: Any = None,
        shared: int = 0,
        time_kernel: bool = False,
    ) -> float | None:
        """Launch the kernel.

        Returns
        -------
        float or None
            With ``time_kernel`` the seconds.
        """
        if block is None and self._block is None:
            raise ValueError("must specify block size: block=(256, 1, 1)")
        block = self._block if block is None else _block_of(block)
        if time_kernel:
            streams.synchronize()
        start = time.perf_counter()
        self.kernel.launch(grid, block, tuple(map(_argument, args)), shared, stream)
        if not time_kernel:
            return None
        streams.synchronize()
        return time.perf_counter() - start

    def prepare(self, arg_types: Iterable[Any], block: Any = None, shared: int = 0) -> Function:
        """Return the function, after setting the types of the arguments of prepared calls."""
        self._formats, self._shared = _parse_formats(arg_types), shared
        self._block = None if block is None else _block_of(block)
        return self

    def prepared_call(self, grid: Any, *args: Any, shared_size: int | None = None) -> None:
        """Launch with prepared arguments: ``prepared_call(grid, block, …)``."""
        block, launch_arguments = self._split_block(args)
        self._launch_prepared(grid, block, None, launch_arguments, shared_size)

    def prepared_async_call(self, grid: Any, *args: Any, shared_size: int | None = None) -> None:
        """Launch with prepared arguments in a stream: ``prepared_async_call(grid, block, stream,
        …)``.
        """
        block, (stream, *launch_arguments) = self._split_block(args)
        self._launch_prepared(grid, block, stream, launch_arguments, shared_size)

    def _split_block(self, args: Any) -> tuple[Any, Any]:
        """Split the arguments into the block, which is optional and a tuple, and the others."""
        if args and isinstance(args[0], tuple | list):
            return tuple(args[0]), args[1:]
        return self._block or _DEFAULT_BLOCK, args

    def _launch_prepared(
        self, grid: Any, block: Any, stream: Any, args: Any, shared: int | None
    ) -> None:
        name = self.kernel.name
        if self._formats is None:
            raise LogicError(f"{name} is not prepared: call prepare('PPi') with its argument types")
        if len(self._formats) != len(args):
            raise TypeError(
                f"{name} was prepared for {len(self._formats)} arguments, and is called with "
                f"{len(args)}"
            )
        arguments = tuple(map(_prepared_argument, self._formats, args))
        shared = self._shared if shared is None else shared
        self.kernel.launch(grid, block, arguments, shared, stream)

    # ---- attributes ----

    def get_attribute(self, attribute: Any) -> int:
        """Return an attribute, such as ``function_attribute.NUM_REGS``."""
        return int(self.kernel.attribute(function_attribute(attribute).name))

    def set_attribute(self, attribute: Any, value: int) -> None:
        """Set an attribute, such as ``function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES``."""
        self.kernel.set_attribute(function_attribute(attribute).name, value)

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


document_parameters(
    globals(),
    """
*args : object | Device memory, device arrays, host arrays, numbers and numpy records.
grid, block : tuple of int | The blocks of the grid, and the threads of a block.
stream : Stream | The stream of the launch.
shared, shared_size : int | The bytes of dynamic shared memory per block.
time_kernel : bool | Whether to wait for the kernel and return its time.
arg_types : str or sequence | Letters of ``struct``, numpy types and dtypes; ``P`` is an address.
attribute : function_attribute | The attribute.
value : int | The value of the attribute.
fc : func_cache | The preference.
language : str | "cuda", "ptx", "sass" or "c".
""",
)
