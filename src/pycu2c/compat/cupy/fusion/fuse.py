"""``fuse``: a function of arrays as few kernels. It is called once with arrays that note what is
done with them, for each combination of types and shapes; if it asks for elements, which they do not
have, it is compiled as a function of elements instead.

Knows no text: what functions mean is for numpy and the frontend, how they run for the kernels.
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
from pycu2c.compat.cupy.fusion.graph import Given, Reduced, Viewed
from pycu2c.compat.cupy.fusion.schedule import Built, Planner, Step, Target
from pycu2c.compat.cupy.fusion.tracer import Traced, Untraceable
from pycu2c.compat.cupy.operands import Operand
from pycu2c.compat.cupy.parameter_declarations import WrongType, WrongValue, is_kernel_name
from pycu2c.compat.cupy.python_functions import PythonFunction, Value, source_of_device
from pycu2c.compat.numba.dispatcher import python_function
from pycu2c.runtime.arguments.array_argument import ArrayArgument, HandleArgument

Made: TypeAlias = Callable[..., Any]
Result: TypeAlias = Callable[[list[Any]], Any]
_MOST = 256  # kinds of calls that are kept
_NOT_IN_C = frozenset("i n in out a b int float double short long char bool auto".split())  # noqa: SIM905


class Fusion:
    """A function of arrays and numbers that is few kernels for each combination of their types."""

    def __init__(self, function: Callable[..., Any], kernel_name: str | None = None) -> None:
        functools.update_wrapper(self, function)
        self._function = python_function(function)
        own = self._function.__name__
        self.name = kernel_name or ("fused" if own == "<lambda>" else own)
        if not is_kernel_name(self.name):
            raise ValueError(f"Invalid kernel name: {self.name!r} is no name in C")
        self._made: dict[tuple[object, ...], Made] = {}
        self._built: Built = {}

    @functools.cached_property
    def __pycu2c_device__(self) -> Source:
        """What kernels, and functions that are compiled by their elements, call."""
        return source_of_device(self._function)

    def __repr__(self) -> str:
        return f"<fused {self.name}>"

    def __call__(self, *args: Any, **named: Any) -> Any:
        if named:
            bound = inspect.signature(self._function).bind(*args, **named)
            bound.apply_defaults()
            args = bound.args
        if any(isinstance(a, Traced) for a in args):
            return self._function(*args)
        key = _key(args)
        made = self._made.get(key)
        if made is None:
            if len(self._made) >= _MOST:
                self._made.clear()
            made = self._made[key] = self._for(args)
        return made(*args)

    def clear_cache(self) -> None:
        """Forget what has been compiled."""
        self._made.clear()
        self._built.clear()

    def _for(self, args: Sequence[Any]) -> Made:
        """What runs calls with arguments of these types and shapes."""
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
        except Untraceable:
            return self._by_elements(args, found)
        return _Planned(self, given, result, names).run

    @property
    def _parameters(self) -> list[str]:
        code = self._function.__code__
        return list(code.co_varnames[: code.co_argcount])

    def planner(self, count: int) -> Planner:
        """For calls with so many arguments."""
        own = [_spelled(n) for n in self._parameters]
        return Planner(self.name, own + [f"x{k}" for k in range(len(own), count)], self._built)

    # ---- functions that ask for elements ----

    def _by_elements(self, args: Sequence[Any], found: Sequence[Operand | None]) -> Made:
        if None in found:
            raise WrongType(f"{self.name} takes None where it computes with whole arrays alone")
        leaves = [a for a in found if a is not None]
        source = self.__pycu2c_device__
        _refuse_changes(source)
        weak = frozenset(k for k, a in enumerate(leaves) if _is_weak(a))
        function = PythonFunction(self._function, f"{self.name}_operation", source, weak)
        rows = [_row(a) for a in leaves]
        spelled = map(_spelled, function.parameters)
        inputs = ", ".join(f"{row.name} {name}" for row, name in zip(rows, spelled))
        results = function.called([Value(Scalar(row), lambda p: p.name) for row in rows]).results
        outputs = ", ".join(f"{row.name} out{k}" for k, row in enumerate(results))
        return ElementwiseKernel(inputs, outputs, function, self.name)


class _Planned:
    """The steps for calls of one kind, and what they give."""

    def __init__(
        self, fusion: Fusion, given: Sequence[Any], result: Any, names: Sequence[str]
    ) -> None:
        self._names = names
        arguments = {id(t): k for k, t in reversed(list(enumerate(given))) if t is not None}
        stored = [
            Target(t, t.node, k)
            for k, t in enumerate(given)
            if isinstance(t, Traced) and arguments[id(t)] == k and _is_changed(t, k)
        ]
        self._written = [t.argument for t in stored if t.argument is not None]
        planner = fusion.planner(len(given))
        new = {id(t): t for t in _new_ones(result, arguments)}
        kept = {k: planner.slot(t.node) for k, t in new.items() if isinstance(t.node, Reduced)}
        targets = [Target(t, t.node, None) for k, t in new.items() if k not in kept]
        places = {**arguments, **kept, **planner.fill([*targets, *stored])}
        self._steps: list[Step] = planner.steps
        self._room = [None] * (planner.count - len(given))
        self._result = _given_back(result, places)

    def run(self, *args: Any) -> Any:
        """Call it."""
        if self._written:
            self._refuse_overlaps(args)
        arrays = [*args, *self._room]
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
                    raise WrongValue(
                        f"{self._names[j]} and {self._names[k]} share memory, and the function "
                        "changes it: pass a copy of one"
                    )


# ---- what is traced ----------------------------------------------------------------------------


def _key(args: Sequence[Any]) -> tuple[object, ...]:
    """What calls of one kind have in common."""
    kinds = [(type(a), getattr(a, "dtype", None), getattr(a, "shape", None)) for a in args]
    ids = [id(a) for a in args]
    return (*kinds, *(ids.index(one) for one in ids)) if len(set(ids)) < len(ids) else (*kinds,)


def _traced(position: int, found: Operand | None) -> Traced | None:
    if found is None:
        return None
    if isinstance(found, ArrayArgument):
        like = graph.one_of(found.shape, found.dtype.numpy)
        return Traced(Given(position, found.shape, like))
    if isinstance(found, HandleArgument):
        raise WrongType("fused functions take arrays and numbers: ElementwiseKernel takes textures")
    return Traced(Given(position, (), type(found)(1)))


def _is_changed(argument: Traced, position: int) -> bool:
    return not (isinstance(argument.node, Given) and argument.node.position == position)


def _new_ones(result: Any, arguments: dict[int, int]) -> list[Traced]:
    """The arrays that a call makes for its result."""
    if isinstance(result, tuple):
        return [t for item in result for t in _new_ones(item, arguments)]
    if not isinstance(result, Traced):
        return []
    while result.base is not None:
        result = result.base
    return [] if id(result) in arguments else [result]


def _given_back(result: Any, places: dict[int, int]) -> Result:
    """What makes the result of a call of its arrays."""
    if isinstance(result, tuple):
        items = [_given_back(item, places) for item in result]
        return lambda arrays: tuple(item(arrays) for item in items)
    if isinstance(result, Traced):
        return _array_of(result, places)
    if result is None or isinstance(result, (bool, int, float, complex, np.generic)):
        return lambda _: result
    raise WrongType(f"a fused function gives arrays, numbers, tuples of them or None, not {result}")


def _array_of(traced: Traced, places: dict[int, int]) -> Result:
    if traced.base is None:
        place = places[id(traced)]
        return lambda arrays: arrays[place]
    node, base = traced.node, _array_of(traced.base, places)
    assert isinstance(node, Viewed)
    return lambda arrays: base(arrays)[node.index]


# ---- functions of elements ---------------------------------------------------------------------


def _spelled(name: str) -> str:
    return f"{name}_" if name in _NOT_IN_C else name


def _refuse_changes(source: Source) -> None:
    """Raise where a function of elements would change an argument in place."""
    names = {a.arg for a in source.tree.args.args}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.AugAssign) and getattr(node.target, "id", None) in names:
            name = getattr(node.target, "id", "")
            raise WrongType(
                f"{source.name} changes {name} in place, and asks for the truth of elements, as "
                f"`if` does: write {name} = {name} + …, or choose with np.where"
            )


def _is_weak(given: Operand) -> bool:
    scalar = None if isinstance(given, ArrayArgument) else scalar_of(given)
    return scalar is not None and scalar.weak


def _row(given: Operand) -> DType:
    if isinstance(given, ArrayArgument):
        return given.dtype
    scalar = scalar_of(given)
    assert scalar is not None
    return scalar.dtype


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Make few kernels of a function of arrays: ``@fuse``, ``@fuse()``, ``@fuse(kernel_name="f")``.

    The function computes with arrays by numpy's operators and functions, changes those that it is
    given in place, and brings them together with ``np.sum``, ``np.prod``, ``np.max``, ``np.min``,
    ``np.all`` and ``np.any``. One that asks for elements, as ``if x > 0`` does, is compiled as a
    function of elements.
    """
    if len(args) == 1 and callable(args[0]) and not kwargs:
        return Fusion(args[0])
    return lambda function: Fusion(function, *args, **kwargs)
