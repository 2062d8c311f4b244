"""What a fused function does with its arguments, as a graph: each node is an array or a number that
has a shape and a type, which are numpy's. Knows neither arrays nor kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, assert_never

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.parameter_declarations import WrongType
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """An argument as it was before the call. ``like``, here as in all nodes, is a value of its
    type: an array of ones with as many axes, or a number."""

    position: int
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class Constant:
    """A number that the function has by itself."""

    like: Any
    shape: Shape = ()


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A function of numpy's, of the elements; ``part``: which of several results."""

    function: str
    arguments: tuple[Node, ...]
    part: int | None
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class Cast:
    """A value as a dtype; ``filled``: what it is spread over the shape of."""

    value: Node
    filled: Node
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """What elements come to along axes."""

    rule: Reduction
    value: Node
    axes: tuple[int, ...]
    keepdims: bool
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class Viewed:
    """Elements of an array by an index of numpy's, of integers, slices, None and ``...``."""

    value: Node
    index: Any
    shape: Shape
    like: Any


Node: TypeAlias = "Given | Constant | Applied | Cast | Reduced | Viewed"


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """What brings values together: of two of them one; what there is of none; whether they are
    taken as truths."""

    numpys: Callable[..., Any]
    join: Callable[[Any, Any], Any] | str
    identity: str | None
    of_truths: bool = False


_SUM = Reduction(np.sum, lambda a, b: a + b, "0")
_PRODUCT = Reduction(np.prod, lambda a, b: a * b, "1")
_MOST = Reduction(np.max, lambda a, b: np.maximum(a, b), None)
_LEAST = Reduction(np.min, lambda a, b: np.minimum(a, b), None)
REDUCTIONS: dict[Any, Reduction] = {
    np.sum: _SUM,
    np.prod: _PRODUCT,
    np.max: _MOST,
    np.amax: _MOST,
    np.min: _LEAST,
    np.amin: _LEAST,
    np.all: Reduction(np.all, "a && b", "true", of_truths=True),
    np.any: Reduction(np.any, "a || b", "false", of_truths=True),
}


def dtype_of(node: Node) -> np.dtype[Any] | None:
    """None for a number of Python's, which takes the type of others."""
    return getattr(node.like, "dtype", None)


def is_number(node: Node) -> bool:
    """Whether no array has a part in it."""
    match node:
        case Given() | Constant():
            return not isinstance(node.like, np.ndarray)
        case Applied():
            return all(map(is_number, node.arguments))
        case Cast():
            return is_number(node.value) and is_number(node.filled)
        case Reduced() | Viewed():
            return False
        case _:
            assert_never(node)


def one_of(shape: Shape, dtype: Any) -> Any:
    """A value like an array."""
    return np.ones((1,) * len(shape), dtype)


def applied(function: Callable[..., Any], arguments: tuple[Node, ...]) -> Node | tuple[Node, ...]:
    """A function of numpy's of nodes; several nodes if it has several results."""
    shape = np.broadcast_shapes(*(a.shape for a in arguments))
    with np.errstate(all="ignore"):
        found = function(*(a.like for a in arguments))
    if all(dtype_of(a) is None for a in arguments):  # a number of Python's stays one
        found = tuple(r.item() for r in found) if isinstance(found, tuple) else found.item()
    name = function.__name__
    if isinstance(found, tuple):
        return tuple(Applied(name, arguments, k, shape, r) for k, r in enumerate(found))
    return Applied(name, arguments, None, shape, found)


def cast(value: Node, dtype: Any, filled: Node | None = None) -> Node:
    """A value as a dtype, spread over the shape of another node."""
    shape = value.shape if filled is None else filled.shape
    if dtype_of(value) == dtype and value.shape == shape:
        return value
    return Cast(value, filled or value, shape, one_of(shape, dtype))


def reduced(rule: Reduction, value: Node, axis: Any, dtype: Any, *, keepdims: bool) -> Node:
    """What a node comes to along axes."""
    along = tuple(range(len(value.shape))) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(along, len(value.shape), "axis")
    if rule.of_truths:
        value = cast(value, np.dtype(bool))
    elif dtype is not None:
        value = cast(value, np.dtype(dtype))
    like = rule.numpys(value.like) if dtype is None else value.like
    shape = tuple(
        1 if k in axes else n for k, n in enumerate(value.shape) if keepdims or k not in axes
    )
    whole = one_of(shape, like.dtype)
    return Reduced(rule, value, axes, keepdims, shape, whole if shape else whole[()])


def viewed(value: Node, index: Any) -> Node:
    """A part of an array. Raises IndexError, WrongType."""
    for part in index if isinstance(index, tuple) else (index,):
        if not (part is None or part is ... or isinstance(part, (int, np.integer, slice))):
            raise WrongType(
                f"a fused function indexes arrays by integers, slices, None and ..., not {part!r}"
            )
    found = np.broadcast_to(np.int8(0), value.shape)[index]
    like = one_of(found.shape, dtype_of(value))
    return Viewed(value, index, found.shape, like if isinstance(found, np.ndarray) else like[()])
