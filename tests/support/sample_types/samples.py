"""Samples: values that represent the types of the oracle's type inference."""

from __future__ import annotations

import ast
import collections
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.base.types import (
    NONE,
    Array,
    Constant,
    ParameterType,
    Scalar,
    Tuple,
    have_common_type,
    promote,
)
from pycu2c.base.values import convert, scalar_of
from pycu2c.base.vectors import Vector
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, Thread
from support.ast_interpreter import elements as elements

# a number, an array with one element on each axis, a tuple, a function, another object
Sample: TypeAlias = Any


class NoSample(Exception):
    """An expression has no sample: its construct is not supported here."""


class NotTyped(Exception):
    """An expression reads a variable that has no type yet."""


class Unknown:
    """The value of a variable that was assigned a value without a sample."""


UNKNOWN = Unknown()


@dataclass(frozen=True, slots=True, eq=False)
class NestedFunction:
    """A nested function or lambda, with the values of its defaults and its enclosing run."""

    tree: ast.FunctionDef
    defaults: dict[str, Sample]
    enclosing: object


@dataclass(frozen=True, slots=True)
class HandleSample:
    """A texture or surface."""

    type: Scalar
    __pycu2c_handle__ = True


def sample_of(parameter_type: ParameterType) -> Sample:
    """Return a value of a type; raises NoSample for local functions."""
    match parameter_type:
        case Scalar() if parameter_type.dtype.handle is not None:
            return HandleSample(parameter_type)
        case Scalar():
            if parameter_type.dtype.fields and not parameter_type.dtype.is_complex:
                return elements.to_scalar(np.ones(1, parameter_type.dtype.numpy)[0])
            return convert(1, parameter_type)
        case Array():
            array = np.ones((1,) * parameter_type.ndim, parameter_type.dtype.numpy)
            return array if parameter_type.ndim else array[()]
        case Tuple(items, names) if not names or not names[0].startswith("<"):
            samples = [sample_of(item) for item in items]
            return collections.namedtuple("Fields", names)(*samples) if names else tuple(samples)
        case Tuple(items, names) if names[0] == "<which>":
            return sample_of(items[1])
        case Constant(value=value):
            return value
        case _:
            raise NoSample


def sample_of_array(array: np.ndarray[Any, Any]) -> Sample:
    """Return an array of the same type with one element."""
    return np.ones((1,) * array.ndim, array.dtype)


@contextmanager
def sample_thread() -> Iterator[None]:
    """Let intrinsics read the coordinates of a thread."""
    previous = REFERENCE_STATE.thread
    REFERENCE_STATE.thread = Thread((0, 0, 0), (0, 0, 0), (1, 1, 1), (1, 1, 1), memory={})
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        REFERENCE_STATE.thread = previous


def is_tuple(sample: Sample) -> bool:
    return isinstance(sample, tuple) and not isinstance(sample, Vector)


def number_type(sample: Sample) -> Scalar | None:
    """Return the type of a number or vector; None for records, arrays and other values."""
    return None if isinstance(sample, np.ndarray | np.void) else scalar_of(sample)


def variable_type(sample: Sample) -> ParameterType | None:
    """Return the type of a variable with numbers; in a tuple, NONE stands for other items."""
    if is_tuple(sample):
        return Tuple(tuple(variable_type(item) or NONE for item in sample))
    return number_type(sample)


def common_sample(samples: Sequence[Sample]) -> Sample:
    """Return a sample of the common type of values that join."""
    first = samples[0]
    if any(s is UNKNOWN for s in samples):
        raise NoSample
    if all(map(is_tuple, samples)):
        if len({len(s) for s in samples}) != 1:
            raise NoSample
        items = [common_sample(group) for group in zip(*samples)]
        return getattr(type(first), "_make", tuple)(items)
    scalars = [scalar_of(s) for s in samples if not isinstance(s, np.ndarray)]
    types = [s for s in scalars if s is not None]
    if len(types) == len(samples):
        if not all(have_common_type(types[0], t) for t in types):
            raise NoSample
        return sample_of(reduce(promote, types))
    kinds = {(s.dtype, s.ndim) for s in samples if isinstance(s, np.ndarray)}
    if all(isinstance(s, np.ndarray) for s in samples) and len(kinds) == 1:
        return first
    if len(set(map(type_key, samples))) == 1:
        return first
    raise NoSample


def types_of(variables: dict[str, Sample]) -> dict[str, object]:
    return {name: type_key(sample) for name, sample in variables.items()}


def type_key(sample: Sample) -> object:
    """Return what two samples of one type have in common."""
    if isinstance(sample, np.ndarray):
        return sample.dtype, sample.ndim
    if is_tuple(sample):
        return tuple(map(type_key, sample))
    if isinstance(sample, str | HandleSample):
        return sample
    if isinstance(sample, NestedFunction):
        return id(sample.tree), *map(type_key, sample.defaults.values())
    return scalar_of(sample) or id(sample)
