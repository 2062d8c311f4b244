"""The reference interpreter: runs a kernel as Python with numpy's scalars, thread by thread.

It is the oracle that every target is compared with, so it shares nothing with their passes:
operators and intrinsics are the ``reference`` of their rows, control flow is Python's own.
Threads are generators; a block's threads take turns from barrier to barrier.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pycu2c.intrinsics import memory
from pycu2c.intrinsics.dtype_names import scalar_named
from pycu2c.intrinsics.machine import MACHINE, Dim3, Thread
from pycu2c.runtime import reference_calls as calls
from pycu2c.runtime.reference_floats import Inferred
from pycu2c.runtime.reference_rewrite import globals_of, place, rewritten
from pycu2c.runtime.reference_variants import chosen_by_arguments
from pycu2c.source import Source
from pycu2c.types import Array, ParameterType, Scalar, Tuple
from pycu2c.values import convert

Extent = int | Sequence[int]


@dataclass(slots=True)
class _Block:
    """A running block's shared memory: an array for each place in the program that makes one."""

    dynamic: np.ndarray[Any, np.dtype[np.uint8]]
    shared: dict[object, Any] = field(default_factory=dict)


class ReferenceKernel:
    """A kernel for one combination of argument types.

    ``inferred`` has the type of the variable that an ``ast.Name`` (or a parameter's
    ``ast.arg``) assigns, and of an ``ast.IfExp``, ``ast.BoolOp`` or ``ast.Return``, by the
    node's id. What it leaves out keeps the type it has.
    ``device_lookup`` gives the source of a device function, None for other objects.
    """

    def __init__(
        self,
        source: Source,
        inferred: Inferred,
        parameter_types: Sequence[ParameterType],
        device_lookup: Callable[[object], Source | None],
    ) -> None:
        self._inferred = inferred
        self._parameter_types = inferred.parameters(parameter_types)
        self._device_lookup = device_lookup
        self._devices: dict[int, tuple[Callable[..., Any], bool]] = {}
        self._waiting: dict[Source, bool] = {}
        self._block: _Block | None = None
        self._own = source.tree.args
        self._run: Callable[..., calls.Steps] = self._rewritten(source, True)

    def launch(
        self, grid: Extent, block: Extent, shared_bytes: int, arguments: Sequence[Any]
    ) -> None:
        """Run every thread of every block, in order. Arrays are changed in place.

        Raises IndexError, with file and line, for an index outside of its array.
        """
        values = [_argument(v, t) for v, t in zip(arguments, self._parameter_types, strict=True)]
        by_name = _by_name(self._own, values)
        run = functools.partial(self._run, *_positional(self._own, values), **by_name)
        extents = _dim3(grid), _dim3(block)
        try:
            for position in _positions(extents[0]):
                self._block = _Block(np.full(shared_bytes, memory.POISON, np.uint8))
                self._run_block(position, extents, run)
        finally:
            self._block = MACHINE.thread = None

    def _run_block(
        self, position: Dim3, extents: tuple[Dim3, Dim3], run: Callable[[], calls.Steps]
    ) -> None:
        """Each thread to its next barrier, in turns, until all have ended."""
        grid, block = extents
        running = [(Thread(index, position, block, grid), run()) for index in _positions(block)]
        while running:
            running = [(thread, steps) for thread, steps in running if _advance(thread, steps)]

    # ---- what a kernel calls ----

    def _rewritten(self, source: Source, waits: bool) -> Callable[..., Any]:
        return rewritten(source, self._inferred, self._callee, waits)

    def _callee(
        self, value: object, node: ast.Call, source: Source
    ) -> tuple[Callable[..., Any], bool]:
        if value is memory.shared_array:
            return self._shared_array(node), False
        if value is memory.local_array:
            return _local_array, False
        where = place(source, node)
        known = calls.operation(value, where)
        if known is not None:
            waits = calls.meets_others(value)
            return known if waits else self._inferred.arithmetic(known), waits
        return self._device(value) or (calls.not_known(value, where), False)

    def _device(self, value: object) -> tuple[Callable[..., Any], bool] | None:
        """A device function, and whether it may wait for other threads."""
        if id(value) in self._devices:
            return self._devices[id(value)]
        source = self._device_lookup(value)
        if source is None:
            return None
        waits = self._waits(source)

        def later(*given: Any, **named: Any) -> Any:  # while its own text is rewritten
            return self._devices[id(value)][0](*given, **named)

        self._devices[id(value)] = later, waits
        self._devices[id(value)] = self._of_variants(source, waits), waits
        return self._devices[id(value)]

    def _of_variants(self, source: Source, waits: bool) -> Callable[..., Any]:
        """A device function with the types that its arguments ask for."""
        found = self._inferred.variants.get(source, {})
        functions = {k: rewritten(source, i, self._callee, waits) for k, i in found.items()}
        if len(functions) == 1:
            return functions.popitem()[1]
        plain = replace(self._inferred, tree=None)  # that is the kernel's
        otherwise = rewritten(source, plain, self._callee, waits)
        return chosen_by_arguments(source, functions, otherwise) if functions else otherwise

    def _waits(self, source: Source) -> bool:
        """Whether a function's text, or that of one that it calls, has a barrier."""
        if source not in self._waiting:
            self._waiting[source] = False  # for one that calls itself
            free = globals_of(source.python)
            self._waiting[source] = any(
                self._is_barrier(_named(node.func, free))
                for node in ast.walk(source.tree)
                if isinstance(node, ast.Call)
            )
        return self._waiting[source]

    def _is_barrier(self, value: object) -> bool:
        if calls.meets_others(value):
            return True
        source = self._device_lookup(value)
        return source is not None and self._waits(source)

    def _shared_array(self, node: ast.Call) -> Callable[[Any, Any], Any]:
        def shared_array(shape: Any, dtype: Any) -> Any:
            assert self._block is not None
            element = _dtype(dtype)
            if shape == 0:
                whole = len(self._block.dynamic) // element.itemsize * element.itemsize
                return self._block.dynamic[:whole].view(element)
            site = (id(node), shape, element)
            if site not in self._block.shared:
                self._block.shared[site] = memory.shared_array.reference(shape, element)
            return self._block.shared[site]

        return shared_array


