"""Signatures as users write them: our types, numpy's, numba's, Python's, or a string."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from types import FunctionType

import numpy as np

from pycu2c import dtypes, types
from pycu2c.dtypes import BY_NAME
from pycu2c.intrinsics.numba_names import numba_type
from pycu2c.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Array, Scalar, Signature

_PYTHON: dict[object, Scalar] = {int: WEAK_INT, float: WEAK_FLOAT, bool: WEAK_BOOL}
_SHORT = {row.short: row for row in dtypes.DTYPES} | {"double": dtypes.FLOAT64}


class BadSignature(TypeError):
    """A signature that cannot be read; the message says which part and what to write."""


def parse_type(given: object) -> Scalar | Array:
    """One parameter's type. Raises BadSignature."""
    if isinstance(given, (Scalar, Array)):
        return given
    if isinstance(given, str):
        return _parse_text(given)
    if isinstance(given, type) and given in _PYTHON:
        return _PYTHON[given]
    if isinstance(given, np.dtype) or (isinstance(given, type) and issubclass(given, np.generic)):
        row = dtypes.from_numpy(np.dtype(given))
        if row is not None:
            return Scalar(row)
    foreign = numba_type(given)
    if foreign is None:
        raise BadSignature(
            f"{given!r} is not a type of kernels: write float32, float32[:], 'float32[:, :]', …"
        )
    return foreign


def _parse_text(text: str) -> Scalar | Array:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        node = None
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _named(node.id if isinstance(node, ast.Name) else node.attr, text)
    if isinstance(node, ast.Subscript) and isinstance(node.value, (ast.Name, ast.Attribute)):
        value = node.value
        element = _named(value.id if isinstance(value, ast.Name) else value.attr, text)
        return _array(element, node.slice, text)
    raise BadSignature(f"cannot read the type {text!r}: write float32, float32[:], float32[:, ::1]")


def _named(name: str, text: str) -> Scalar:
    weak = {"int": WEAK_INT, "float": WEAK_FLOAT, "bool": WEAK_BOOL}.get(name)
    row = BY_NAME.get(name.rstrip("_")) or _SHORT.get(name)
    if weak is not None:
        return weak
    if row is None:
        raise BadSignature(f"{name!r} in {text!r} is no dtype; there are {', '.join(BY_NAME)}")
    return Scalar(row)


def _array(element: Scalar, axes: ast.expr, text: str) -> Array:
    slices = axes.elts if isinstance(axes, ast.Tuple) else [axes]
    steps = [s.step for s in slices if isinstance(s, ast.Slice) and s.lower is None]
    if len(steps) != len(slices):
        raise BadSignature(f"cannot read the axes of {text!r}: write [:], [:, :] or [::1]")
    contiguous = isinstance(steps[-1], ast.Constant) and steps[-1].value == 1
    return Array(element.dtype, len(slices), "C" if contiguous else "A")


def parse_signature(given: object) -> Signature:
    """A tuple of types, a string such as ``"void(float32[:], int32)"``, or a Signature."""
    if isinstance(given, Signature):
        return given
    if isinstance(given, str):
        return Signature(tuple(_parse_text(part) for part in _split(given)))
    if isinstance(given, Sequence):
        return Signature(tuple(parse_type(part) for part in given))
    parts = getattr(given, "args", None)  # numba.void(...)
    if isinstance(parts, tuple):
        return Signature(tuple(parse_type(part) for part in parts))
    return Signature((parse_type(given),))


def _split(text: str) -> list[str]:
    """The parameters in a written signature; commas inside brackets do not part them."""
    inner = text.strip()
    if inner.endswith(")"):
        inner = inner[inner.index("(") + 1 : -1]
    parts, depth, current = [], 0, ""
    for character in inner:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [part for part in [*parts, current] if part.strip()]


def annotated_signature(function: FunctionType) -> Signature | None:
    """The signature that annotations give, if every parameter has one that can be read."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    notes = inspect.get_annotations(function)
    if not names or any(name not in notes for name in names):
        return None
    given = [_evaluated(notes[name], function) for name in names]
    return Signature(tuple(parse_type(g) for g in given))


def _evaluated(note: object, function: FunctionType) -> object:
    """``from __future__ import annotations`` leaves text: look the name up where it stands."""
    if not isinstance(note, str):
        return note
    try:
        return eval(note, function.__globals__, vars(types))  # the user's own annotation
    except Exception:
        return note
