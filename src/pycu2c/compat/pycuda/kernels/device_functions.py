"""Compile Python functions that replace C expressions, or that the user's CUDA C calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base.dtypes import from_numpy
from pycu2c.base.types import Scalar
from pycu2c.compat.cupy import python_functions
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.declarations.signatures import annotated_device_signature
from pycu2c.kernels import specialization
from pycu2c.kernels.kernel import DeviceFunction

Expression: TypeAlias = "str | Callable[..., Any]"


class CExpression(NamedTuple):
    """A C expression, and the C text of the functions that it calls."""

    expression: str
    functions: str = ""


def as_c_expression(
    expression: Expression, values: Sequence[tuple[str, Any]], result_dtype: Any, name: str
) -> CExpression:
    """Return C text unchanged, or the call of a compiled Python function.

    values: the arguments of the function: C expressions and their dtypes.

    Raises CompileError, TypeError.
    """
    if isinstance(expression, str):
        return CExpression(expression)
    function = python_functions.PythonFunction(expression, name)
    if len(function.parameters) != len(values):
        arguments = ", ".join(text for text, _ in values)
        raise TypeError(
            f"the Python function is called with {arguments}, and takes "
            f"({', '.join(function.parameters)})"
        )
    typed = [(text, from_numpy(np.dtype(dtype))) for text, dtype in values]
    target = from_numpy(np.dtype(result_dtype))
    if target is None or target.is_complex or any(t is None or t.is_complex for _, t in typed):
        raise TypeError(
            "Python functions take and return integers and floats: write other expressions in C"
        )
    call = function.call_with(
        [python_functions.value_of(text, dtype) for text, dtype in typed if dtype is not None]
    )
    if len(call.results) != 1:
        raise TypeError(f"a Python function returns one value here, not {len(call.results)}")
    python_functions.check_conversion(call.results[0], target, name)
    return CExpression(call.expression, call.text)


# ---- functions that CUDA C calls, typed by their annotations -------------------------------------


def text_in_namespaces(functions: Iterable[Callable[..., Any]]) -> str:
    """Return the C text of functions, each in its own namespace. Raises CompileError, TypeError."""
    return "\n".join(map(_text_in_namespace, functions))


def _text_in_namespace(function: Callable[..., Any]) -> str:
    """Return the C text of a function and its callees, in a namespace."""
    name = python_function(function).__name__
    namespace = f"pycu2c_{name}"
    return f"namespace {namespace} {{\n{text_of(function)}\n}}\nusing {namespace}::{name};"


def text_of(function: Callable[..., Any]) -> str:
    """Return the C text of a function and its callees."""
    py_func = python_function(function)
    name = py_func.__name__
    source = DeviceFunction(py_func).__pycu2c_device__
    signature = getattr(function, "__pycu2c_device__", source).signature
    signature = signature or annotated_device_signature(py_func)
    if signature is None:
        raise TypeError(
            f"C calls {name}: annotate its parameters with types, def {name}(x: float32)"
        )
    for parameter_type in signature.parameters:
        if (
            not isinstance(parameter_type, Scalar)
            or parameter_type.dtype.is_complex
            or parameter_type.dtype.is_half
        ):
            raise TypeError(
                f"{name} takes {parameter_type}: C calls functions of integers and floats"
            )
    generated, result = specialization.generate_device(
        source, signature, DEFAULT_OPTIONS, name, specialization.INLINE_QUALIFIERS
    )
    if signature.result is not None and signature.result != result:
        raise TypeError(f"{name} is declared to return {signature.result}, and returns {result}")
    if generated.prints:
        raise TypeError(f"{name} prints: functions that C calls cannot print")
    return generated.text