def _local_array(shape: Any, dtype: Any) -> Any:
    return memory.local_array.reference(shape, _dtype(dtype))


def _dtype(named: object) -> np.dtype[np.generic]:
    scalar = scalar_named(named)
    if scalar is None:
        raise calls.Outside(f"{named!r} names no dtype")
    return scalar.dtype.numpy


def _argument(value: Any, kind: ParameterType) -> Any:
    match kind:
        case Scalar():
            return convert(value, kind)
        case Array():
            return np.asarray(value)
        case Tuple(items, names):
            parts = [_argument(v, k) for v, k in zip(value, items)]
            return type(value)._make(parts) if names else tuple(parts)
        case _:
            return value


def _positional(own: ast.arguments, values: list[Any]) -> list[Any]:
    """Of a value for each parameter (the one that takes the rest comes last), those that a call
    gives by position."""
    rest = values[-1] if own.vararg else ()
    return [*values[: len(own.posonlyargs) + len(own.args)], *rest]


def _by_name(own: ast.arguments, values: list[Any]) -> dict[str, Any]:
    """Those that a call gives by name."""
    first = len(own.posonlyargs) + len(own.args)
    return {a.arg: value for a, value in zip(own.kwonlyargs, values[first:])}


def _named(node: ast.expr, free: Mapping[str, Any]) -> object:
    """The object that a dotted name means in a module."""
    if isinstance(node, ast.Name):
        return calls.static(free.get(node.id))
    if isinstance(node, ast.Attribute):
        return calls.static(getattr(_named(node.value, free), node.attr, None))
    return None


def _dim3(extent: Extent) -> Dim3:
    sizes = (extent,) if isinstance(extent, int) else tuple(extent)
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _positions(extent: Dim3) -> Iterator[Dim3]:
    """All places of a grid or block, x fastest."""
    width, height, depth = extent
    for z, y, x in itertools.product(range(depth), range(height), range(width)):
        yield x, y, z


def _advance(thread: Thread, steps: calls.Steps) -> bool:
    """Run a thread to its next barrier; False if it ended."""
    MACHINE.thread = thread
    try:
        next(steps)
    except (StopIteration, calls.ThreadEnds):
        return False
    return True
