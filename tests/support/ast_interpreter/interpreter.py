"""The oracle: run the syntax tree of a kernel in Python with NumPy scalars, thread by thread.

It shares no pass with the compiler. Operators and intrinsics are evaluated by their declared
``reference``, control flow by Python. The scheduler of the package runs the threads.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import Array, ParameterType, Scalar, Tuple
from pycu2c.base.values import convert
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.frontend.scope.bindings import bindings
from pycu2c.interpreter.interpreter import Extent, GridLaunch, dim3
from pycu2c.interpreter.memory import DYNAMIC_SHARED
from pycu2c.interpreter.scheduler import Coroutine
from pycu2c.ops.intrinsics.memory import allocation
from pycu2c.ops.intrinsics.reference_thread import REFERENCE_STATE
from pycu2c.ops.names.dtype_names import scalar_named
from support.ast_interpreter import calls as calls
from support.ast_interpreter import elements as elements
from support.ast_interpreter.barriers import (
    accesses_shared_memory,
    may_synchronize,
    synchronize,
    synchronizing_intrinsic,
)
from support.ast_interpreter.device_variants import dispatch_on_arguments
from support.ast_interpreter.expressions import access_location
from support.ast_interpreter.rewrite import (
    FunctionProperties,
    globals_of,
    location,
    may_busy_wait,
    rewrite,
)
from support.ast_interpreter.weak_floats import ReferenceTypes


class ReferenceKernel:
    """A kernel for one combination of argument types.

    ``inferred`` has the types of nodes: of the variable that an ``ast.Name`` or ``ast.arg``
    assigns, and of an ``ast.IfExp``, ``ast.BoolOp``, ``ast.Return`` or ``ast.Subscript``. Other
    nodes keep the type of their value. ``device_lookup`` returns the source of a device function,
    None for other objects.
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
        self._cluster = options.cluster or 1
        self._parameter_types = inferred.parameters(parameter_types)
        self._device_lookup = device_lookup
        self._devices: dict[int, tuple[Callable[..., Any], bool]] = {}
        self._may_wait_by_source: dict[Source, bool] = {}
        self._communicates_by_source: dict[Source, bool] = {}
        self._name = source.name
        self._functions = FunctionProperties(
            self._callee, self._communicates, self._object_may_wait, bool(options.check)
        )
        self._signature = source.tree.args
        self._run: Callable[..., Coroutine] = self._rewrite(source, True)

    def launch(
        self, grid: Extent, block: Extent, shared_bytes: int, arguments: Sequence[Any]
    ) -> None:
        """Run all threads of all blocks in order; arrays are changed in place.

        Raises IndexError, with file and line, for an index outside its array.
        """
        values = [
            _convert_argument(v, t) for v, t in zip(arguments, self._parameter_types, strict=True)
        ]
        keywords = _keyword_arguments(self._signature, values)
        positional = _positional_arguments(self._signature, values)

        def thread() -> Coroutine:
            with suppress(elements.ThreadEnds):
                yield from self._run(*positional, **keywords)

        extents = map(dim3, (grid, block, self._cluster))
        GridLaunch(self._name, *extents, shared_bytes).run(thread, values)

    # ---- called functions ----

    def _rewrite(self, source: Source, may_wait: bool) -> Callable[..., Any]:
        return rewrite(source, self._inferred, self._functions, may_wait)

    def _callee(
        self, value: object, node: ast.Call, source: Source
    ) -> tuple[Callable[..., Any], bool]:
        if value is allocation.shared_array:
            return self._shared_array(node), False
        if value is allocation.local_array:
            return _local_array, False
        call_location = location(source, node)
        intrinsic = synchronizing_intrinsic(value)
        if intrinsic is not None:
            return synchronize(intrinsic, call_location), True
        operation = calls.operation(value, access_location(source, node))
        if operation is not None:
            return elements.lift_to_arrays(value, self._inferred.arithmetic(operation)), False
        device = self._device_function(value)
        if device is None:
            return calls.unsupported_callee(value, call_location), False
        function, may_wait = device
        return (function, True) if may_wait else (elements.lift_to_arrays(value, function), False)

    def _device_function(self, value: object) -> tuple[Callable[..., Any], bool] | None:
        """Return a device function, and whether it may wait for other threads."""
        if id(value) in self._devices:
            return self._devices[id(value)]
        source = self._device_lookup(value)
        if source is None:
            return None
        if source.external_code is not None and not source.external_code.has_python_body:
            return calls.unsupported_c_function(source.name), False
        may_wait = self._function_may_wait(source)

        def forward(*arguments: Any, **keywords: Any) -> Any:  # for recursive calls
            return self._devices[id(value)][0](*arguments, **keywords)

        self._devices[id(value)] = forward, may_wait
        self._devices[id(value)] = self._dispatching_function(source, may_wait), may_wait
        return self._devices[id(value)]

    def _dispatching_function(self, source: Source, may_wait: bool) -> Callable[..., Any]:
        """Return a device function that dispatches on the types of its arguments."""
        variants = self._inferred.variants.get(source, {})
        functions = {
            kinds: rewrite(source, types, self._functions, may_wait)
            for kinds, types in variants.items()
        }
        if len(functions) == 1:
            return functions.popitem()[1]
        # the tree belongs to the kernel, not to this function
        default_types = replace(self._inferred, tree=None)
        default = rewrite(source, default_types, self._functions, may_wait)
        return dispatch_on_arguments(source, functions, default) if functions else default

    def _function_may_wait(self, source: Source) -> bool:
        """Return whether a function may wait for other threads, itself or in a called function."""
        if source not in self._may_wait_by_source:
            self._may_wait_by_source[source] = False  # for recursive functions
            free_objects, local_names = globals_of(source.python), bindings(source.tree)
            self._may_wait_by_source[source] = any(
                self._object_may_wait(_named_object(node, free_objects))
                or self._loops_on_memory(node, free_objects)
                or _calls_variable(node, local_names)
                for node in ast.walk(source.tree)
            )
        return self._may_wait_by_source[source]

    def _object_may_wait(self, value: object) -> bool:
        source = self._device_lookup(value)
        return may_synchronize(value) or (source is not None and self._function_may_wait(source))

    def _loops_on_memory(self, node: ast.AST, free_objects: Mapping[str, Any]) -> bool:
        """Return whether a node is a busy-wait loop on memory that threads share."""
        return may_busy_wait(node) and any(
            self._communicates(_named_object(n, free_objects)) for n in ast.walk(node)
        )

    def _communicates(self, value: object) -> bool:
        """Return whether an object communicates between threads, itself or in a called function."""
        source = self._device_lookup(value)
        if source is None:
            return accesses_shared_memory(value)
        if source not in self._communicates_by_source:
            self._communicates_by_source[source] = False  # for recursive functions
            free_objects = globals_of(source.python)
            nodes = ast.walk(source.tree)
            self._communicates_by_source[source] = any(
                self._communicates(_named_object(node, free_objects)) for node in nodes
            )
        return self._communicates_by_source[source]

    def _shared_array(self, node: ast.Call) -> Callable[[Any, Any], Any]:
        def shared_array(shape: Any, dtype: Any) -> Any:
            shared = REFERENCE_STATE.current().memory
            numpy_dtype = _dtype(dtype)
            if shape == 0:
                size = len(shared[DYNAMIC_SHARED]) // numpy_dtype.itemsize * numpy_dtype.itemsize
                return shared[DYNAMIC_SHARED][:size].view(numpy_dtype)
            site = (id(node), shape, numpy_dtype)
            if site not in shared:
                shared[site] = allocation.shared_array.reference(shape, numpy_dtype)
            return shared[site]

        return shared_array


