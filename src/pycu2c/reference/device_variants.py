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
from pycu2c.reference.type_inference import infer_all
from pycu2c.reference.weak_floats import ArgumentKinds, ReferenceTypes
from pycu2c.runtime.arguments.arguments import describe_handle

RuntimeKind: TypeAlias = object  # equal for types that values do not distinguish
InferredByFunction: TypeAlias = Mapping[tuple[Source, tuple[ParameterType, ...]], InferredTypes]


def inferred_from(
    inferred_by_function: InferredByFunction, source: Source, signature: Signature, is_single: bool
) -> ReferenceTypes:
    """Return the types of a kernel and of the device functions that it calls."""
    inferred_by_function = infer_all(inferred_by_function)
    all_types = merge_types(inferred_by_function.values())
    types_by_kinds: dict[Source, dict[ArgumentKinds, list[InferredTypes]]] = {}
    for (function, types), inferred in inferred_by_function.items():
        kinds = tuple(map(kind_of_type, types))
        types_by_kinds.setdefault(function, {}).setdefault(kinds, []).append(inferred)

    def merged_types(inferred: list[InferredTypes]) -> ReferenceTypes:
        # variants of one kind have equal types
        types = with_inner_functions(inferred[0], all_types)
        return ReferenceTypes(types.local_types, types.join_types, is_single, tree=types.tree)

    variants = {
        function: {kinds: merged_types(inferred) for kinds, inferred in group.items()}
        for function, group in types_by_kinds.items()
    }
    kernel_types = with_inner_functions(
        inferred_by_function[source, signature.parameters], all_types
    )
    return ReferenceTypes(
        kernel_types.local_types, kernel_types.join_types, is_single, variants, kernel_types.tree
    )


def kind_of_type(value_type: ParameterType) -> RuntimeKind:
    """Return the runtime kind of values of a type."""
    match value_type:
        case Scalar() if not value_type.dtype.fields or value_type.dtype.is_complex:
            return value_type
        case Scalar() | Array(ndim=0):
            return "record", value_type.dtype
        case Array():
            return "array", value_type.dtype, value_type.ndim
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
