"""Represent a traced function as a graph of nodes with numpy shapes and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, assert_never

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ArgumentValueError
from pycu2c.runtime.arguments.strides import Shape


@dataclass(frozen=True, slots=True, eq=False)
class GraphInput:
    """An argument of the function.

    ``like``, in all nodes, is a sample value of the type: an array of ones with the same number of
    axes, or a number.
    """

    position: int
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class GraphConstant:
    """A constant in the function."""

    like: Any
    shape: Shape = ()


@dataclass(frozen=True, slots=True, eq=False)
class UfuncNode:
    """An elementwise numpy function; ``result_index`` selects one of several results."""

    function: str
    arguments: tuple[Node, ...]
    result_index: int | None
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class CastNode:
    """A conversion to a dtype; the value is broadcast to the shape of ``shape_node``."""

    value: Node
    shape_node: Node
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class ReduceNode:
    """A reduction along axes."""

    reduction: Reduction
    value: Node
    axes: tuple[int, ...]
    keepdims: bool
    shape: Shape
    like: Any


@dataclass(frozen=True, slots=True, eq=False)
class ViewNode:
    """A view: an index of integers, slices, None and ``...``."""

    value: Node
    index: Any
    shape: Shape
    like: Any


Node: TypeAlias = "GraphInput | GraphConstant | UfuncNode | CastNode | ReduceNode | ViewNode"


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A reduction: its binary operation ``combine``, and its identity in C; None if it has none.

    ``to_bool``: whether values are converted to bool.
    """

    numpy_function: Callable[..., Any]
    combine: Callable[[Any, Any], Any] | str  # a function, or an expression in C
    identity: str | None
    to_bool: bool = False


_SUM = Reduction(np.sum, lambda a, b: a + b, "0")
_PRODUCT = Reduction(np.prod, lambda a, b: a * b, "1")
_MAX = Reduction(np.max, lambda a, b: np.maximum(a, b), None)
_MIN = Reduction(np.min, lambda a, b: np.minimum(a, b), None)
_OF_COMPLEX = {  # with the functions of complex.h
    _MAX: Reduction(np.max, "max(a, b)", None),
    _MIN: Reduction(np.min, "min(a, b)", None),
}
REDUCTIONS: dict[Any, Reduction] = {
    np.sum: _SUM,
    np.prod: _PRODUCT,
    np.max: _MAX,
    np.amax: _MAX,
    np.min: _MIN,
    np.amin: _MIN,
    np.all: Reduction(np.all, "a && b", "true", to_bool=True),
    np.any: Reduction(np.any, "a || b", "false", to_bool=True),
}


def dtype_of(node: Node) -> np.dtype[Any] | None:
    """Return the dtype of a node; None for a Python number, which has a weak type."""
    return getattr(node.like, "dtype", None)


def is_number(node: Node) -> bool:
    """Return whether the value of a node is a number that depends on no array."""
    match node:
        case GraphInput() | GraphConstant():
            return not isinstance(node.like, np.ndarray)
        case UfuncNode():
            return all(map(is_number, node.arguments))
        case CastNode():
            return is_number(node.value) and is_number(node.shape_node)
        case ReduceNode() | ViewNode():
            return False
        case _:
            assert_never(node)


def sample_array(shape: Shape, dtype: Any) -> Any:
    """Return an array of ones with all axes of length 1."""
    return np.ones((1,) * len(shape), dtype)


def broadcast_shape(*shapes: Shape) -> Shape:
    """Return the broadcast shape. Raises ArgumentValueError with NumPy's message."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        text = " ".join(map(str, shapes))
        raise ArgumentValueError(
            f"operands could not be broadcast together with shapes {text}"
        ) from None


def apply_ufunc(
    function: Callable[..., Any], arguments: tuple[Node, ...]
) -> Node | tuple[Node, ...]:
    """Return a node that applies a numpy function; a tuple if it has several results."""
    shape = broadcast_shape(*(a.shape for a in arguments))
    with np.errstate(all="ignore"):
        like = function(*(a.like for a in arguments))
    if all(dtype_of(a) is None for a in arguments):  # Python numbers stay weak
        like = tuple(map(_as_weak, like)) if isinstance(like, tuple) else _as_weak(like)
    name = function.__name__
    if isinstance(like, tuple):
        return tuple(UfuncNode(name, arguments, k, shape, r) for k, r in enumerate(like))
    return UfuncNode(name, arguments, None, shape, like)


def _as_weak(number: Any) -> bool | int | float | complex:
    """Return a number of numpy or of Python as a Python number."""
    weak: bool | int | float | complex = np.asarray(number).item()
    return weak


def cast_node(value: Node, dtype: Any, shape_node: Node | None = None) -> Node:
    """Return a conversion of a node to a dtype, broadcast to the shape of another node."""
    shape = value.shape if shape_node is None else shape_node.shape
    if dtype_of(value) == dtype and value.shape == shape:
        return value
    return CastNode(value, shape_node or value, shape, sample_array(shape, dtype))


def reduce_node(
    reduction: Reduction, value: Node, axis: Any, dtype: Any, *, keepdims: bool
) -> Node:
    """Return the reduction of a node along axes; ``dtype`` is the type of the result."""
    axis = tuple(range(len(value.shape))) if axis is None else axis
    axes = np.lib.array_utils.normalize_axis_tuple(axis, len(value.shape), "axis")
    if reduction.to_bool:
        value = cast_node(value, np.dtype(bool))
    elif dtype is not None:
        value = cast_node(value, np.dtype(dtype))
    if np.iscomplexobj(value.like):
        reduction = _OF_COMPLEX.get(reduction, reduction)
    like = reduction.numpy_function(value.like) if dtype is None else value.like
    shape = tuple(
        1 if k in axes else n for k, n in enumerate(value.shape) if keepdims or k not in axes
    )
    sample = sample_array(shape, like.dtype)
    return ReduceNode(reduction, value, axes, keepdims, shape, sample if shape else sample[()])


def view_node(value: Node, index: Any) -> Node:
    """Return the view of an array at an index. Raises IndexError, ArgumentTypeError."""
    for part in index if isinstance(index, tuple) else (index,):
        if not (part is None or part is ... or isinstance(part, (int, np.integer, slice))):
            raise ArgumentTypeError(
                f"a fused function indexes arrays by integers, slices, None and ..., not {part!r}"
            )
    view = np.broadcast_to(np.int8(0), value.shape)[index]
    like = sample_array(view.shape, dtype_of(value))
    return ViewNode(value, index, view.shape, like if isinstance(view, np.ndarray) else like[()])
