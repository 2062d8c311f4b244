"""Parse CuPy's parameter declarations, ``"T x, raw float32 y"``, and infer placeholder types."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass

Dtype: TypeAlias = "np.dtype[Any]"


class ArgumentTypeError(LaunchError, TypeError):
    """An argument does not have the type of its parameter."""


class ArgumentValueError(LaunchError, ValueError):
    """Shapes, axes or sizes of a call are incompatible."""


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter.

    ctype: its C type, or its placeholder; then ``dtype`` is None.
    raw: whether the operation indexes it. is_const: whether it is read-only.
    """

    name: str
    dtype: Dtype | None
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
_OWN_CLASSES = {"float16": "float16", "bfloat16": "bfloat16"}  # classes of numbers.h
_RESERVED = "i"


def c_name(row: DType) -> str:
    """Return the C name of a type."""
    if row.is_complex:
        return f"complex<{row.real.cuda}>"
    return _OWN_CLASSES.get(row.name, row.cuda)


def is_kernel_name(name: object) -> bool:
    """Return whether a name is a valid C function name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


@functools.cache
def number_dtype(dtype: Dtype) -> DType:
    """Return the number type of a dtype. Raises ArgumentTypeError."""
    row = dtypes.from_numpy(dtype)
    if row is None or (row.fields and not row.is_complex):
        known = ", ".join(d.name for d in dtypes.DTYPES)
        hint = f"pass a field, as x[{dtype.names[0]!r}]; " if dtype.names else ""
        raise ArgumentTypeError(f"kernels have no dtype {dtype}: {hint}they have {known}")
    return row


def parameters(text: str, *, is_const: bool) -> tuple[ParameterInfo, ...]:
    """Parse parameters such as ``"T x, raw float32 y"``. Raises ValueError."""
    if not isinstance(text, str):
        raise TypeError(f"parameters are declared as text, 'T x, float32 y', not {text!r}")
    found = tuple(_parameter(part, is_const) for part in text.split(",")) if text.strip() else ()
    names = [p.name for p in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{text!r} declares {name} twice: give each parameter its own name")
    return found


def _parameter(text: str, is_const: bool) -> ParameterInfo:
    *words, name = text.split() or [""]
    if not words or _NAME.fullmatch(name) is None:
        raise ValueError(f"{text.strip()!r} is no parameter: write a type and a name, 'float32 x'")
    if name == _RESERVED:
        raise ValueError("a parameter cannot be named i: that is the index of the element")
    *marks, kind = words
    unknown = [mark for mark in marks if mark not in ("raw", "_non_const")]
    if unknown:
        raise ValueError(f"{text.strip()!r} has the unknown word {unknown[0]!r}: there is 'raw'")
    dtype = None if len(kind) == 1 else _dtype(kind, text)
    ctype = kind if dtype is None else c_name(number_dtype(dtype))
    return ParameterInfo(name, dtype, ctype, "raw" in marks, is_const and "_non_const" not in marks)


def _dtype(kind: str, text: str) -> Dtype:
    try:
        return dtypes.BFLOAT16.numpy if kind == "bfloat16" else np.dtype(kind)
    except TypeError:
        vector = dtypes.VECTORS.get(kind)
        if vector is not None:
            part, count, name = vector.fields[0].dtype, len(vector.fields), text.split()[-1]
            raise ValueError(
                f"{text.strip()!r} is a vector, and elements are numbers: declare 'raw {part} "
                f"{name}', and take *(const {vector.cuda} *)&{name}[{count} * i]"
            ) from None
        raise ValueError(
            f"{text.strip()!r} has the type {kind!r}, which numpy does not know: write a dtype's "
            "name, or one letter that stands for any, as T"
        ) from None


ArgumentType: TypeAlias = (
    "Dtype | DType | object"  # an array's dtype, a texture's type, or a number
)


def types_of(
    inputs: Sequence[ParameterInfo],
    outputs: Sequence[ParameterInfo],
    given: Sequence[ArgumentType],
    out: Sequence[Dtype],
) -> CallTypes:
    """Infer the types of a call from the dtypes of arrays, texture types, and numbers.

    Arrays determine placeholders, outputs first. Raises ArgumentTypeError.
    """
    found: dict[str, Dtype] = {}
    handles = {p.ctype: _handle(p, g) for p, g in zip(inputs, given) if isinstance(g, DType)}
    of_arrays = [(p, d) for p, d in zip(inputs, given) if isinstance(d, np.dtype)]
    for parameter, dtype in (*zip(outputs, out), *of_arrays):
        wanted = parameter.dtype or found.setdefault(parameter.ctype, dtype)
        if parameter.ctype in handles:
            raise ArgumentTypeError(
                f"{parameter.name} is an array, and {parameter.ctype} is the type of a texture, "
                "too: give each its own letter"
            )
        if wanted != dtype:
            shown = wanted if parameter.dtype is not None else f"{parameter.ctype}, here {wanted}"
            raise ArgumentTypeError(
                f"{parameter.name} is {shown}, and the argument has dtype {dtype}: "
                f"pass .astype({str(wanted)!r})"
            )
    for name in dict.fromkeys(p.ctype for p in (*inputs, *outputs) if p.dtype is None):
        if name not in found and name not in handles:
            found[name] = _of_numbers(name, inputs, given)
    rows = {name: number_dtype(dtype) for name, dtype in found.items()} | handles
    in_types, out_types = (
        tuple(number_dtype(p.dtype) if p.dtype is not None else rows[p.ctype] for p in group)
        for group in (inputs, outputs)
    )
    return CallTypes(in_types, out_types, tuple(sorted(rows.items(), key=lambda item: item[0])))


def _handle(parameter: ParameterInfo, row: DType) -> DType:
    """Return the type of a texture parameter."""
    if parameter.dtype is not None or parameter.raw:
        raise ArgumentTypeError(
            f"{parameter.name} is given a texture: declare it with a letter of its own, "
            f"'U {parameter.name}'"
        )
    return row


def _of_numbers(name: str, inputs: Sequence[ParameterInfo], given: Sequence[ArgumentType]) -> Dtype:
    """Return the type of a placeholder that no array determines."""
    numbers: list[Any] = [g for p, g in zip(inputs, given) if p.ctype == name]
    if not numbers:
        raise ArgumentTypeError(
            f"no argument says what {name} is: pass the output, or declare its type, 'float32 y'"
        )
    return np.result_type(*numbers)


def names_in(*texts: str) -> frozenset[str]:
    """Return the names in a C text."""
    return frozenset(_words(texts))


def _words(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from _NAME.findall(text)