def _local_array(shape: Any, dtype: Any) -> Any:
    return allocation.local_array.reference(shape, _dtype(dtype))


def _dtype(value: object) -> np.dtype[np.generic]:
    scalar = scalar_named(value)
    if scalar is None:
        raise elements.UnsupportedByReferenceError(f"{value!r} names no dtype")
    return scalar.dtype.numpy


def _convert_argument(value: Any, parameter_type: ParameterType) -> Any:
    match parameter_type:
        case Scalar():
            return convert(value, parameter_type)
        case Array():
            return np.asarray(value)
        case Tuple(items, names):
            converted = [_convert_argument(v, k) for v, k in zip(value, items)]
            return type(value)._make(converted) if names else tuple(converted)
        case _:
            return value


def _positional_arguments(signature: ast.arguments, values: list[Any]) -> list[Any]:
    """Return the positional arguments; the last value holds those of ``*args``."""
    variadic = values[-1] if signature.vararg else ()
    return [*values[: len(signature.posonlyargs) + len(signature.args)], *variadic]


def _keyword_arguments(signature: ast.arguments, values: list[Any]) -> dict[str, Any]:
    """Return the keyword arguments."""
    first = len(signature.posonlyargs) + len(signature.args)
    return {a.arg: value for a, value in zip(signature.kwonlyargs, values[first:])}


def _named_object(node: ast.AST, free_objects: Mapping[str, Any]) -> object:
    """Return the object that a dotted name refers to in a module."""
    if isinstance(node, ast.Name):
        return calls.canonical_object(free_objects.get(node.id))
    if isinstance(node, ast.Attribute):
        return calls.canonical_object(
            getattr(_named_object(node.value, free_objects), node.attr, None)
        )
    return None


def _calls_variable(node: ast.AST, variables: Container[str]) -> bool:
    """Return whether a function in a variable, or a method of one, is called; it may wait."""
    target = node.func if isinstance(node, ast.Call) else None
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name) and target.id in variables
