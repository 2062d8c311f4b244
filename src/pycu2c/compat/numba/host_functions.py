"""Implement ``njit`` and ``jit``: host functions that kernels may call.

The host runs them as Python functions, without compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pycu2c.base.source import SourceUnavailable
from pycu2c.compat.numba.source_adaptation import adapted_source
from pycu2c.declarations.signatures import is_signature

F = TypeVar("F", bound=Callable[..., Any])

prange = range  # host loops run sequentially


def njit(signature_or_function: Any = None, *signatures: Any, **options: Any) -> Any:
    """Return the function, marked as a device function that kernels may call.

    The host runs it as a Python function. Signatures and options of numba are ignored.

    Parameters
    ----------
    signature_or_function : callable, str or type, optional
        The function, or an ignored signature.
    *signatures : str or type
        Ignored.
    **options : object
        Ignored, such as ``cache`` and ``parallel``.

    Returns
    -------
    callable
        The function, or with options the decorator that returns it.
    """
    if callable(signature_or_function) and not is_signature(signature_or_function):
        return _as_device_function(signature_or_function)
    return _as_device_function


jit = njit


def _as_device_function(function: F) -> F:
    """Mark a function as a device function. Only kernels that call it report its errors."""
    marked: Any = function
    try:
        marked.__pycu2c_device__ = adapted_source(marked)
    except SourceUnavailable:
        return function
    marked.py_func = function
    return function
