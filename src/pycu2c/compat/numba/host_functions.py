"""``njit`` and ``jit``: functions of the host that kernels may call. Nothing compiles them for the
host: there they are the Python functions that they were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pycu2c.base.source import NoSource, source_of
from pycu2c.compat.numba.source_adaptation import as_numba_reads
from pycu2c.declarations.signatures import is_signature

F = TypeVar("F", bound=Callable[..., Any])

prange = range  # the loops of the host run one after the other


def njit(signature_or_function: Any = None, *more: Any, **options: Any) -> Any:
    """The function as it is, which kernels may call as a device function, too. Signatures and
    options are read, and without effect: what it is on the host, Python runs."""
    if callable(signature_or_function) and not is_signature(signature_or_function):
        return _for_kernels(signature_or_function)
    return _for_kernels


jit = njit


def _for_kernels(function: F) -> F:
    """What it does may be nothing for kernels: a kernel that calls it says so."""
    named: Any = function
    try:
        named.__pycu2c_device__ = as_numba_reads(source_of(named))
    except NoSource:
        return function
    named.py_func = function
    return function


@njit
def literal_unroll(container: Any) -> Any:
    """The container as it is: in kernels, loops over tuples are written out item by item."""
    return container
