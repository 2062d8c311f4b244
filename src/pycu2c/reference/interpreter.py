"""The reference interpreter: run a kernel in Python with NumPy scalars, thread by thread.

It is the oracle for all targets, so it shares no code with their passes. Operators and intrinsics
are evaluated by their declared ``reference``, control flow by Python. Threads are coroutines that
``reference.scheduler`` runs.
"""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import Array, ParameterType, Scalar, Tuple
from pycu2c.base.values import convert
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.frontend.scope.bindings import bindings
from pycu2c.ops.intrinsics.memory import allocation
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE, Dim3, Thread
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.reference import calls as calls
from pycu2c.reference import elements as elements
from pycu2c.reference.barriers import (
    accesses_shared_memory,
    may_synchronize,
    synchronize,
    synchronizing_intrinsic,
)
from pycu2c.reference.device_variants import dispatch_on_arguments
from pycu2c.reference.expressions import access_location
from pycu2c.reference.rewrite import (
    FunctionProperties,
    globals_of,
    location,
    may_busy_wait,
    rewrite,
)
from pycu2c.reference.scheduler import Coroutine, RunningBlock, RunningThread, run_blocks
from pycu2c.reference.weak_floats import ReferenceTypes

Extent = int | Sequence[int]


_DYNAMIC = "dynamic"  # the key of a block's dynamic shared memory


class ReferenceKernel:
    """A kernel for one combination of argument types.

    ``inferred`` has the types of nodes by their ``id``: of the variable that an ``ast.Name`` or
    ``ast.arg`` assigns, and of an ``ast.IfExp``, ``ast.BoolOp`` or ``ast.Return``. Other nodes keep
    the type of their value. ``device_lookup`` returns the source of a device function, None for
    other objects.
    """

    def __init__(
        self,
        source: Source,
        inferred: ReferenceTypes,
        parameter_types: Sequence[ParameterType],
        device_lookup: Callable[[object], Source | None],
        options: Options = DEFAULT_OPTIONS,
    ) -> None:
        self._inferred = inferred
        self._cluster = _dim3(options.cluster or 1)
        self._parameter_types = inferred.parameters(parameter_types)
        self._device_lookup = device_lookup
        self._devices: dict[int, tuple[Callable[..., Any], bool]] = {}
        self._waiting: dict[Source, bool] = {}
        self._acting: dict[Source, bool] = {}
        self._name = source.name
        self._functions = FunctionProperties(
            self._callee, self._acts, self._may_wait, options.checked
        )
        self._own = source.tree.args
        self._run: Callable[..., Coroutine] = self._rewritten(source, True)

    def launch(
        self, grid: Extent, block: Extent, shared_bytes: int, arguments: Sequence[Any]
    ) -> None:
        """Run all threads of all blocks in order; arrays are changed in place.

        Raises IndexError, with file and line, for an index outside its array.
        """
        values = [_argument(v, t) for v, t in zip(arguments, self._parameter_types, strict=True)]
        by_name = _by_name(self._own, values)
        run = functools.partial(self._run, *_positional(self._own, values), **by_name)
        extents = _dim3(grid), _dim3(block)
        clusters = (
            _link_cluster([_block(p, extents, shared_bytes, run) for p in positions], self._cluster)
            for positions in _clusters(extents[0], self._cluster)
        )
        blocks = itertools.chain.from_iterable(clusters)
        try:
            run_blocks(self._name, blocks, values)
        finally:
            REFERENCE_STATE.thread = None

    # ---- called functions ----

    def _rewritten(self, source: Source, waits: bool) -> Callable[..., Any]:
        return rewrite(source, self._inferred, self._functions, waits)

    def _callee(
        self, value: object, node: ast.Call, source: Source
    ) -> tuple[Callable[..., Any], bool]:
        if value is allocation.shared_array:
            return self._shared_array(node), False
        if value is allocation.local_array:
            return _local_array, False
        where = location(source, node)
        intrinsic = synchronizing_intrinsic(value)
        if intrinsic is not None:
            return synchronize(intrinsic, where), True
        known = calls.operation(value, access_location(source, node))
        if known is not None:
            return elements.lift_to_arrays(value, self._inferred.arithmetic(known)), False
        device = self._device(value)
        if device is None:
            return calls.unsupported_callee(value, where), False
        function, waits = device
        return (function, True) if waits else (elements.lift_to_arrays(value, function), False)

    def _device(self, value: object) -> tuple[Callable[..., Any], bool] | None:
        """Return a device function, and whether it may wait for other threads."""
        if id(value) in self._devices:
            return self._devices[id(value)]
        source = self._device_lookup(value)
        if source is None:
            return None
        if source.external_code is not None and not source.external_code.has_python_body:
            return calls.c_only(source.name), False
        waits = self._waits(source)

        def forward(*arguments: Any, **keywords: Any) -> Any:  # for recursive calls
            return self._devices[id(value)][0](*arguments, **keywords)

        self._devices[id(value)] = forward, waits
        self._devices[id(value)] = self._of_variants(source, waits), waits
        return self._devices[id(value)]

    def _of_variants(self, source: Source, waits: bool) -> Callable[..., Any]:
        """Return a device function that dispatches on the types of its arguments."""
        found = self._inferred.variants.get(source, {})
        functions = {k: rewrite(source, i, self._functions, waits) for k, i in found.items()}
        if len(functions) == 1:
            return functions.popitem()[1]
        untyped = replace(self._inferred, tree=None)  # the tree is the kernel's
        otherwise = rewrite(source, untyped, self._functions, waits)
        return dispatch_on_arguments(source, functions, otherwise) if functions else otherwise

    def _waits(self, source: Source) -> bool:
        """Return whether a function may wait for other threads, itself or in a called function."""
        if source not in self._waiting:
            self._waiting[source] = False  # for recursive functions
            free, own = globals_of(source.python), bindings(source.tree)
            self._waiting[source] = any(
                self._may_wait(_object_named(node, free))
                or self._loops_on_memory(node, free)
                or _calls_one_of(node, own)
                for node in ast.walk(source.tree)
            )
        return self._waiting[source]

    def _may_wait(self, value: object) -> bool:
        source = self._device_lookup(value)
        return may_synchronize(value) or (source is not None and self._waits(source))

    def _loops_on_memory(self, node: ast.AST, free: Mapping[str, Any]) -> bool:
        return may_busy_wait(node) and any(
            self._acts(_object_named(n, free)) for n in ast.walk(node)
        )

    def _acts(self, value: object) -> bool:
        """Return whether an object communicates between threads, itself or in a called function."""
        source = self._device_lookup(value)
        if source is None:
            return accesses_shared_memory(value)
        if source not in self._acting:
            self._acting[source] = False  # for recursive functions
            free = globals_of(source.python)
            nodes = ast.walk(source.tree)
            self._acting[source] = any(self._acts(_object_named(node, free)) for node in nodes)
        return self._acting[source]

    def _shared_array(self, node: ast.Call) -> Callable[[Any, Any], Any]:
        def shared_array(shape: Any, dtype: Any) -> Any:
            shared = REFERENCE_STATE.current().memory
            element = _dtype(dtype)
            if shape == 0:
                size = len(shared[_DYNAMIC]) // element.itemsize * element.itemsize
                return shared[_DYNAMIC][:size].view(element)
            site = (id(node), shape, element)
            if site not in shared:
                shared[site] = allocation.shared_array.reference(shape, element)
            return shared[site]

        return shared_array


