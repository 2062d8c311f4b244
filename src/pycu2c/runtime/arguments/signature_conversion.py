"""Match the types of arguments with declared signatures, and convert numbers to declared types."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import NoReturn

import numpy as np

from pycu2c.base.diagnostics import LaunchError
from pycu2c.base.types import Array, Constant, ParameterType, Scalar, Signature, Tuple, default_type
from pycu2c.base.values import scalar_of
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.flattened_arguments import FlattenedArguments, item_name


def select_signature(
    arguments: FlattenedArguments, declared: Sequence[Signature], names: Sequence[str]
) -> Signature:
    """Return the declared signature with the most exact matches. Raises LaunchError."""
    if len(declared) == 1:
        return convert_to_signature(arguments, declared[0], names)
    matches: list[tuple[int, Signature]] = []
    for signature in declared:
        with contextlib.suppress(LaunchError):
            matches.append(
                (
                    _exact_matches(arguments, signature),
                    convert_to_signature(arguments, signature, names),
                )
            )
    if not matches:
        known, types = " or ".join(map(str, declared)), Signature(arguments.types)
        kernel = names[0].partition(":")[0] if names else "the kernel"
        raise LaunchError(f"{kernel} is declared for {known}, given {types}: declare that, too")
    return max(matches, key=lambda pair: pair[0])[1]


def _exact_matches(arguments: FlattenedArguments, signature: Signature) -> int:
    """Count arguments of exactly the declared type; a Python number counts as a 64-bit one."""
    pairs = zip(arguments.types, signature.parameters, strict=True)
    return sum(actual == declared or default_type(actual) == declared for actual, declared in pairs)


def convert_to_signature(
    arguments: FlattenedArguments, declared: Signature, names: Sequence[str]
) -> Signature:
    """Return the signature of a launch. Raises LaunchError, which names the argument."""
    leaves = iter(arguments.leaves)
    pairs = zip(arguments.types, declared.parameters, names, strict=True)
    return Signature(
        tuple(_convert(actual, expected, name, leaves) for actual, expected, name in pairs)
    )


def _convert(
    actual: ParameterType, expected: ParameterType, name: str, leaves: Iterator[Argument]
) -> ParameterType:
    match actual, expected:
        case Tuple(), Tuple() if _same_shape(actual, expected):
            names = expected.names or actual.names
            item_names = names or [str(i + 1) for i in range(len(actual.items))]
            items = [
                _convert(a, b, item_name(name, item), leaves)
                for a, b, item in zip(actual.items, expected.items, item_names)
            ]
            return Tuple(tuple(items), names)
        case Constant(), Constant() if actual == expected:
            return actual
        case Array(), Array():
            next(leaves)
            has_same_elements = (actual.dtype, actual.ndim) == (expected.dtype, expected.ndim)
            if has_same_elements and (actual.layout == "C" or expected.layout == "A"):
                return actual
            _reject(actual, expected, name, f"`{actual}`")
        case Scalar(), Scalar():
            argument = next(leaves)
            is_handle = expected.dtype.handle or isinstance(argument, HandleArgument)
            fits = actual == expected if is_handle else _represents(expected, argument)
            if fits:
                return expected
            _reject(actual, expected, name, f"{argument!r}")
        case _:
            shown = f"{next(leaves)!r}" if isinstance(actual, Scalar) else f"`{actual}`"
            _reject(actual, expected, name, shown)


def _same_shape(actual: Tuple, expected: Tuple) -> bool:
    if len(actual.items) != len(expected.items):
        return False
    return not actual.names or not expected.names or actual.names == expected.names


def _represents(declared: Scalar, argument: Argument) -> bool:
    """Return whether a type represents a number without loss.

    A Python float may be rounded to a narrower type, as in numpy, but not to infinity.
    """
    assert not isinstance(argument, (ArrayArgument, HandleArgument))
    actual = scalar_of(argument)
    assert actual is not None
    if actual.dtype.is_complex and not declared.dtype.is_complex:
        return False
    if actual.dtype.is_vector or declared.dtype.is_vector:
        return actual == declared
    if declared.dtype.is_complex:
        return actual.weak or complex(declared(argument)) == complex(argument)
    if declared.dtype.is_float:
        return _survives_rounding(_rounded(argument, declared), argument, actual)
    if not math.isfinite(argument) or argument != int(argument):
        return False
    return declared.dtype.minimum <= int(argument) <= declared.dtype.maximum


def _rounded(argument: Argument, declared: Scalar) -> float:
    if isinstance(argument, int) and argument.bit_length() > 1023:  # exceeds float64
        return math.inf
    with np.errstate(over="ignore"):
        return float(declared(argument))


def _survives_rounding(rounded: float, argument: Argument, actual: Scalar) -> bool:
    """Return whether a number may be passed as ``rounded``, its value in a declared type."""
    assert not isinstance(argument, (ArrayArgument, HandleArgument))
    if not math.isfinite(rounded):
        return not (isinstance(argument, int) or math.isfinite(argument))
    return actual.weak or not actual.dtype.is_float or rounded == float(argument)


def _array_hint(actual: ParameterType, declared: Array) -> str:
    if declared.dtype.is_vector and (
        not isinstance(actual, Array) or actual.dtype != declared.dtype
    ):
        count, part = len(declared.dtype.fields), declared.dtype.fields[0].dtype
        return (
            f": pass an array of dtype pycu2c.{declared.dtype}.numpy, or one of {part} with "
            f"{declared.ndim + 1} axes, the last of them of length {count} and contiguous"
        )
    if not isinstance(actual, Array):
        return f": pass an array, numpy.array([…], numpy.{declared.dtype})"
    if actual.dtype != declared.dtype and declared.dtype.has_fields:
        return ": pass .view(…) of that dtype, if it is laid out alike, or declare the other"
    if actual.dtype != declared.dtype:
        return f": pass .astype(numpy.{declared.dtype}), or leave the type out of the signature"
    if actual.ndim != declared.ndim:
        return f": pass .reshape(…) with {declared.ndim} {'axis' if declared.ndim == 1 else 'axes'}"
    return f": declare it `{actual}`, or pass numpy.ascontiguousarray(…) of what is only read"


def _reject(actual: ParameterType, declared: ParameterType, name: str, shown: str) -> NoReturn:
    raise LaunchError(f"{name} is declared `{declared}`, given {shown}{_hint(actual, declared)}")


def _hint(actual: ParameterType, declared: ParameterType) -> str:
    match actual, declared:
        case _, Scalar(dtype) if dtype.handle is not None:
            return f": pass what cuda.{dtype.handle.access}(…) gives"
        case _, Array():
            return _array_hint(actual, declared)
        case Array(record, 0), Scalar(dtype) if dtype.is_vector and len(record.fields) == len(
            dtype.fields
        ):
            return f": pass cuda.{dtype}(*…)"
        case Array(), Scalar():
            return ": pass one number, a[0]"
        case Tuple(), Scalar(dtype) if dtype.is_vector and len(actual.items) == len(dtype.fields):
            return f": pass cuda.{dtype}(*…)"
        case Scalar(), Scalar(dtype) if dtype.is_integer:
            return f", and holds integers from {dtype.minimum} to {dtype.maximum}"
        case Scalar(passed), Scalar(dtype) if dtype.is_float and not passed.is_complex:
            return f", which would change it: declare a wider type, or pass {dtype}(…) of it"
        case _:
            return ""
