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
    namespace = f"pycu2c_{name}"
    return f"namespace {namespace} {{\n{text_of(function)}\n}}\nusing {namespace}::{name};"


def text_of(function: Callable[..., Any]) -> str:
    """Return the text of a function."""
    python = python_function(function)
    name = python.__name__
    source = DeviceFunction(python).__pycu2c_device__
    signature = getattr(function, "__pycu2c_device__", source).signature
    signature = signature or annotated_device_signature(python)
    if signature is None:
        raise TypeError(
            f"C calls {name}: annotate its parameters with types, def {name}(x: float32)"
        )
    for kind in signature.parameters:
        if not isinstance(kind, Scalar) or kind.dtype.is_complex or kind.dtype.is_half:
            raise TypeError(f"{name} takes {kind}: C calls functions of integers and floats")
    generated, result = specialization.generate_device(
        source, signature, DEFAULT_OPTIONS, name, specialization.INLINE_QUALIFIERS
    )
    if signature.result is not None and signature.result != result:
        raise TypeError(f"{name} is declared to return {signature.result}, and returns {result}")
    if generated.prints:
        raise TypeError(f"{name} prints: functions that C calls cannot print")
    return generated.text
