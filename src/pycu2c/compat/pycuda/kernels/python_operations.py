"""Compile Python functions that replace C expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pycu2c.base.dtypes import from_numpy
from pycu2c.compat.cupy import python_functions

Expression: TypeAlias = "str | Callable[..., Any]"


class CExpression(NamedTuple):
    """A C expression, and the functions that it calls."""

    expression: str
    functions: str = ""


def in_c(
    expression: Expression, values: Sequence[tuple[str, Any]], result_dtype: Any, name: str
) -> CExpression:
    """Return a text as it is, or the call of a Python function.

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
        raise TypeError("Python functions take and return integers and floats here: write C")
    call = function.call_with(
        [python_functions.value_of(text, dtype) for text, dtype in typed if dtype is not None]
    )
    if len(call.results) != 1:
        raise TypeError(f"a Python function returns one value here, not {len(call.results)}")
    python_functions.check_conversion(call.results[0], target, name)
    return CExpression(call.call, call.text)
