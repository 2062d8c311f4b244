"""Parameters of kernels as CuPy declares them, ``"T x, raw float32 y"``, and the types that the
placeholders in them stand for in a call. Knows no arrays."""

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


class WrongType(LaunchError, TypeError):
    """An argument is of another type than its parameter takes."""


class WrongValue(LaunchError, ValueError):
    """The shapes, axes or sizes of a call do not go together."""


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """A parameter. ``ctype`` is its type in C, or the placeholder, and ``dtype`` is None then;
    ``raw``: the kernel indexes it by itself; ``is_const``: it is only read."""

    name: str
    dtype: Dtype | None
    ctype: str
    raw: bool
    is_const: bool


@dataclass(frozen=True, slots=True)
class Types:
    """The types of a call's parameters, and those that placeholders stand for."""

    inputs: tuple[DType, ...]
    outputs: tuple[DType, ...]
    placeholders: tuple[tuple[str, DType], ...]


_NAME = re.compile(r"[A-Za-z_]\w*")
_OURS = {"float16": "float16", "bfloat16": "bfloat16"}  # classes of numbers.h
_RESERVED = "i"


def c_name(row: DType) -> str:
    """A type as the text of an operation names it."""
    if row.is_complex:
        return f"complex<{row.real.cuda}>"
    return _OURS.get(row.name, row.cuda)


def is_kernel_name(name: object) -> bool:
    """Whether C can call a kernel so."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


@functools.cache
def row_of(dtype: Dtype) -> DType:
    """The type of numbers that a dtype is. Raises WrongType."""
    row = dtypes.from_numpy(dtype)
    if row is None or (row.fields and not row.is_complex):
        known = ", ".join(d.name for d in dtypes.DTYPES)
        hint = f"pass a field, as x[{dtype.names[0]!r}]; " if dtype.names else ""
        raise WrongType(f"kernels have no dtype {dtype}: {hint}they have {known}")
    return row


def parameters(text: str, *, is_const: bool) -> tuple[ParameterInfo, ...]:
    """``"T x, raw float32 y"`` as parameters. Raises ValueError."""
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
    ctype = kind if dtype is None else c_name(row_of(dtype))
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


Given: TypeAlias = "Dtype | DType | object"  # an array's dtype, a texture's type, or a number


def types_of(
    inputs: Sequence[ParameterInfo],
    outputs: Sequence[ParameterInfo],
    given: Sequence[Given],
    out: Sequence[Dtype],
) -> Types:
    """The types of a call: ``given`` and ``out`` are the dtypes of its arrays, types of textures,
    and numbers. Arrays decide what a placeholder is, those of results first. Raises WrongType."""
    found: dict[str, Dtype] = {}
    handles = {p.ctype: _handle(p, g) for p, g in zip(inputs, given) if isinstance(g, DType)}
    of_arrays = [(p, d) for p, d in zip(inputs, given) if isinstance(d, np.dtype)]
    for parameter, dtype in (*zip(outputs, out), *of_arrays):
        wanted = parameter.dtype or found.setdefault(parameter.ctype, dtype)
        if parameter.ctype in handles:
            raise WrongType(
                f"{parameter.name} is an array, and {parameter.ctype} is the type of a texture, "
                "too: give each its own letter"
            )
        if wanted != dtype:
            shown = wanted if parameter.dtype is not None else f"{parameter.ctype}, here {wanted}"
            raise WrongType(
                f"{parameter.name} is {shown}, and the argument has dtype {dtype}: "
                f"pass .astype({str(wanted)!r})"
            )
    for name in dict.fromkeys(p.ctype for p in (*inputs, *outputs) if p.dtype is None):
        if name not in found and name not in handles:
            found[name] = _of_numbers(name, inputs, given)
    rows = {name: row_of(dtype) for name, dtype in found.items()} | handles
    in_types, out_types = (
        tuple(row_of(p.dtype) if p.dtype is not None else rows[p.ctype] for p in group)
        for group in (inputs, outputs)
    )
    return Types(in_types, out_types, tuple(sorted(rows.items(), key=lambda item: item[0])))


def _handle(parameter: ParameterInfo, row: DType) -> DType:
    """The type of a parameter that a texture is given for."""
    if parameter.dtype is not None or parameter.raw:
        raise WrongType(
            f"{parameter.name} is given a texture: declare it with a letter of its own, "
            f"'U {parameter.name}'"
        )
    return row


def _of_numbers(name: str, inputs: Sequence[ParameterInfo], given: Sequence[Given]) -> Dtype:
    """A placeholder that no array decides."""
    numbers: list[Any] = [g for p, g in zip(inputs, given) if p.ctype == name]
    if not numbers:
        raise WrongType(
            f"no argument says what {name} is: pass the output, or declare its type, 'float32 y'"
        )
    return np.result_type(*numbers)


def names_in(*texts: str) -> frozenset[str]:
    """The names that C text mentions."""
    return frozenset(_words(texts))


def _words(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from _NAME.findall(text)
