"""Trace operations on arrays into a graph, through numpy's array protocols.

An in-place operation replaces the node of a traced array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pycu2c.compat.cupy.fusion import graph
from pycu2c.compat.cupy.fusion.graph import REDUCTIONS, GraphConstant, Node, ViewNode
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ArgumentValueError


class UntraceableError(Exception):
    """The function reads an element, which a traced array does not have."""


def _reduction_method(function: Any) -> Callable[..., Any]:
    return lambda array, *args, **kwargs: _reduce(function, array, *args, **kwargs)


class TracedArray(NDArrayOperatorsMixin):
    """A traced array or number; a view refers to its base array."""

    def __init__(self, node: Node, base: TracedArray | None = None) -> None:
        self._node, self.base = node, base
        self._base_node: Node | None = base.node if base is not None else None

    @property
    def node(self) -> Node:
        """Return the current node; a view follows assignments to its base."""
        if self.base is not None and self._base_node is not self.base.node:
            assert isinstance(self._node, ViewNode)
            self._base_node = self.base.node
            self._node = graph.view_node(self._base_node, self._node.index)
        return self._node

    # ---- numpy's protocols ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if method != "__call__" or kwargs:
            unsupported = ", ".join(kwargs) if method == "__call__" else f".{method}"
            raise ArgumentTypeError(
                f"a fused function calls np.{ufunc.__name__} without {unsupported}"
            )
        arguments = tuple(map(_as_node, inputs))
        if ufunc is np.fmod and all(graph.dtype_of(a) == np.bool_ for a in arguments):
            arguments = tuple(graph.cast_node(a, np.dtype(np.int8)) for a in arguments)
        of_complex = _COMPLEX_UFUNCS.get(ufunc)
        if of_complex is not None and any(np.iscomplexobj(a.like) for a in arguments):
            nodes = of_complex(*map(TracedArray, arguments)).node
        else:
            nodes = graph.apply_ufunc(ufunc, arguments)
        if out is None:
            return _wrap(nodes)
        values = nodes if isinstance(nodes, tuple) else (nodes,)
        stored = tuple(_store(_as_traced(target), value) for target, value in zip(out, values))
        return stored if isinstance(nodes, tuple) else stored[0]

    def __array_function__(self, function: Any, _: Any, args: Any, kwargs: Any) -> Any:
        if function in REDUCTIONS:
            return _reduce(function, *args, **kwargs)
        if function in _REPLACEMENTS:
            return _REPLACEMENTS[function](*args, **kwargs)
        if function not in _ELEMENTWISE:
            raise ArgumentTypeError(
                f"a fused function cannot call np.{function.__name__}: it supports numpy's "
                "elementwise functions, and sum, nansum, prod, nanprod, max, min, all and any"
            )
        if kwargs:
            raise ArgumentTypeError(
                f"a fused function calls np.{function.__name__} without {', '.join(kwargs)}"
            )
        return _apply(function, *args)

    # ---- attributes ----

    @property
    def shape(self) -> tuple[int, ...]:
        return self.node.shape

    @property
    def ndim(self) -> int:
        return len(self.node.shape)

    @property
    def size(self) -> int:
        return math.prod(self.node.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.result_type(self.node.like)

    @property
    def real(self) -> Any:
        return np.real(self)

    @property
    def imag(self) -> Any:
        return np.imag(self)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __iter__(self) -> Iterator[TracedArray]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> TracedArray:
        return TracedArray(graph.view_node(self.node, index), self)

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not ... and index != slice(None):
            raise ArgumentTypeError("a fused function assigns whole arrays: x[...] = y")
        self.assign(_as_node(value), "unsafe")

    def assign(self, value: Node, casting: Any) -> None:
        """Assign all elements."""
        node = self.node
        if self.base is not None:
            raise ArgumentTypeError(
                "a fused function changes whole arrays, not parts: pass the part as an argument"
            )
        if graph.broadcast_shape(value.shape, node.shape) != node.shape:
            raise ArgumentValueError(f"shape {value.shape} cannot be broadcast to {node.shape}")
        dtype, source = graph.dtype_of(node), graph.dtype_of(value)
        if dtype is not None and source is not None and not np.can_cast(source, dtype, casting):
            raise ArgumentTypeError(f"cannot cast {source} to {dtype} in place: write x = x + y")
        self._node = value if dtype is None else graph.cast_node(value, dtype, node)

    def __bool__(self) -> NoReturn:
        raise UntraceableError

    __int__ = __float__ = __complex__ = __index__ = __bool__

    # ---- methods ----

    if not TYPE_CHECKING:  # type checkers use the declared attributes

        def __getattr__(self, name: str) -> NoReturn:
            supported = (
                "operators, indices, astype, copy, clip, round, conj, real, imag and reductions"
            )
            hint = (
                ""
                if name.startswith("_")
                else f": it supports {supported}; use other attributes before the fused function"
            )
            raise AttributeError(f"an array of a fused function has no {name}{hint}", name=name)

    def copy(self) -> TracedArray:
        return TracedArray(self.node)

    def astype(self, dtype: Any, copy: bool = True) -> TracedArray:
        dtype = np.dtype(dtype)
        is_same = graph.dtype_of(self.node) == dtype
        return self if is_same and not copy else TracedArray(graph.cast_node(self.node, dtype))

    sum = _reduction_method(np.sum)
    prod = _reduction_method(np.prod)
    max = _reduction_method(np.max)
    min = _reduction_method(np.min)
    all = _reduction_method(np.all)
    any = _reduction_method(np.any)

    def conj(self) -> Any:
        return np.conjugate(self)

    def round(self, decimals: int = 0) -> Any:
        return _apply(np.round, self, decimals)

    def clip(self, minimum: Any, maximum: Any) -> Any:
        return _apply(np.clip, self, minimum, maximum)


# elementwise numpy functions that are no ufuncs
_ELEMENTWISE = frozenset(
    (np.where, np.clip, np.round, np.real, np.imag, np.sinc, np.i0, np.isclose)
)
# numpy functions that are replaced by other traced operations
_REPLACEMENTS: dict[Any, Any] = {
    np.around: np.round,
    np.fix: np.trunc,
    np.angle: lambda z: np.arctan2(np.imag(z), np.real(z)),
    np.nansum: lambda x, *args, **kwargs: np.sum(_without_nan(x, 0), *args, **kwargs),
    np.nanprod: lambda x, *args, **kwargs: np.prod(_without_nan(x, 1), *args, **kwargs),
    np.copy: lambda x: _as_traced(x).copy(),
    np.copyto: lambda dst, src, casting="same_kind", where=True: _copyto(dst, src, casting, where),
}


def _without_nan(x: Any, value: int) -> Any:
    """Replace each NaN by a value."""
    return np.where(np.isnan(x), value, x) if np.issubdtype(x.dtype, np.inexact) else x


# ---- functions of complex numbers ----


def _is_less(a: Any, b: Any) -> Any:
    """Compare as numpy: by the real parts, then by the imaginary parts; false for NaN."""
    is_less = (a.real < b.real) & (a.imag == a.imag) & (b.imag == b.imag)
    return is_less | ((a.real == b.real) & (a.imag < b.imag))


def _is_less_equal(a: Any, b: Any) -> Any:
    return _is_less(a, b) | (a == b)


def _expm1(z: Any) -> Any:
    """Compute ``exp(z) - 1`` as numpy, without cancellation near 0."""
    half = np.sin(z.imag / 2)
    real = np.expm1(z.real) * np.cos(z.imag) - 2 * half * half
    return real + np.exp(z.real) * np.sin(z.imag) * 1j


def _log1p(z: Any) -> Any:
    return np.log(np.hypot(z.real + 1, z.imag)) + np.arctan2(z.imag, z.real + 1) * 1j


# functions that kernels do not have for complex numbers; numpy returns the first NaN or number
_COMPLEX_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.exp2: lambda z: np.exp(z * math.log(2)),
    np.expm1: _expm1,
    np.log1p: _log1p,
    np.rint: lambda z: np.rint(z.real) + np.rint(z.imag) * 1j,
    np.sign: lambda z: np.where(z == 0, 0, z / np.abs(z)),
    np.less: _is_less,
    np.greater: lambda a, b: _is_less(b, a),
    np.less_equal: _is_less_equal,
    np.greater_equal: lambda a, b: _is_less_equal(b, a),
    np.maximum: lambda a, b: np.where(np.isnan(a) | _is_less_equal(b, a), a, b),
    np.minimum: lambda a, b: np.where(np.isnan(a) | _is_less_equal(a, b), a, b),
    np.fmax: lambda a, b: np.where(np.isnan(b) | _is_less_equal(b, a), a, b),
    np.fmin: lambda a, b: np.where(np.isnan(b) | _is_less_equal(a, b), a, b),
}


def _apply(function: Any, *args: Any) -> Any:
    return _wrap(graph.apply_ufunc(function, tuple(map(_as_node, args))))


def _as_node(value: Any) -> Node:
    if isinstance(value, TracedArray):
        return value.node
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return GraphConstant(value)
    raise ArgumentTypeError(
        f"a fused function computes with its arguments and numbers, not with {value!r}: "
        "pass it as an argument"
    )


def _as_traced(value: Any) -> TracedArray:
    if isinstance(value, TracedArray):
        return value
    raise ArgumentTypeError(f"a fused function stores results in its arguments, not in {value!r}")


def _store(target: TracedArray, value: Node) -> TracedArray:
    """Store a result in an array and return it; numbers are immutable, so return a new one."""
    if not isinstance(target.node.like, np.ndarray):
        return TracedArray(value)
    target.assign(value, "same_kind")
    return target


def _wrap(nodes: Any) -> Any:
    return tuple(map(TracedArray, nodes)) if isinstance(nodes, tuple) else TracedArray(nodes)


def _reduce(
    function: Any, value: Any, axis: Any = None, dtype: Any = None, out: Any = None, **kwargs: Any
) -> Any:
    reduction = REDUCTIONS[function]
    if function in (np.sum, np.prod):
        kwargs = {"dtype": dtype, "out": out, **kwargs}
    else:  # numpy's third parameter is out
        kwargs = {"out": dtype if out is None else out, **kwargs}
    options = {k: kwargs.pop(k, None) for k in ("dtype", "out", "keepdims")}
    unknown = [k for k, v in kwargs.items() if v is not np._NoValue]
    if unknown:
        raise ArgumentTypeError(
            f"a fused function calls np.{function.__name__} without {unknown[0]}"
        )
    keepdims = options["keepdims"] is True
    node = graph.reduce_node(reduction, _as_node(value), axis, options["dtype"], keepdims=keepdims)
    if options["out"] is None:
        return TracedArray(node)
    return _store(_as_traced(options["out"]), node)


def _copyto(dst: Any, src: Any, casting: str, where: Any) -> None:
    target, value = _as_traced(dst), _as_node(src)
    if where is not True:
        selected = graph.apply_ufunc(np.where, (_as_node(where), value, target.node))
        assert not isinstance(selected, tuple)
        value = graph.cast_node(selected, graph.dtype_of(value) or target.dtype)
    target.assign(value, casting)
