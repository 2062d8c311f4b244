"""Define ``cuda.vectorize`` and ``cuda.guvectorize``, whose default target is "cuda"."""

from __future__ import annotations

from typing import Any

from pycu2c.compat.numba import guvectorize as gufuncs
from pycu2c.compat.numba import vectorize as ufuncs
from pycu2c.declarations.parameter_docs import document_parameters


def vectorize(ftylist_or_function: Any = (), target: str = "cuda", **options: Any) -> Any:
    """Call ``pycu2c.vectorize`` with the target "cuda", as ``numba.cuda`` does.

    Returns
    -------
    callable
        The ufunc, or with signatures the decorator that returns it.
    """
    return ufuncs.vectorize(ftylist_or_function, target, **options)


def guvectorize(
    ftylist: Any, signature: str | None = None, target: str = "cuda", **options: Any
) -> Any:
    """Call ``pycu2c.guvectorize`` with the target "cuda", as ``numba.cuda`` does.

    Returns
    -------
    callable
        A decorator, which returns the generalized ufunc.
    """
    return gufuncs.guvectorize(ftylist, signature, target, **options)


document_parameters(
    globals(),
    """
ftylist, ftylist_or_function : callable, str, type or sequence | The function, or its signatures.
signature : str | The layout of the arrays, such as "(n),()->(n)".
target : str | The target; only "cuda" is valid.
**options : object | The other arguments of the function that it calls.
""",
)
