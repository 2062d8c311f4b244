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
    given: Expression, values: Sequence[tuple[str, Any]], wanted: Any, name: str
) -> CExpression:
    """Return a text as it is, or the call of a function with C expressions of known dtypes.

    Raises CompileError, TypeError.
    """
    if isinstance(given, str):
        return CExpression(given)
    function = python_functions.PythonFunction(given, name)
    if len(function.parameters) != len(values):
        spelled = ", ".join(text for text, _ in values)
        raise TypeError(
            f"a Python function takes the values {spelled} here, and this one takes "
            f"({', '.join(function.parameters)})"
        )
    rows = [(text, from_numpy(np.dtype(dtype))) for text, dtype in values]
    target = from_numpy(np.dtype(wanted))
    if target is None or target.is_complex or any(r is None or r.is_complex for _, r in rows):
        raise TypeError("Python functions take and give integers and floats here: write C")
    called = function.called(
        [python_functions.value_of(text, row) for text, row in rows if row is not None]
    )
    if len(called.results) != 1:
        raise TypeError(f"a Python function gives one value here, not {len(called.results)}")
    python_functions.check_conversion(called.results[0], target, name)
    return CExpression(called.call, called.text)
