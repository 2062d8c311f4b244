"""An array that a fused function computes with: what is done with it is noted in a graph. Its
operators and functions are numpy's, by numpy's protocols; what changes an array in place gives it
another node."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pycu2c.compat.cupy.fusion import graph
from pycu2c.compat.cupy.fusion.graph import REDUCTIONS, Constant, Node, Viewed
from pycu2c.compat.cupy.parameter_declarations import WrongType, WrongValue


class Untraceable(Exception):
    """The function asks for an element, which there is not yet."""


class Traced(NDArrayOperatorsMixin):
    """An array, or a number, of a fused function. A view knows the array that it is of."""

    def __init__(self, node: Node, base: Traced | None = None) -> None:
        self._node, self.base = node, base
        self._of: Node | None = base.node if base is not None else None

    @property
    def node(self) -> Node:
        """What it is by now."""
        if self.base is not None and self._of is not self.base.node:
            assert isinstance(self._node, Viewed)
            self._of = self.base.node
            self._node = graph.viewed(self._of, self._node.index)
        return self._node

    # ---- numpy's protocols ----

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        out = named.pop("out", None)
        if method != "__call__" or named:
            shown = ", ".join(named) if method == "__call__" else f".{method}"
            raise WrongType(f"a fused function calls np.{ufunc.__name__} without {shown}")
        found = graph.applied(ufunc, tuple(map(_noded, inputs)))
        if out is None:
            return _wrapped(found)
        values = found if isinstance(found, tuple) else (found,)
        put = tuple(_put(_traced(target), value) for target, value in zip(out, values))
        return put if isinstance(found, tuple) else put[0]

    def __array_function__(self, function: Any, _: Any, given: Any, named: Any) -> Any:
        if function in REDUCTIONS:
            return _reduced(function, *given, **named)
        if function in _OTHERS:
            return _OTHERS[function](*given, **named)
        if function not in _OF_ELEMENTS:
            raise WrongType(
                f"a fused function cannot call np.{function.__name__}: it has numpy's functions of "
                "elements, and sum, prod, max, min, all and any"
            )
        if named:
            raise WrongType(
                f"a fused function calls np.{function.__name__} without {', '.join(named)}"
            )
        return _of_elements(function, *given)

    # ---- what arrays are asked ----

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

    def __iter__(self) -> Iterator[Traced]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, index: Any) -> Traced:
        return Traced(graph.viewed(self.node, index), self)

    def __setitem__(self, index: Any, value: Any) -> None:
        if index is not ... and index != slice(None):
            raise WrongType("a fused function assigns whole arrays: x[...] = y")
        self.assign(_noded(value), "unsafe")

    def assign(self, value: Node, casting: Any) -> None:
        """Let all elements be others."""
        own = self.node
        if self.base is not None:
            raise WrongType("a fused function changes whole arrays, not parts: pass the part")
        if np.broadcast_shapes(value.shape, own.shape) != own.shape:
            raise WrongValue(f"what has shape {value.shape} does not fit into {own.shape}")
        dtype, given = graph.dtype_of(own), graph.dtype_of(value)
        if dtype is not None and given is not None and not np.can_cast(given, dtype, casting):
            raise WrongType(f"{given} does not become {dtype} in place: write x = x + y")
        self._node = value if dtype is None else graph.cast(value, dtype, own)

    def __bool__(self) -> NoReturn:
        raise Untraceable

    __int__ = __float__ = __complex__ = __index__ = __bool__

    # ---- methods ----

    if not TYPE_CHECKING:  # checkers know the names that there are

        def __getattr__(self, name: str) -> NoReturn:
            has = "operators, indices, astype, copy, clip, round, conj, real, imag and reductions"
            hint = "" if name.startswith("_") else f": it has {has}; do others before the call"
            raise AttributeError(f"an array of a fused function has no {name}{hint}", name=name)

    def copy(self) -> Traced:
        return Traced(self.node)

    def astype(self, dtype: Any, copy: bool = True) -> Traced:
        wanted = np.dtype(dtype)
        is_same = graph.dtype_of(self.node) == wanted
        return self if is_same and not copy else Traced(graph.cast(self.node, wanted))

    def sum(self, *given: Any, **named: Any) -> Any:
        return _reduced(np.sum, self, *given, **named)

    def prod(self, *given: Any, **named: Any) -> Any:
        return _reduced(np.prod, self, *given, **named)

    def max(self, *given: Any, **named: Any) -> Any:
        return _reduced(np.max, self, *given, **named)

    def min(self, *given: Any, **named: Any) -> Any:
        return _reduced(np.min, self, *given, **named)

    def all(self, *given: Any, **named: Any) -> Any:
        return _reduced(np.all, self, *given, **named)

    def any(self, *given: Any, **named: Any) -> Any:
        return _reduced(np.any, self, *given, **named)

    def conj(self) -> Any:
        return np.conjugate(self)

    def round(self, decimals: int = 0) -> Any:
        return _of_elements(np.round, self, decimals)

    def clip(self, least: Any, most: Any) -> Any:
        return _of_elements(np.clip, self, least, most)


# numpy's functions of elements that are no ufuncs, and those of them that are others
_OF_ELEMENTS = frozenset((np.where, np.clip, np.round, np.real, np.imag, np.sinc, np.isclose))
_OTHERS: dict[Any, Any] = {
    np.around: np.round,
    np.fix: np.trunc,
    np.angle: lambda z: np.arctan2(np.imag(z), np.real(z)),
    np.copy: lambda x: _traced(x).copy(),
    np.copyto: lambda dst, src, casting="same_kind", where=True: _copied(dst, src, casting, where),
}


def _of_elements(function: Any, *given: Any) -> Any:
    return _wrapped(graph.applied(function, tuple(map(_noded, given))))


def _noded(value: Any) -> Node:
    if isinstance(value, Traced):
        return value.node
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Constant(value)
    raise WrongType(
        f"a fused function computes with its arguments and numbers, not with {value!r}: "
        "pass it as an argument"
    )


def _traced(value: Any) -> Traced:
    if isinstance(value, Traced):
        return value
    raise WrongType(f"a fused function puts results into its arguments, not into {value!r}")


def _put(target: Traced, value: Node) -> Traced:
    """A result in an array; numbers do not change, there it is another one."""
    if not isinstance(target.node.like, np.ndarray):
        return Traced(value)
    target.assign(value, "same_kind")
    return target


def _wrapped(found: Any) -> Any:
    return tuple(map(Traced, found)) if isinstance(found, tuple) else Traced(found)


def _reduced(
    function: Any, value: Any, axis: Any = None, dtype: Any = None, out: Any = None, **named: Any
) -> Any:
    rule = REDUCTIONS[function]
    if function in (np.sum, np.prod):
        named = {"dtype": dtype, "out": out, **named}
    else:  # which take no dtype
        named = {"out": dtype if out is None else out, **named}
    known = {k: named.pop(k, None) for k in ("dtype", "out", "keepdims")}
    unknown = [k for k, v in named.items() if v is not np._NoValue]
    if unknown:
        raise WrongType(f"a fused function calls np.{function.__name__} without {unknown[0]}")
    keepdims = known["keepdims"] is True
    found = graph.reduced(rule, _noded(value), axis, known["dtype"], keepdims=keepdims)
    if known["out"] is None:
        return Traced(found)
    return _put(_traced(known["out"]), found)


def _copied(dst: Any, src: Any, casting: str, where: Any) -> None:
    target, value = _traced(dst), _noded(src)
    if where is not True:
        kept = graph.applied(np.where, (_noded(where), value, target.node))
        assert not isinstance(kept, tuple)
        value = graph.cast(kept, graph.dtype_of(value) or target.dtype)
    target.assign(value, casting)