def _local_array(shape: Any, dtype: Any) -> Any:
    return allocation.local_array.reference(shape, _dtype(dtype))


def _dtype(named: object) -> np.dtype[np.generic]:
    scalar = scalar_named(named)
    if scalar is None:
        raise elements.UnsupportedByReference(f"{named!r} names no dtype")
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
    """Return the positional arguments; the last value holds those of ``*args``."""
    rest = values[-1] if own.vararg else ()
    return [*values[: len(own.posonlyargs) + len(own.args)], *rest]


def _by_name(own: ast.arguments, values: list[Any]) -> dict[str, Any]:
    """Return the keyword arguments."""
    first = len(own.posonlyargs) + len(own.args)
    return {a.arg: value for a, value in zip(own.kwonlyargs, values[first:])}


def _object_named(node: ast.AST, free: Mapping[str, Any]) -> object:
    """Return the object that a dotted name refers to in a module."""
    if isinstance(node, ast.Name):
        return calls.canonical_object(free.get(node.id))
    if isinstance(node, ast.Attribute):
        return calls.canonical_object(getattr(_object_named(node.value, free), node.attr, None))
    return None


def _calls_one_of(node: ast.AST, variables: Container[str]) -> bool:
    """Return whether a function in a variable, or a method of one, is called; it may wait."""
    target = node.func if isinstance(node, ast.Call) else None
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name) and target.id in variables


def _dim3(extent: Extent) -> Dim3:
    sizes = (extent,) if isinstance(extent, int) else tuple(extent)
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _positions(extent: Dim3) -> Iterator[Dim3]:
    """Yield all indices of a grid or block, x fastest."""
    width, height, depth = extent
    for z, y, x in itertools.product(range(depth), range(height), range(width)):
        yield x, y, z


def _clusters(grid: Dim3, size: Dim3) -> Iterator[list[Dim3]]:
    """Yield the indices of the blocks of each cluster; without clusters, of one block."""
    width, height, depth = (-(-blocks // extent) for blocks, extent in zip(grid, size))
    for x, y, z in _positions((width, height, depth)):
        first = x * size[0], y * size[1], z * size[2]
        indices = [(first[0] + i, first[1] + j, first[2] + k) for i, j, k in _positions(size)]
        yield [p for p in indices if all(i < blocks for i, blocks in zip(p, grid))]


def _link_cluster(blocks: list[RunningBlock], size: Dim3) -> list[RunningBlock]:
    """Make the blocks of a cluster accessible to each other."""
    for block in blocks:
        block.cluster = blocks
        for running in block.live:
            running.thread.clusterDim, running.thread.cluster = size, blocks
    return blocks


def _block(
    position: Dim3, extents: tuple[Dim3, Dim3], shared_bytes: int, run: Callable[[], Coroutine]
) -> RunningBlock:
    """Create a block with its threads and its static and dynamic shared memory."""
    grid, block = extents
    shared = {_DYNAMIC: np.full(shared_bytes, allocation.POISON, np.uint8)}
    threads = [
        RunningThread(Thread(index, position, block, grid, memory=shared), run())
        for index in _positions(block)
    ]
    return RunningBlock(position, threads, shared)
