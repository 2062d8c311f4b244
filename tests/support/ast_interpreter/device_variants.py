"""The variants of device functions by the types of their arguments.

The variables of a device function may have other types in each variant. The oracle dispatches on
the types of the arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.dtypes import from_numpy
from pycu2c.base.source import Source
from pycu2c.base.types import WEAK_INT, Array, Constant, ParameterType, Scalar, Tuple
from pycu2c.base.values import scalar_of
from pycu2c.frontend.expressions.composite_values import SELECTOR
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.runtime.arguments.arguments import describe_handle
from support.ast_interpreter.weak_floats import ArgumentKinds

RuntimeKind: TypeAlias = object  # equal for types that values do not distinguish


def kind_of_type(value_type: ParameterType) -> RuntimeKind:
    """Return the runtime kind of values of a type."""
    match value_type:
        case Scalar(dtype) if not dtype.fields or dtype.is_complex or dtype.is_vector:
            return value_type
        case Scalar() | Array(ndim=0):
            return "record", value_type.dtype
        case Array():
            return "array", value_type.dtype, value_type.ndim
        case Tuple(items, names) if names[:1] == (SELECTOR,):
            return kind_of_type(items[1])
        case Tuple(items, names) if not names or names[0][:1] != "<":
            return tuple(map(kind_of_type, items))
        case Constant(value=None | str() as value):
            return "constant", value
        case Constant(value=int()):
            return WEAK_INT
    return "object"


def kind_of_value(value: object) -> RuntimeKind:
    """Return the runtime kind of a value."""
    if isinstance(value, tuple):
        return tuple(map(kind_of_value, value))
    if value is None or isinstance(value, str):
        return "constant", value
    if isinstance(value, np.void):
        return "record", from_numpy(value.dtype)
    if isinstance(value, np.ndarray):
        return "array", from_numpy(value.dtype), value.ndim
    handle = describe_handle(value)
    scalar = handle.type if handle else scalar_of(value)
    return "object" if scalar is None else scalar


def dispatch_on_arguments(
    source: Source,
    variants: Mapping[ArgumentKinds, Callable[..., Any]],
    default: Callable[..., Any],
) -> Callable[..., Any]:
    """Return a function that calls the variant for its arguments."""
    names = [p.arg for p in parameters(source.tree.args)]
    signature = inspect.signature(source.python)

    def call(*arguments: Any, **keywords: Any) -> Any:
        bound_arguments = signature.bind(*arguments, **keywords)
        bound_arguments.apply_defaults()
        kinds = tuple(kind_of_value(bound_arguments.arguments[name]) for name in names)
        return variants.get(kinds, default)(*arguments, **keywords)

    return call
