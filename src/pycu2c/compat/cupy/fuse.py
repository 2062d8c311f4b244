"""Implement ``fuse``: CuPy fuses functions of its arrays; other arrays are not fused."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from pycu2c.base.cached_properties import cached_property
from pycu2c.base.source import Source
from pycu2c.compat.cupy.parameter_declarations import is_kernel_name
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.kernels.kernel import DeviceFunction


class Fusion:
    """A function of arrays and numbers, which runs as ``cupy.fuse`` runs it."""

    def __init__(self, function: Callable[..., Any], kernel_name: str | None = None) -> None:
        if kernel_name is not None and not is_kernel_name(kernel_name):
            raise ValueError(f"Invalid kernel name: {kernel_name!r} is not an identifier in C")
        functools.update_wrapper(self, function)
        self._function = python_function(function)
        self._kernel_name = kernel_name
        self.name = kernel_name or self._function.__name__

    @cached_property
    def __pycu2c_device__(self) -> Source:
        """Return the source for kernels that call this function."""
        device: DeviceFunction[..., Any] = DeviceFunction(self._function)
        return device.__pycu2c_device__

    def __repr__(self) -> str:
        return f"<fused {self.name}>"

    def __call__(self, *args: Any) -> Any:
        cupy: Any = sys.modules.get("cupy")
        if cupy is not None and any(isinstance(a, cupy.ndarray) for a in args):
            return self._fused(*args)
        return self._function(*args)

    @cached_property
    def _fused(self) -> Callable[..., Any]:
        cupy: Any = sys.modules["cupy"]
        name = self.name if is_kernel_name(self.name) else "fused"  # not <lambda>
        fused: Callable[..., Any] = cupy.fuse(kernel_name=name)(self._function)
        return fused

    def clear_cache(self) -> None:
        """Remove the kernels that CuPy has compiled."""
        vars(self).pop("_fused", None)


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Fuse a function of arrays: ``@fuse``, ``@fuse()``, ``@fuse(kernel_name="f")``, as
    ``cupy.fuse``.

    As with CuPy, calls with an array of CuPy run few kernels, and other calls run the function.

    Parameters
    ----------
    *args : callable
        The function.
    **kwargs : str
        ``kernel_name``, the name of the kernels.

    Returns
    -------
    callable
        The fused function, or the decorator that returns it.
    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return Fusion(args[0])
    return lambda function: Fusion(function, *args, **kwargs)
