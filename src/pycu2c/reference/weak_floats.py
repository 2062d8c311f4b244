"""Python floats in float32, for the reference interpreter: ``@kernel(weak_float="float32")``.

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

TypesByNode: TypeAlias = Mapping[int, ParameterType]
RuntimeKinds: TypeAlias = tuple[object, ...]

_SINGLE = Scalar(dtypes.FLOAT32, weak=True)
_SINGLE_COMPLEX = Scalar(dtypes.COMPLEX64, weak=True)


@dataclass(frozen=True, slots=True)
class ReferenceTypes:
    """Inferred types by the ``id`` of syntax nodes; ``variants`` are those of device functions."""

    local_types: TypesByNode
    join_types: TypesByNode
    single: bool = False  # weak floats are float32
    variants: Mapping[Source, Mapping[RuntimeKinds, ReferenceTypes]] = field(default_factory=dict)
    tree: ast.FunctionDef | None = None  # the function with unrolled loops over tuples

    def __post_init__(self) -> None:
        if self.single:
            for name in ("local_types", "join_types"):
                types = {key: single(kind) for key, kind in getattr(self, name).items()}
                object.__setattr__(self, name, types)

    def arithmetic(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that rounds to the width of weak floats."""
        return _rounding(compute) if self.single else compute

    def parameters(self, kinds: Iterable[ParameterType]) -> tuple[ParameterType, ...]:
        return tuple(map(single, kinds)) if self.single else tuple(kinds)


def single(kind: ParameterType) -> ParameterType:
    """Return a type with float32 in place of weak floats."""
    if isinstance(kind, Tuple):
        return Tuple(tuple(map(single, kind.items)), kind.names)
    if kind == WEAK_FLOAT:
        return _SINGLE
    return _SINGLE_COMPLEX if kind == WEAK_COMPLEX else kind


def _rounding(compute: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arguments: Any, **keywords: Any) -> Any:
        if _is_weak_floating(arguments):
            arguments = tuple(_rounded(float(v) if isinstance(v, int) else v) for v in arguments)
        return _rounded(compute(*arguments, **keywords))

    return run


def _is_weak_floating(values: tuple[Any, ...]) -> bool:
    kinds = {type(value) for value in values}
    return kinds <= {bool, int, float, complex} and bool(kinds & {float, complex})


def _rounded(value: Any) -> Any:
    if type(value) is float:
        return convert(value, _SINGLE)
    if type(value) is complex:
        number: Any = value
        return convert(number, _SINGLE_COMPLEX)
    if type(value) is tuple:  # of divmod
        return tuple(map(_rounded, value))
    return value
