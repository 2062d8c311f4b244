"""Implement ``fuse``: run a function of arrays as few kernels.

The function is traced once for each combination of types and shapes. If it reads elements, which
traced arrays do not have, it is compiled as a function of elements instead.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

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
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument

Made: TypeAlias = Callable[..., Any]
Result: TypeAlias = Callable[[list[Any]], Any]
_MOST = 256  # cached combinations per function
_NOT_IN_C = frozenset("i n in out a b int float double short long char bool auto".split())  # noqa: SIM905


class Fusion:
    """A function of arrays and numbers, fused to few kernels per combination of types."""

    def __init__(self, function: Callable[..., Any], kernel_name: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = python_function(function)
        own = self._function.__name__
        self.name = kernel_name or ("fused" if own == "<lambda>" else own)
        if not is_kernel_name(self.name):
            raise ValueError(f"Invalid kernel name: {self.name!r} is no name in C")
        self._made: dict[tuple[object, ...], Made] = {}
        self._built: KernelCache = {}

    @functools.cached_property
    def __pycu2c_device__(self) -> Source:
        """Return the function that kernels and elementwise functions call."""
        return device_function_source(self._function)

    def __repr__(self) -> str:
        return f"<fused {self.name}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            bound = inspect.signature(self._function).bind(*args, **named)
            bound.apply_defaults()
            args = bound.args
        if any(isinstance(a, TracedArray) for a in args):
            return self._function(*args)
        key = _key(args)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _MOST:
                self._made.clear()
            made = self._made[key] = self._for(args)
        return made(*args)

    def clear_cache(self) -> None:
        """Remove all compiled kernels."""
        self._made.clear()
        self._built.clear()

    def _for(self, args: Sequence[Any]) -> Made:
        """Return the plan for arguments of these types and shapes."""
        names = [f"{self.name}: argument {k}" for k in range(1, len(args) + 1)]
        found = [None if a is None else operands.operand(a, n) for a, n in zip(args, names)]
        if not any(isinstance(a, ArrayArgument) for a in found):
            return self._function
        given: list[Any] = [_traced(k, a) for k, a in enumerate(found)]
        for k, first in enumerate(args):
            same = next(j for j, other in enumerate(args) if other is first)
            given[k] = given[same]
        try:
            result = self._function(*given)
        except UntraceableError:
            return self._by_elements(args, found)
        return _FusedPlan(self, given, result, names).run

    @property
    def _parameters(self) -> list[str]:
        code = self._function.__code__
        return list(code.co_varnames[: code.co_argcount])

    def planner(self, count: int) -> Scheduler:
        """Return the plan for a number of arguments."""
        own = [_parameter_name(n) for n in self._parameters]
        return Scheduler(self.name, own + [f"x{k}" for k in range(len(own), count)], self._built)

    # ---- elementwise functions ----

    def _by_elements(self, args: Sequence[Any], found: Sequence[Operand | None]) -> Made:
        if None in found:
            raise ArgumentTypeError(
                f"{self.name} takes None where it computes with whole arrays alone"
            )
        leaves = [a for a in found if a is not None]
        source = self.__pycu2c_device__
        _reject_rebinding(source)
        weak = frozenset(k for k, a in enumerate(leaves) if _is_weak(a))
        function = PythonFunction(self._function, f"{self.name}_operation", source, weak)
        rows = [_dtype_of(a) for a in leaves]
        spelled = map(_parameter_name, function.parameters)
        inputs = ", ".join(f"{row.name} {name}" for row, name in zip(rows, spelled))
        results = function.called([CValue(Scalar(row), lambda p: p.name) for row in rows]).results
        outputs = ", ".join(f"{row.name} out{k}" for k, row in enumerate(results))
        return ElementwiseKernel(inputs, outputs, function, self.name)


class _FusedPlan:
    """The steps of calls of one kind, and their results."""

    def __init__(
        self, fusion: Fusion, given: Sequence[Any], result: Any, names: Sequence[str]
    ) -> None:
        self._names = names
        arguments = {id(t): k for k, t in reversed(list(enumerate(given))) if t is not None}
        stored = [
            FusionTarget(t, t.node, k)
            for k, t in enumerate(given)
            if isinstance(t, TracedArray) and arguments[id(t)] == k and _is_changed(t, k)
        ]
        self._written = [t.argument for t in stored if t.argument is not None]
        planner = fusion.planner(len(given))
        new = {id(t): t for t in _new_arrays(result, arguments)}
        kept = {k: planner.slot(t.node) for k, t in new.items() if isinstance(t.node, ReduceNode)}
        targets = [FusionTarget(t, t.node, None) for k, t in new.items() if k not in kept]
        places = {**arguments, **kept, **planner.fill([*targets, *stored])}
        self._steps: list[Step] = planner.steps
        self._empty_slots = [None] * (planner.count - len(given))
        self._result = _result_of(result, places)

    def run(self, *args: Any) -> Any:
        """Compile and call the kernel."""
        if self._written:
            self._refuse_overlaps(args)
        arrays = [*args, *self._empty_slots]
        for step in self._steps:
            step(arrays)
        return self._result(arrays)

    def _refuse_overlaps(self, args: Sequence[Any]) -> None:
        described = {
            k: a
            for k, value in enumerate(args)
            if value is not None
            and isinstance(a := operands.operand(value, self._names[k]), ArrayArgument)
        }
        for j, k in combinations(described, 2):
            if (j in self._written or k in self._written) and args[j] is not args[k]:
                (first, size), (other, length) = described[j].region, described[k].region
                if first < other + length and other < first + size:
                    raise ArgumentValueError(
                        f"{self._names[j]} and {self._names[k]} share memory, and the function "
                        "changes it: pass a copy of one"
                    )


# ---- tracing -----------------------------------------------------------------------------------


def _key(args: Sequence[Any]) -> tuple[object, ...]:
    """Return the cache key of a call."""
    kinds = [(type(a), getattr(a, "dtype", None), getattr(a, "shape", None)) for a in args]
    ids = [id(a) for a in args]
    return (*kinds, *(ids.index(one) for one in ids)) if len(set(ids)) < len(ids) else (*kinds,)


def _traced(position: int, found: Operand | None) -> TracedArray | None:
    if found is None:
        return None
    if isinstance(found, ArrayArgument):
        like = graph.sample_array(found.shape, found.dtype.numpy)
        return TracedArray(GraphInput(position, found.shape, like))
    if isinstance(found, HandleArgument):
        raise ArgumentTypeError(
            "fused functions take arrays and numbers: ElementwiseKernel takes textures"
        )
    return TracedArray(GraphInput(position, (), type(found)(1)))


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


def _result_of(result: Any, places: dict[int, int]) -> Result:
    """Build the result of a call from its arrays."""
    if isinstance(result, tuple):
        items = [_result_of(item, places) for item in result]
        return lambda arrays: tuple(item(arrays) for item in items)
    if isinstance(result, TracedArray):
        return _array_of(result, places)
    if result is None or isinstance(result, (bool, int, float, complex, np.generic)):
        return lambda _: result
    raise ArgumentTypeError(
        f"a fused function gives arrays, numbers, tuples of them or None, not {result}"
    )


def _array_of(traced: TracedArray, places: dict[int, int]) -> Result:
    if traced.base is None:
        place = places[id(traced)]
        return lambda arrays: arrays[place]
    node, base = traced.node, _array_of(traced.base, places)
    assert isinstance(node, ViewNode)
    return lambda arrays: base(arrays)[node.index]


# ---- elementwise functions ---------------------------------------------------------------------


def _parameter_name(name: str) -> str:
    return f"{name}_" if name in _NOT_IN_C else name


def _reject_rebinding(source: Source) -> None:
    """Reject elementwise functions that rebind or change an argument in place."""
    names = {a.arg for a in source.tree.args.args}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AugAssign) and getattr(node.target, "id", None) in names:
            name = getattr(node.target, "id", "")
            raise ArgumentTypeError(
                f"{source.name} changes {name} in place, and asks for the truth of elements, as "
                f"`if` does: write {name} = {name} + …, or choose with np.where"
            )


def _is_weak(given: Operand) -> bool:
    scalar = None if isinstance(given, ArrayArgument) else scalar_of(given)
    return scalar is not None and scalar.weak


def _dtype_of(given: Operand) -> DType:
    if isinstance(given, ArrayArgument):
        return given.dtype
    scalar = scalar_of(given)
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
