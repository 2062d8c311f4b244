"""Python floats in float32, for the oracle: ``@kernel(weak_float="float32")``.

A weak float stays a Python float with a float32 value: assignments to typed variables round, and
operations round their results. Folded constants stay exact until they are combined with a computed
value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pycu2c.base import dtypes
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Source
from pycu2c.base.types import WEAK_COMPLEX, WEAK_FLOAT, ParameterType, Scalar, Tuple
from pycu2c.base.values import convert
from pycu2c.frontend.calls.function_makers import call_key
from support.sample_types.inferred_types import TypesByNode

# what distinguishes the variants of a device function at run time, one item per argument
ArgumentKinds: TypeAlias = tuple[object, ...]

_WEAK_FLOAT32 = Scalar(dtypes.FLOAT32, weak=True)
_WEAK_COMPLEX64 = Scalar(dtypes.COMPLEX64, weak=True)


def function_maker() -> Callable[..., Any]:
    """Return a function that makes one function for equal arguments."""
    functions: dict[object, Any] = {}

    def make(maker: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
        key = call_key(maker, arguments, keywords)
        if key not in functions:
            functions[key] = maker(*arguments, **keywords)
        return functions[key]

    return make


@dataclass(frozen=True, slots=True)
class ReferenceTypes:
    """Inferred types of syntax nodes.

    ``local_types`` are those of assigned variables, ``join_types`` those of expressions that join
    several values. ``variants`` are the types of device functions. ``make_function`` calls a
    function that makes one while the kernel is compiled.
    """

    local_types: TypesByNode
    join_types: TypesByNode
    is_single: bool = False  # weak floats are float32
    variants: Mapping[Source, Mapping[ArgumentKinds, ReferenceTypes]] = field(default_factory=dict)
    tree: ast.FunctionDef | None = None  # the function with unrolled loops over tuples
    make_function: Callable[..., Any] = field(default_factory=function_maker)

    def __post_init__(self) -> None:
        if self.is_single:
            for name in ("local_types", "join_types"):
                types = {
                    key: to_single(node_type) for key, node_type in getattr(self, name).items()
                }
                object.__setattr__(self, name, types)

    def arithmetic(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that rounds to the width of weak floats."""
        return _with_rounding(compute) if self.is_single else compute

    def parameters(self, types: Iterable[ParameterType]) -> tuple[ParameterType, ...]:
        return tuple(map(to_single, types)) if self.is_single else tuple(types)


def to_single(parameter_type: ParameterType) -> ParameterType:
    """Return a type with float32 in place of weak floats."""
    if isinstance(parameter_type, Tuple):
        return Tuple(tuple(map(to_single, parameter_type.items)), parameter_type.names)
    if parameter_type == WEAK_FLOAT:
        return _WEAK_FLOAT32
    return _WEAK_COMPLEX64 if parameter_type == WEAK_COMPLEX else parameter_type


def _with_rounding(compute: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **keywords: Any) -> Any:
        if _is_weak_floating(arguments):
            arguments = tuple(_round(float(v) if isinstance(v, int) else v) for v in arguments)
        return _round(compute(*arguments, **keywords))

    return run


def _is_weak_floating(values: tuple[Any, ...]) -> bool:
    types = {type(value) for value in values}
    return types <= {bool, int, float, complex} and bool(types & {float, complex})


def _round(value: Any) -> Any:
    if type(value) is float:
        return convert(value, _WEAK_FLOAT32)
    if type(value) is complex:
        number: Any = value
        return convert(number, _WEAK_COMPLEX64)
    if type(value) is tuple:  # of divmod
        return tuple(map(_round, value))
    return value
