"""Types of pycu2c's objects in ``numba.njit`` code.

numba asks an object of an unknown class for its attribute ``_numba_type_``. Only numba reads the
attribute, so this module imports numba when it is loaded already. An entry point for numba's
extensions would import pycu2c in every program that compiles with numba.
"""

from __future__ import annotations

import sys
from typing import Any, NoReturn


def type_of_function(function: Any) -> object:
    """Return the type of the ``njit`` dispatcher of a device function's Python function."""
    code = function.__pycu2c_device__.external_code
    if code is not None and not code.has_python_body:
        _reject(
            f"{function.__pycu2c_device__.name} has only a C body, which only kernels can call",
            "give it a Python body",
        )
    dispatcher = vars(function).get("_njit") or vars(function).setdefault(  # of the first thread
        "_njit", _numba().njit(function.python)
    )
    return dispatcher._numba_type_


def type_of_conversion(scalar: Any) -> object:
    """Return the type of ``float32`` in ``float32(x)``: that of NumPy's scalar class."""
    return _numba().typeof(scalar.numpy.type)


def reject_kernel(kernel: Any) -> NoReturn:
    """Raise numba's error for a kernel."""
    _reject(
        f"{kernel.name} is a kernel of pycu2c, which njit code cannot launch",
        f"launch it from Python, {kernel.name}[grid, block](…)",
    )


def reject_kernel_name(name: Any) -> NoReturn:
    """Raise numba's error for a name that exists only in kernels, such as ``cuda.threadIdx``."""
    _reject(
        f"{getattr(name, 'name', name)} exists only in kernels of pycu2c, not in njit code",
        "pass its value as an argument, or compute the result with Python and NumPy alone",
    )


def _reject(text: str, hint: str) -> NoReturn:
    raise _numba().errors.TypingError(f"{text}: {hint}")


def _numba() -> Any:
    """Return numba. Raise AttributeError in a program that does not use it."""
    try:
        return sys.modules["numba"]
    except KeyError:
        raise AttributeError("_numba_type_") from None
