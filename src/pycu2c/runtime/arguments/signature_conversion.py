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
    given: FlattenedArguments, declared: Sequence[Signature], names: Sequence[str]
) -> Signature:
    """Return the declared signature with the most exact matches. Raises LaunchError."""
    if len(declared) == 1:
        return convert_to_signature(given, declared[0], names)
    found: list[tuple[int, Signature]] = []
    for signature in declared:
        with contextlib.suppress(LaunchError):
            found.append(
                (_exact_matches(given, signature), convert_to_signature(given, signature, names))
            )
    if not found:
        known, types = " or ".join(map(str, declared)), Signature(given.types)
        kernel = names[0].partition(":")[0] if names else "the kernel"
        raise LaunchError(f"{kernel} is declared for {known}, given {types}: declare that, too")
    return max(found, key=lambda pair: pair[0])[1]


def _exact_matches(given: FlattenedArguments, signature: Signature) -> int:
    """Count arguments of exactly the declared type; a Python number counts as a 64-bit one."""
    pairs = zip(given.types, signature.parameters, strict=True)
    return sum(own == wanted or default_type(own) == wanted for own, wanted in pairs)


def convert_to_signature(
    given: FlattenedArguments, declared: Signature, names: Sequence[str]
) -> Signature:
    """Return the signature of a launch. Raises LaunchError, which names the argument."""
    leaves = iter(given.leaves)
    pairs = zip(given.types, declared.parameters, names, strict=True)
    return Signature(tuple(_convert(own, wanted, name, leaves) for own, wanted, name in pairs))


def _convert(
    own: ParameterType, wanted: ParameterType, name: str, leaves: Iterator[Argument]
) -> ParameterType:
    match own, wanted:
        case Tuple(), Tuple() if _same_shape(own, wanted):
            names = wanted.names or own.names
            steps = names or [str(i + 1) for i in range(len(own.items))]
            items = [
                _convert(a, b, item_name(name, step), leaves)
                for a, b, step in zip(own.items, wanted.items, steps)
            ]
            return Tuple(tuple(items), names)
        case Constant(), Constant() if own == wanted:
            return own
        case Array(), Array():
            next(leaves)
            same = (own.dtype, own.ndim) == (wanted.dtype, wanted.ndim)
            if same and (own.layout == "C" or wanted.layout == "A"):
                return own
            _reject(own, wanted, name, f"`{own}`")
        case Scalar(), Scalar() if own.dtype.handle or wanted.dtype.handle:
            argument = next(leaves)
            if own == wanted:
                return wanted
            _reject(own, wanted, name, f"{argument!r}")
        case Scalar(), Scalar():
            number = next(leaves)
            if _represents(wanted, number):
                return wanted
            _reject(own, wanted, name, f"{number!r}")
        case _:
            shown = f"{next(leaves)!r}" if isinstance(own, Scalar) else f"`{own}`"
            _reject(own, wanted, name, shown)


def _same_shape(own: Tuple, wanted: Tuple) -> bool:
    if len(own.items) != len(wanted.items):
        return False
    return not own.names or not wanted.names or own.names == wanted.names


def _represents(wanted: Scalar, argument: Argument) -> bool:
    """Return whether a type represents a number without loss.

    A Python float may be rounded to a narrower type, as in numpy, but not to infinity.
    """
    assert not isinstance(argument, (ArrayArgument, HandleArgument))
    own = scalar_of(argument)
    assert own is not None
    if own.dtype.is_complex and not wanted.dtype.is_complex:
        return False
    if own.dtype.is_vector or wanted.dtype.is_vector:
        return own == wanted
    if wanted.dtype.is_complex:
        return own.weak or complex(wanted(argument)) == complex(argument)
    if wanted.dtype.is_float:
        return _survives_rounding(_rounded(argument, wanted), argument, own)
    if not math.isfinite(argument) or argument != int(argument):
        return False
    return wanted.dtype.minimum <= int(argument) <= wanted.dtype.maximum


def _rounded(argument: Argument, wanted: Scalar) -> float:
    if isinstance(argument, int) and argument.bit_length() > 1023:  # exceeds float64
        return math.inf
    with np.errstate(over="ignore"):
        return float(wanted(argument))


def _survives_rounding(rounded: float, argument: Argument, own: Scalar) -> bool:
    """Return whether a number is unchanged as a float of a declared type."""
    assert not isinstance(argument, (ArrayArgument, HandleArgument))
    if not math.isfinite(rounded):
        return not (isinstance(argument, int) or math.isfinite(argument))
    return own.weak or not own.dtype.is_float or rounded == float(argument)


def _array_hint(own: ParameterType, wanted: Array) -> str:
    if wanted.dtype.is_vector and (not isinstance(own, Array) or own.dtype != wanted.dtype):
        count, part = len(wanted.dtype.fields), wanted.dtype.fields[0].dtype
        return (
            f": pass an array of dtype pycu2c.{wanted.dtype}.numpy, or one of {part} with "
            f"{wanted.ndim + 1} axes, the last of them of length {count} and contiguous"
        )
    if not isinstance(own, Array):
        return f": pass an array, numpy.array([…], numpy.{wanted.dtype})"
    if own.dtype != wanted.dtype and wanted.dtype.has_fields:
        return ": pass .view(…) of that dtype, if it is laid out alike, or declare the other"
    if own.dtype != wanted.dtype:
        return f": pass .astype(numpy.{wanted.dtype}), or leave the type out of the signature"
    if own.ndim != wanted.ndim:
        return f": pass .reshape(…) with {wanted.ndim} axes"
    return f": declare it `{own}`, or pass numpy.ascontiguousarray(…) of what is only read"


def _reject(own: ParameterType, wanted: ParameterType, name: str, shown: str) -> NoReturn:
    raise LaunchError(f"{name} is declared `{wanted}`, given {shown}{_hint(own, wanted)}")


def _hint(own: ParameterType, wanted: ParameterType) -> str:
    match own, wanted:
        case _, Scalar(dtype) if dtype.handle is not None:
            return f": pass what cuda.{dtype.handle.access}(…) gives"
        case _, Array():
            return _array_hint(own, wanted)
        case Array(), Scalar():
            return ": pass one number, a[0]"
        case Tuple(), Scalar(dtype) if dtype.is_vector and len(own.items) == len(dtype.fields):
            return f": pass cuda.{dtype}(*…)"
        case Scalar(), Scalar(dtype) if dtype.is_integer:
            return f", and holds integers from {dtype.minimum} to {dtype.maximum}"
        case Scalar(given), Scalar(dtype) if dtype.is_float and not given.is_complex:
            return f", which would change it: declare a wider type, or pass {dtype}(…) of it"
        case _:
            return ""
