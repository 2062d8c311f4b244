"""Variants of device functions by argument types, which the reference interpreter dispatches on.

The variables of a device function may have other types in each variant.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.dtypes import from_numpy
from pycu2c.base.source import Source
from pycu2c.base.types import WEAK_INT, Array, Constant, ParameterType, Scalar, Signature, Tuple
from pycu2c.base.values import scalar_of
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.frontend.scope.inferred_types import InferredTypes, merge_types, with_inner_functions
from pycu2c.reference.weak_floats import ReferenceTypes, RuntimeKinds
from pycu2c.runtime.arguments.arguments import describe_handle

RuntimeKind: TypeAlias = object  # equal for types that values do not distinguish
InferredByFunction: TypeAlias = Mapping[tuple[Source, tuple[ParameterType, ...]], InferredTypes]


def inferred_from(
    recorded: InferredByFunction, source: Source, signature: Signature, single: bool
) -> ReferenceTypes:
    """Return the types of a kernel and of the device functions that it calls."""
    merged = merge_types(recorded.values())
    grouped: dict[Source, dict[RuntimeKinds, list[InferredTypes]]] = {}
    for (function, types), inferred in recorded.items():
        kinds = tuple(map(kind_of_type, types))
        grouped.setdefault(function, {}).setdefault(kinds, []).append(inferred)

    def merged_types(inferred: list[InferredTypes]) -> ReferenceTypes:
        types = with_inner_functions(inferred[0], merged)  # variants of one kind have equal types
        return ReferenceTypes(types.names, types.joins, single, tree=types.tree)

    variants = {
        function: {kinds: merged_types(inferred) for kinds, inferred in group.items()}
        for function, group in grouped.items()
    }
    own = with_inner_functions(recorded[source, signature.parameters], merged)
    return ReferenceTypes(own.names, own.joins, single, variants, own.tree)


def kind_of_type(kind: ParameterType) -> RuntimeKind:
    """Return the runtime kind of values of a type."""
    match kind:
        case Scalar() if not kind.dtype.fields or kind.dtype.is_complex:
            return kind
        case Scalar() | Array(ndim=0):
            return "record", kind.dtype
        case Array():
            return "array", kind.dtype, kind.ndim
        case Tuple(items, names) if names[:1] == ("<which>",):
            return kind_of_type(items[1])
        case Tuple(items, names) if names[:1] == ("<function>",):
            return "object"
        case Tuple(items):
            return tuple(map(kind_of_type, items))
        case Constant(value=None | str() as value):
            return "constant", value
        case Constant(value=int()):
            return kind_of_type(WEAK_INT)
        case Constant():
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
    return "object" if scalar is None else kind_of_type(scalar)


def dispatch_on_arguments(
    source: Source,
    variants: Mapping[RuntimeKinds, Callable[..., Any]],
    otherwise: Callable[..., Any],
) -> Callable[..., Any]:
    """Return a function that calls the variant for its arguments."""
    names = [p.arg for p in parameters(source.tree.args)]
    signature = inspect.signature(source.python)

    def call(*arguments: Any, **keywords: Any) -> Any:
        bound = signature.bind(*arguments, **keywords)
        bound.apply_defaults()
        kinds = tuple(kind_of_value(bound.arguments[name]) for name in names)
        return variants.get(kinds, otherwise)(*arguments, **keywords)

    return call
