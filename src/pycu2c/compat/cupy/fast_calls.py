"""Cache calls by the dtypes, shapes and strides of their arrays, for the dispatch fast path.

For a repeated call the iteration space and the launch configuration are known. The dispatch table
(``runtime.dispatch``) checks the arguments, packs them and launches the kernel. Other calls take
the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pycu2c.base import dtypes, graph_capture
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar, Signature
from pycu2c.compat.cupy.operands import ArrayPackage, Operand
from pycu2c.native.extension import LaunchConfiguration
from pycu2c.runtime.arguments.arguments import describe, layout_of
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch import guards, table
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import Runner

Key: TypeAlias = "tuple[object, ...]"
WorkspaceFactory: TypeAlias = Callable[[], tuple[object, ...]]

_MAX_CALLS = 256  # cached calls per kernel
_NO_TYPES = Signature(())


@dataclass(frozen=True, slots=True)
class CompletedCall:
    """A completed call: the values of the caller, and the arguments of the kernel.

    The first arguments correspond to the values; numbers and the workspace follow.
    """

    values: tuple[Any, ...]
    described: tuple[Operand, ...]
    passed: tuple[Any, ...]
    inputs: int  # number of inputs
    raw: frozenset[int]  # positions of raw arrays
    runner: Runner
    launch: Launch
    results: Callable[[tuple[Any, ...]], tuple[Any, ...]]  # allocates outputs for inputs
    make_workspace: WorkspaceFactory  # allocates memory for each call


@dataclass(frozen=True, slots=True)
class CachedCall:
    """A cached call: its dispatch table and its launch configuration."""

    entries: table.DispatchTable
    configuration: LaunchConfiguration
    numbers: tuple[object, ...]
    make_workspace: WorkspaceFactory
    results: Callable[[tuple[Any, ...]], tuple[Any, ...]]


def key_of(args: Sequence[Any], *others: object) -> Key | None:
    """Return the key of a call; None if the call cannot be cached."""
    parts: list[object] = [*others]
    try:
        for value in args:
            kind = type(value)
            if kind in _NUMBERS:
                parts.append(kind)
                continue
            strides = getattr(value, "strides", None)
            if strides is None:  # PyTorch's
                strides = value.stride()
            parts += (kind, value.dtype, value.shape, strides)
    except AttributeError:
        return None
    return tuple(parts)


_NUMBERS = frozenset((bool, int, float, complex))


class CallCache:
    """The cached calls of one kernel."""

    __slots__ = ("_calls", "_name", "_seen")

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: dict[Key, CachedCall] = {}
        self._seen: dict[Key, int] = {}

    def outputs(self, key: Key, args: tuple[Any, ...], inputs: int) -> tuple[Any, ...] | None:
        """Launch a cached call and return its outputs; None if it is not cached.

        ``inputs`` is the number of inputs; outputs that are not in ``args`` are allocated.
        """
        cached = self._calls.get(key)
        if cached is None:
            return None
        values = args if len(args) > inputs else (*args, *cached.results(args))
        arguments = (*values, *cached.numbers, *cached.make_workspace())
        if cached.entries.launch(cached.configuration, arguments):
            return values[inputs:]
        return None

    def add(self, key: Key, completed: CompletedCall) -> None:
        """Cache a call, unless it is the first one with this key."""
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen & (seen - 1) or seen < 2 or graph_capture.current() is not None:
            return  # retry at growing intervals after failures
        direct = completed.runner.direct
        if direct is None or completed.launch.stream is not None:
            return
        if len(self._calls) >= _MAX_CALLS:
            self._calls.clear()
        cached = _cached_call(self._name, completed)
        if cached is not None:
            self._calls[key] = cached


def _cached_call(name: str, completed: CompletedCall) -> CachedCall | None:
    direct, count = completed.runner.direct, len(completed.values)
    assert direct is not None
    parameters: list[Parameter] = []
    numbers: list[int] = []
    for p in direct.layout.parameters:
        is_value = p.argument < count and p.part in (ArgumentPart.DATA, ArgumentPart.VALUE)
        if is_value or p.part is ArgumentPart.DATA:
            parameters.append(p)
            continue
        position = count + len(numbers)
        numbers.append(_number(p, completed.passed))
        parameters.append(Parameter(p.name, Scalar(dtypes.INT64), position))
    workspace, first = completed.make_workspace(), count + len(numbers)
    arrays = len(completed.passed) - len(workspace)
    renumbered = [
        replace(p, argument=p.argument - arrays + first)
        if p.part is ArgumentPart.DATA and p.argument >= count
        else _with_size(p, direct.layout.parameters)
        for p in parameters
    ]
    values = (*completed.values, *numbers, *workspace)
    return _dispatched(name, completed, values, renumbered, tuple(numbers))


def _with_size(p: Parameter, before: Sequence[Parameter]) -> Parameter:
    """Return a parameter as an integer of the same size."""
    original = next(q for q in before if q.name == p.name)
    return replace(p, type=original.type)


def _number(p: Parameter, passed: Sequence[Any]) -> int:
    """Return the value of a parameter that is equal in all calls with one key."""
    argument = passed[p.argument]
    match p.part:
        case ArgumentPart.SHAPE:
            return int(argument.shape[p.axis])
        case ArgumentPart.STRIDE:
            return int(argument.strides[p.axis] // argument.dtype.size)
        case _:
            return int(argument)


def _dispatched(
    name: str,
    completed: CompletedCall,
    values: tuple[Any, ...],
    parameters: Sequence[Parameter],
    numbers: tuple[int, ...],
) -> CachedCall | None:
    """Return a cached call with a dispatch table for these values."""
    direct, count = completed.runner.direct, len(completed.values)
    assert direct is not None
    tail = values[count:]
    leaves = (*completed.described, *(describe(v) or v for v in tail))
    types = tuple(_type_of(k, leaf, parameters) for k, leaf in enumerate(leaves))
    arrays = [k for k, leaf in enumerate(leaves[:count]) if isinstance(leaf, ArrayArgument)]
    written = tuple(k for k in arrays if k >= completed.inputs)
    launch = guards.RecordedLaunch(values, types, leaves, written, {})
    read = tuple(k for k in arrays if k < completed.inputs and k not in completed.raw)
    written_once = tuple(k for k in written if k not in completed.raw)
    guard = table.LaunchGuard(None, 0, read=read, written=written_once)
    names = tuple(f"_{k}" for k in range(len(values)))
    entries = table.DispatchTable(CallSignature(name, names, len(names), None, {}))
    renumbered = replace(direct, layout=layout_of(parameters))
    if not entries.record(launch, guard, renumbered, _NO_TYPES):
        return None
    request = LaunchRequest(completed.launch.grid, completed.launch.block, None, 0)
    return CachedCall(
        entries,
        request.configuration(0, ordered=True),
        numbers,
        completed.make_workspace,
        completed.results,
    )


def _type_of(position: int, leaf: Any, parameters: Sequence[Parameter]) -> Any:
    if isinstance(leaf, ArrayArgument):
        return leaf.type
    return next((p.type for p in parameters if p.argument == position), Scalar(dtypes.INT64))


def new_outputs(
    package: ArrayPackage, shape: tuple[int, ...], types: Sequence[DType], position: int
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that allocates outputs like the array at a position."""
    empty, numpy_dtypes = package.empty, tuple(dtype.numpy for dtype in types)
    if len(numpy_dtypes) == 1:
        (only,) = numpy_dtypes
        return lambda args: (empty(shape, only, args[position]),)
    return lambda args: tuple(empty(shape, dtype, args[position]) for dtype in numpy_dtypes)
