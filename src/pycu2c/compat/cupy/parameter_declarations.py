"""Parse CuPy's parameter declarations, ``"T x, raw float32 y"``, and infer placeholder types."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass

NumpyDtype: TypeAlias = "np.dtype[Any]"


class ArgumentTypeError(LaunchError, TypeError):
    """An argument does not have the type of its parameter."""


class ArgumentValueError(LaunchError, ValueError):
    """Shapes, axes or sizes of a call are incompatible."""


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter.

    ctype: its C type, or its placeholder; the ``dtype`` of a placeholder is None.
    raw: whether the user's text indexes the array. is_const: whether it is read-only.
    """

    name: str
    dtype: NumpyDtype | None
    ctype: str
    raw: bool
    is_const: bool


@dataclass(frozen=True, slots=True)
class CallTypes:
    """The types of the parameters of a call, and of its placeholders."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    placeholders: tuple[tuple[str, DType], ...]


_NAME = re.compile(r"[A-Za-z_]\w*")
_HALF_CLASSES = ("float16", "bfloat16")  # classes of halves.h
_INDEX_NAME = "i"


def c_name(dtype: DType) -> str:
    """Return the C name of a type."""
    if dtype.is_complex:
        return f"complex<{dtype.real.cuda}>"
    return dtype.name if dtype.name in _HALF_CLASSES else dtype.cuda


def require_c_text(**texts: object) -> None:
    """Raise TypeError if a function replaces a C text."""
    for name, text in texts.items():
        if callable(text):
            raise TypeError(
                f"{name} is a Python function: write C text, or decorate the function with "
                "@vectorize, @cuda.reduce or @kernel in place of this kernel"
            )


def is_kernel_name(name: object) -> bool:
    """Return whether a name is a valid C function name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


@functools.cache
def number_dtype(dtype: NumpyDtype) -> DType:
    """Return the DType of a numpy dtype of numbers. Raises ArgumentTypeError."""
    number_type = dtypes.from_numpy(dtype)
    if number_type is None or (number_type.fields and not number_type.is_complex):
        names = ", ".join(d.name for d in dtypes.DTYPES)
        hint = f"pass a field, as x[{dtype.names[0]!r}]; " if dtype.names else ""
        raise ArgumentTypeError(f"kernels do not support dtype {dtype}: {hint}they support {names}")
    return number_type


def parse_parameters(text: str, *, is_const: bool) -> tuple[ParameterInfo, ...]:
    """Parse parameters such as ``"T x, raw float32 y"``. Raises ValueError."""
    if not isinstance(text, str):
        raise TypeError(f"parameters are declared as text, 'T x, float32 y', not {text!r}")
    parsed = tuple(_parameter(part, is_const) for part in text.split(",")) if text.strip() else ()
    names = [p.name for p in parsed]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{text!r} declares {name} twice: give each parameter its own name")
    return parsed


def _parameter(text: str, is_const: bool) -> ParameterInfo:
    *words, name = text.split() or [""]
    if not words or _NAME.fullmatch(name) is None:
        raise ValueError(
            f"{text.strip()!r} is not a parameter: write a type and a name, 'float32 x'"
        )
    if name == _INDEX_NAME:
        raise ValueError("a parameter cannot be named i: that is the index of the element")
    *qualifiers, type_name = words
    unknown = [word for word in qualifiers if word not in ("raw", "_non_const")]
    if unknown:
        raise ValueError(
            f"{text.strip()!r} has the unknown qualifier {unknown[0]!r}: 'raw' is supported"
        )
    dtype = None if len(type_name) == 1 else _dtype(type_name, text)
    ctype = type_name if dtype is None else c_name(number_dtype(dtype))
    is_const = is_const and "_non_const" not in qualifiers
    return ParameterInfo(name, dtype, ctype, "raw" in qualifiers, is_const)


def _dtype(type_name: str, text: str) -> NumpyDtype:
    try:
        return dtypes.BFLOAT16.numpy if type_name == "bfloat16" else np.dtype(type_name)
    except TypeError:
        vector = dtypes.VECTORS.get(type_name)
        if vector is not None:
            component, count, name = vector.fields[0].dtype, len(vector.fields), text.split()[-1]
            raise ValueError(
                f"{text.strip()!r} is a vector, and elements are numbers: declare 'raw {component} "
                f"{name}', and read *(const {vector.cuda} *)&{name}[{count} * i]"
            ) from None
        raise ValueError(
            f"{text.strip()!r} has the type {type_name!r}, which is no dtype of numpy: write the "
            "name of a dtype, or one letter as a placeholder for any type, such as T"
        ) from None


ArgumentType: TypeAlias = (
    "NumpyDtype | DType | object"  # an array's dtype, a texture's type, or a number
)


def infer_types(
    inputs: Sequence[ParameterInfo],
    outputs: Sequence[ParameterInfo],
    arguments: Sequence[ArgumentType],
    out: Sequence[NumpyDtype],
) -> CallTypes:
    """Infer the types of a call from the dtypes of arrays, texture types, and numbers.

    Arrays determine placeholders, outputs first. Raises ArgumentTypeError.
    """
    placeholders: dict[str, NumpyDtype] = {}
    handles = {
        p.ctype: _texture_type(p, a) for p, a in zip(inputs, arguments) if isinstance(a, DType)
    }
    arrays = [(p, a) for p, a in zip(inputs, arguments) if isinstance(a, np.dtype)]
    for parameter, dtype in (*zip(outputs, out), *arrays):
        expected = parameter.dtype or placeholders.setdefault(parameter.ctype, dtype)
        if parameter.ctype in handles:
            raise ArgumentTypeError(
                f"{parameter.name} is an array, and {parameter.ctype} is also the type of a "
                "texture: give each its own letter"
            )
        if expected != dtype:
            declared = parameter.dtype or f"{parameter.ctype}, here {expected}"
            raise ArgumentTypeError(
                f"{parameter.name} is {declared}, and the argument has dtype {dtype}: "
                f"pass .astype({str(expected)!r})"
            )
    for name in dict.fromkeys(p.ctype for p in (*inputs, *outputs) if p.dtype is None):
        if name not in placeholders and name not in handles:
            placeholders[name] = _type_of_numbers(name, inputs, arguments)
    types = {name: number_dtype(dtype) for name, dtype in placeholders.items()} | handles
    in_types, out_types = (
        tuple(number_dtype(p.dtype) if p.dtype is not None else types[p.ctype] for p in group)
        for group in (inputs, outputs)
    )
    return CallTypes(in_types, out_types, tuple(sorted(types.items(), key=lambda item: item[0])))


def _texture_type(parameter: ParameterInfo, dtype: DType) -> DType:
    """Return the type of a texture parameter. Raises ArgumentTypeError."""
    if parameter.dtype is not None or parameter.raw:
        raise ArgumentTypeError(
            f"the argument for {parameter.name} is a texture: declare it with a placeholder that "
            f"no other parameter has, 'U {parameter.name}'"
        )
    return dtype


def _type_of_numbers(
    name: str, inputs: Sequence[ParameterInfo], arguments: Sequence[ArgumentType]
) -> NumpyDtype:
    """Return the common type of the numbers that are passed for a placeholder."""
    numbers: list[Any] = [a for p, a in zip(inputs, arguments) if p.ctype == name]
    if not numbers:
        raise ArgumentTypeError(
            f"no argument determines {name}: pass the output, or declare its type, 'float32 y'"
        )
    return np.result_type(*numbers)


def names_in(*texts: str) -> frozenset[str]:
    """Return the names in a C text."""
    return frozenset(name for text in texts for name in _NAME.findall(text))
