"""Trace operations on arrays into a graph, through numpy's array protocols.

An in-place operation replaces the node of an array.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pycu2c.compat.cupy.fusion import graph
from pycu2c.compat.cupy.fusion.graph import REDUCTIONS, GraphConstant, Node, ViewNode
from pycu2c.compat.cupy.parameter_declarations import ArgumentTypeError, ArgumentValueError


class UntraceableError(Exception):
    """The function reads an element, which a traced array does not have."""


class TracedArray(NDArrayOperatorsMixin):
    """A traced array or number; a view refers to its base array."""

    def __init__(self, node: Node, base: TracedArray | None = None) -> None:
        self._node, self.base = node, base
        self._of: Node | None = base.node if base is not None else None

    @property
    def node(self) -> Node:
        """Return the current node."""
        if self.base is not None and self._of is not self.base.node:
            assert isinstance(self._node, ViewNode)
            self._of = self.base.node
            self._node = graph.view_node(self._of, self._node.index)
        return self._node

    # ---- numpy's protocols ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        out = named.pop("out", None)
        if method != "__call__" or named:
            shown = ", ".join(named) if method == "__call__" else f".{method}"
            raise ArgumentTypeError(f"a fused function calls np.{ufunc.__name__} without {shown}")
        found = graph.apply_ufunc(ufunc, tuple(map(_as_node, inputs)))
        if out is None:
            return _wrap(found)
        values = found if isinstance(found, tuple) else (found,)
        put = tuple(_store(_as_traced(target), value) for target, value in zip(out, values))
        return put if isinstance(found, tuple) else put[0]

    def __array_function__(self, function: Any, _: Any, given: Any, named: Any) -> Any:
        if function in REDUCTIONS:
            return _reduce(function, *given, **named)
        if function in _OTHERS:
            return _OTHERS[function](*given, **named)
        if function not in _OF_ELEMENTS:
            raise ArgumentTypeError(
                f"a fused function cannot call np.{function.__name__}: it has numpy's functions of "
                "elements, and sum, prod, max, min, all and any"
            )
        if named:
            raise ArgumentTypeError(
                f"a fused function calls np.{function.__name__} without {', '.join(named)}"
            )
        return _apply(function, *given)

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
        own = self.node
        if self.base is not None:
            raise ArgumentTypeError(
                "a fused function changes whole arrays, not parts: pass the part"
            )
        if np.broadcast_shapes(value.shape, own.shape) != own.shape:
            raise ArgumentValueError(f"what has shape {value.shape} does not fit into {own.shape}")
        dtype, given = graph.dtype_of(own), graph.dtype_of(value)
        if dtype is not None and given is not None and not np.can_cast(given, dtype, casting):
            raise ArgumentTypeError(f"{given} does not become {dtype} in place: write x = x + y")
        self._node = value if dtype is None else graph.cast_node(value, dtype, own)

    def __bool__(self) -> NoReturn:
        raise UntraceableError

    __int__ = __float__ = __complex__ = __index__ = __bool__

    # ---- methods ----

    if not TYPE_CHECKING:  # type checkers use the declared attributes

        def __getattr__(self, name: str) -> NoReturn:
            has = "operators, indices, astype, copy, clip, round, conj, real, imag and reductions"
            hint = "" if name.startswith("_") else f": it has {has}; do others before the call"
            raise AttributeError(f"an array of a fused function has no {name}{hint}", name=name)

    def copy(self) -> TracedArray:
        return TracedArray(self.node)

    def astype(self, dtype: Any, copy: bool = True) -> TracedArray:
        wanted = np.dtype(dtype)
        is_same = graph.dtype_of(self.node) == wanted
        return self if is_same and not copy else TracedArray(graph.cast_node(self.node, wanted))

    def sum(self, *given: Any, **named: Any) -> Any:
        return _reduce(np.sum, self, *given, **named)

    def prod(self, *given: Any, **named: Any) -> Any:
        return _reduce(np.prod, self, *given, **named)

    def max(self, *given: Any, **named: Any) -> Any:
        return _reduce(np.max, self, *given, **named)

    def min(self, *given: Any, **named: Any) -> Any:
        return _reduce(np.min, self, *given, **named)

    def all(self, *given: Any, **named: Any) -> Any:
        return _reduce(np.all, self, *given, **named)

    def any(self, *given: Any, **named: Any) -> Any:
        return _reduce(np.any, self, *given, **named)

    def conj(self) -> Any:
        return np.conjugate(self)

    def round(self, decimals: int = 0) -> Any:
        return _apply(np.round, self, decimals)

    def clip(self, least: Any, most: Any) -> Any:
        return _apply(np.clip, self, least, most)


# elementwise numpy functions that are no ufuncs, and their replacements
_OF_ELEMENTS = frozenset((np.where, np.clip, np.round, np.real, np.imag, np.sinc, np.isclose))
_OTHERS: dict[Any, Any] = {
    np.around: np.round,
    np.fix: np.trunc,
    np.angle: lambda z: np.arctan2(np.imag(z), np.real(z)),
    np.copy: lambda x: _as_traced(x).copy(),
    np.copyto: lambda dst, src, casting="same_kind", where=True: _copyto(dst, src, casting, where),
}


def _apply(function: Any, *given: Any) -> Any:
    return _wrap(graph.apply_ufunc(function, tuple(map(_as_node, given))))


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
    raise ArgumentTypeError(f"a fused function puts results into its arguments, not into {value!r}")


def _store(target: TracedArray, value: Node) -> TracedArray:
    """Store a result in an array; a number is replaced, because it is immutable."""
    if not isinstance(target.node.like, np.ndarray):
        return TracedArray(value)
    target.assign(value, "same_kind")
    return target


def _wrap(found: Any) -> Any:
    return tuple(map(TracedArray, found)) if isinstance(found, tuple) else TracedArray(found)


def _reduce(
    function: Any, value: Any, axis: Any = None, dtype: Any = None, out: Any = None, **named: Any
) -> Any:
    rule = REDUCTIONS[function]
    if function in (np.sum, np.prod):
        named = {"dtype": dtype, "out": out, **named}
    else:  # without a dtype parameter
        named = {"out": dtype if out is None else out, **named}
    known = {k: named.pop(k, None) for k in ("dtype", "out", "keepdims")}
    unknown = [k for k, v in named.items() if v is not np._NoValue]
    if unknown:
        raise ArgumentTypeError(
            f"a fused function calls np.{function.__name__} without {unknown[0]}"
        )
    keepdims = known["keepdims"] is True
    found = graph.reduce_node(rule, _as_node(value), axis, known["dtype"], keepdims=keepdims)
    if known["out"] is None:
        return TracedArray(found)
    return _store(_as_traced(known["out"]), found)


def _copyto(dst: Any, src: Any, casting: str, where: Any) -> None:
    target, value = _as_traced(dst), _as_node(src)
    if where is not True:
        kept = graph.apply_ufunc(np.where, (_as_node(where), value, target.node))
        assert not isinstance(kept, tuple)
        value = graph.cast_node(kept, graph.dtype_of(value) or target.dtype)
    target.assign(value, casting)
