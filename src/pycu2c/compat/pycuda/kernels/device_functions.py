"""Compile Python functions to C functions that the user's CUDA C calls, by their annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pycu2c.base.types import Scalar
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.declarations.signatures import annotated_device_signature
from pycu2c.kernels import specialization
from pycu2c.kernels.kernel import DeviceFunction


def texts_of(functions: Iterable[Callable[..., Any]]) -> str:
    """Return the text of functions. Raises CompileError, TypeError."""
    return "\n".join(map(_in_namespace, functions))


def _in_namespace(function: Callable[..., Any]) -> str:
    """Return the text of a function, with its callees."""
    name = python_function(function).__name__
    own = f"pycu2c_{name}"
    return f"namespace {own} {{\n{text_of(function)}\n}}\nusing {own}::{name};"


def text_of(function: Callable[..., Any]) -> str:
    """Return the text of a function."""
    python = python_function(function)
    name = python.__name__
    source = DeviceFunction(python).__pycu2c_device__
    signature = getattr(function, "__pycu2c_device__", source).signature
    signature = signature or annotated_device_signature(python)
    if signature is None:
        raise TypeError(
            f"{name} is called by C: its parameters have types there, def {name}(x: float32)"
        )
    for given in signature.parameters:
        plain = isinstance(given, Scalar) and not (given.dtype.is_complex or given.dtype.is_half)
        if not plain:
            raise TypeError(f"{name} takes {given}: C calls functions of integers and floats")
    for_one = specialization.INLINE_QUALIFIERS
    made, result = specialization.generate_device(source, signature, DEFAULT_OPTIONS, name, for_one)
    if signature.result is not None and signature.result != result:
        raise TypeError(f"{name} is said to give {signature.result}, and gives {result}")
    if made.prints:
        raise TypeError(f"{name} prints, which a function that C calls cannot")
    return made.text
