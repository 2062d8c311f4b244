"""Implement ``fuse``: run a function of arrays as few kernels.

The function is traced once for each combination of types and shapes. If it reads elements, which
traced arrays do not have, it is compiled as the operation of an elementwise kernel instead.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.cached_properties import cached_property
from pycu2c.base.dtypes import DType
from pycu2c.base.source import Source
from pycu2c.base.types import Scalar
from pycu2c.base.values import scalar_of
from pycu2c.compat.cupy import operands
from pycu2c.compat.cupy.elementwise.kernel import ElementwiseKernel
from pycu2c.compat.cupy.fusion import graph
from pycu2c.compat.cupy.fusion.graph import GraphInput, ReduceNode, ViewNode
from pycu2c.compat.cupy.fusion.schedule import FusionTarget, KernelCache, Scheduler, Step
from pycu2c.compat.cupy.fusion.tracer import TracedArray, UntraceableError
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import (
    ArgumentTypeError,
    ArgumentValueError,
    is_kernel_name,
)
from pycu2c.compat.cupy.python_functions import CValue, PythonFunction, device_function_source
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument

FusedFunction: TypeAlias = Callable[..., Any]  # for one combination of types and shapes
ResultBuilder: TypeAlias = Callable[[list[Any]], Any]
_MAX_CACHED = 256  # combinations per function
# parameters with these names are renamed, because kernels use the names
_NAMES_IN_KERNELS = frozenset("i n in out a b int float double short long char bool auto".split())  # noqa: SIM905


class Fusion:
    """A function of arrays and numbers, fused to few kernels per combination of types."""

    def __init__(self, function: Callable[..., Any], kernel_name: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = python_function(function)
        function_name = self._function.__name__
        self.name = kernel_name or ("fused" if function_name == "<lambda>" else function_name)
        if not is_kernel_name(self.name):
            raise ValueError(f"Invalid kernel name: {self.name!r} is not an identifier in C")
        self._fused: dict[tuple[object, ...], FusedFunction] = {}
        self._kernels: KernelCache = {}

    @cached_property
    def __pycu2c_device__(self) -> Source:
        """Return the source for kernels that call this function."""
        return device_function_source(self._function)

    def __repr__(self) -> str:
        return f"<fused {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
            bound.apply_defaults()
            args = bound.args
        if any(isinstance(a, TracedArray) for a in args):
            return self._function(*args)
        key = _key(args)
        fused = self._fused.get(key)
        if fused is None:
            if len(self._fused) >= _MAX_CACHED:
                self._fused.clear()
            fused = self._fused[key] = self._fuse(args)
        return fused(*args)

    def clear_cache(self) -> None:
        """Remove all compiled kernels."""
        self._fused.clear()
        self._kernels.clear()

    def _fuse(self, args: Sequence[Any]) -> FusedFunction:
        """Return the function for arguments of these types and shapes."""
        names = [f"{self.name}: argument {k}" for k in range(1, len(args) + 1)]
        call_operands = [None if a is None else operands.operand(a, n) for a, n in zip(args, names)]
        if not any(isinstance(a, ArrayArgument) for a in call_operands):
            return self._function
        traced: list[Any] = [_traced(k, a) for k, a in enumerate(call_operands)]
        for k, arg in enumerate(args):  # an array that is passed twice is traced once
            first = next(j for j, other in enumerate(args) if other is arg)
            traced[k] = traced[first]
        try:
            result = self._function(*traced)
        except UntraceableError:
            return self._fuse_by_elements(call_operands)
        return _FusedPlan(self, traced, result, names).run

    @property
    def _parameters(self) -> list[str]:
        code = self._function.__code__
        return list(code.co_varnames[: code.co_argcount])

    def scheduler(self, count: int) -> Scheduler:
        """Return the scheduler for a number of arguments."""
        names = [_parameter_name(n) for n in self._parameters]
        names += [f"x{k}" for k in range(len(names), count)]
        return Scheduler(self.name, names, self._kernels)

    # ---- elementwise functions ----

    def _fuse_by_elements(self, args: Sequence[Operand | None]) -> FusedFunction:
        """Return an elementwise kernel that calls the function for each element."""
        call_operands = [a for a in args if a is not None]
        if len(call_operands) < len(args):
            raise ArgumentTypeError(
                f"{self.name} reads elements of its arguments, so no argument may be None"
            )
        source = self.__pycu2c_device__
        _reject_in_place_changes(source)
        weak = frozenset(k for k, a in enumerate(call_operands) if _is_weak(a))
        function = PythonFunction(self._function, f"{self.name}_operation", source, weak)
        dtypes = [_dtype_of(a) for a in call_operands]
        names = map(_parameter_name, function.parameters)
        inputs = ", ".join(f"{dtype.name} {name}" for dtype, name in zip(dtypes, names))
        call = function.call_with([CValue(Scalar(dtype), lambda p: p.name) for dtype in dtypes])
        outputs = ", ".join(f"{dtype.name} out{k}" for k, dtype in enumerate(call.results))
        return ElementwiseKernel(inputs, outputs, function, self.name)


class _FusedPlan:
    """The steps of calls with one combination of types and shapes, and their results."""

    def __init__(
        self, fusion: Fusion, traced: Sequence[Any], result: Any, names: Sequence[str]
    ) -> None:
        self._names, self._function = names, fusion._function
        arguments = {id(t): k for k, t in reversed(list(enumerate(traced))) if t is not None}
        changed = [
            FusionTarget(t, t.node, k)
            for k, t in enumerate(traced)
            if isinstance(t, TracedArray) and arguments[id(t)] == k and _is_changed(t, k)
        ]
        self._written = [t.argument for t in changed if t.argument is not None]
        scheduler = fusion.scheduler(len(traced))
        new_arrays = {id(t): t for t in _new_arrays(result, arguments)}
        reduction_slots = {
            k: scheduler.slot(t.node)
            for k, t in new_arrays.items()
            if isinstance(t.node, ReduceNode)
        }
        targets = [
            FusionTarget(t, t.node, None) for k, t in new_arrays.items() if k not in reduction_slots
        ]
        slots = {**arguments, **reduction_slots, **scheduler.fill([*targets, *changed])}
        self._steps: list[Step] = scheduler.steps
        self._empty_slots = [None] * (scheduler.count - len(traced))
        self._result = _result_builder(result, slots)

    def run(self, *args: Any) -> Any:
        """Execute the steps for the arguments of a call, and return its result."""
        if self._written and self._have_overlap(args):
            return self._function(*args)
        arrays = [*args, *self._empty_slots]
        for step in self._steps:
            step(arrays)
        return self._result(arrays)

    def _have_overlap(self, args: Sequence[Any]) -> bool:
        """Return whether an argument that is written overlaps another one.

        Raises ArgumentValueError for device arrays, on which numpy cannot run the function.
        """
        call_operands = {
            k: a
            for k, value in enumerate(args)
            if value is not None
            and isinstance(a := operands.operand(value, self._names[k]), ArrayArgument)
        }
        for j, k in combinations(call_operands, 2):
            if (j not in self._written and k not in self._written) or args[j] is args[k]:
                continue
            (start_j, size_j), (start_k, size_k) = call_operands[j].region, call_operands[k].region
            if start_j < start_k + size_k and start_k < start_j + size_j:
                if isinstance(args[j], DeviceArray):
                    raise ArgumentValueError(
                        f"{self._names[j]} and {self._names[k]} share memory, and the function "
                        "changes it: pass a copy of one of them"
                    )
                return True
        return False


# ---- tracing -----------------------------------------------------------------------------------


def _key(args: Sequence[Any]) -> tuple[object, ...]:
    """Return the cache key of a call: types and shapes, and which arguments are the same object."""
    kinds = [(type(a), getattr(a, "dtype", None), getattr(a, "shape", None)) for a in args]
    ids = [id(a) for a in args]
    return (*kinds, *(ids.index(i) for i in ids)) if len(set(ids)) < len(ids) else (*kinds,)


def _traced(position: int, operand: Operand | None) -> TracedArray | None:
    if operand is None:
        return None
    if isinstance(operand, ArrayArgument):
        like = graph.sample_array(operand.shape, operand.dtype.numpy)
        return TracedArray(GraphInput(position, operand.shape, like))
    if isinstance(operand, HandleArgument):
        raise ArgumentTypeError(
            "fused functions take arrays and numbers: ElementwiseKernel takes textures"
        )
    return TracedArray(GraphInput(position, (), type(operand)(1)))


def _is_changed(argument: TracedArray, position: int) -> bool:
    return not (isinstance(argument.node, GraphInput) and argument.node.position == position)


def _new_arrays(result: Any, arguments: dict[int, int]) -> list[TracedArray]:
    """Return the new arrays in the result of a call."""
    if isinstance(result, tuple):
        return [t for item in result for t in _new_arrays(item, arguments)]
    if not isinstance(result, TracedArray):
        return []
    while result.base is not None:
        result = result.base
    return [] if id(result) in arguments else [result]


def _result_builder(result: Any, slots: dict[int, int]) -> ResultBuilder:
    """Return a function that builds the result of a call from the arrays in the slots."""
    if isinstance(result, tuple):
        items = [_result_builder(item, slots) for item in result]
        return lambda arrays: tuple(item(arrays) for item in items)
    if isinstance(result, TracedArray):
        return _array_getter(result, slots)
    if result is None or isinstance(result, (bool, int, float, complex, np.generic)):
        return lambda _: result
    raise ArgumentTypeError(
        f"a fused function returns arrays, numbers, tuples of them or None, not {result}"
    )


def _array_getter(traced: TracedArray, slots: dict[int, int]) -> ResultBuilder:
    if traced.base is None:
        slot = slots[id(traced)]
        return lambda arrays: arrays[slot]
    node, base = traced.node, _array_getter(traced.base, slots)
    assert isinstance(node, ViewNode)
    return lambda arrays: base(arrays)[node.index]


# ---- elementwise functions ---------------------------------------------------------------------


def _parameter_name(name: str) -> str:
    return f"{name}_" if name in _NAMES_IN_KERNELS else name


def _reject_in_place_changes(source: Source) -> None:
    """Reject functions of elements that change an argument in place, as ``x += 1``."""
    names = {a.arg for a in source.tree.args.args}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AugAssign) and getattr(node.target, "id", None) in names:
            name = getattr(node.target, "id", "")
            raise ArgumentTypeError(
                f"{source.name} changes {name} in place, and reads elements, as in `if`: write "
                f"{name} = {name} + …, or select elements with np.where"
            )


def _is_weak(operand: Operand) -> bool:
    scalar = None if isinstance(operand, ArrayArgument) else scalar_of(operand)
    return scalar is not None and scalar.weak


def _dtype_of(operand: Operand) -> DType:
    if isinstance(operand, ArrayArgument):
        return operand.dtype
    scalar = scalar_of(operand)
    assert scalar is not None
    return scalar.dtype


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Fuse a function of arrays to few kernels: ``@fuse``, ``@fuse()``, ``@fuse(kernel_name="f")``.

    The function may use numpy's operators and elementwise functions, change its arguments in
    place, and reduce with ``np.sum``, ``np.prod``, ``np.max``, ``np.min``, ``np.all`` and
    ``np.any``. If it reads elements, as ``if x > 0`` does, it is compiled as a function of
    elements.
    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return Fusion(args[0])
    return lambda function: Fusion(function, *args, **kwargs)
