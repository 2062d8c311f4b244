"""Cache calls by the dtypes, shapes and strides of their arrays, for the dispatch fast path.

For a repeated call the iteration space and the launch configuration are known. The dispatch table
(``runtime.dispatch``) checks the arguments, packs them and launches the kernel. Other calls take
the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pycu2c.base import dtypes, graph_capture
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
    inputs: int
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

    __slots__ = ("_kinds", "_name", "_seen")

    def __init__(self, name: str) -> None:
        self._name = name
        self._kinds: dict[Key, CachedCall] = {}
        self._seen: dict[Key, int] = {}

    def outputs(self, key: Key, given: tuple[Any, ...], inputs: int) -> tuple[Any, ...] | None:
        """Launch a cached call and return its outputs; None if it is not cached."""
        known = self._kinds.get(key)
        if known is None:
            return None
        values = given if len(given) > inputs else (*given, *known.results(given))
        arguments = (*values, *known.numbers, *known.make_workspace())
        if known.entries.launch(known.configuration, arguments):
            return values[inputs:]
        return None

    def learn(self, key: Key, ran: CompletedCall) -> None:
        """Cache a call, unless it is the first of its kind."""
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen & (seen - 1) or seen < 2 or graph_capture.current() is not None:
            return  # retry at growing intervals after failures
        direct = ran.runner.direct
        if direct is None or ran.launch.stream is not None:
            return
        if len(self._kinds) >= _MAX_CALLS:
            self._kinds.clear()
        known = _cached_call(self._name, ran)
        if known is not None:
            self._kinds[key] = known


def _cached_call(name: str, ran: CompletedCall) -> CachedCall | None:
    direct, count = ran.runner.direct, len(ran.values)
    assert direct is not None
    parameters: list[Parameter] = []
    numbers: list[int] = []
    for p in direct.layout.parameters:
        own = p.argument < count and p.part in (ArgumentPart.DATA, ArgumentPart.VALUE)
        if own or p.part is ArgumentPart.DATA:
            parameters.append(p)
            continue
        place = count + len(numbers)
        numbers.append(_number(p, ran.passed))
        parameters.append(Parameter(p.name, Scalar(dtypes.INT64), place))
    workspace, first = ran.make_workspace(), count + len(numbers)
    arrays = len(ran.passed) - len(workspace)
    moved = [
        replace(p, argument=p.argument - arrays + first)
        if p.part is ArgumentPart.DATA and p.argument >= count
        else _with_size(p, direct.layout.parameters)
        for p in parameters
    ]
    values = (*ran.values, *numbers, *workspace)
    return _dispatched(name, ran, values, moved, tuple(numbers))


def _with_size(p: Parameter, before: Sequence[Parameter]) -> Parameter:
    """Return a parameter as an integer of the same size."""
    same = next(q for q in before if q.name == p.name)
    return replace(p, type=same.type)


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
    ran: CompletedCall,
    values: tuple[Any, ...],
    parameters: Sequence[Parameter],
    numbers: tuple[int, ...],
) -> CachedCall | None:
    """Return a cached call with a dispatch table for these values."""
    direct, count = ran.runner.direct, len(ran.values)
    assert direct is not None
    tail = values[count:]
    leaves = (*ran.described, *(describe(v) or v for v in tail))
    types = tuple(_type_of(k, leaf, parameters) for k, leaf in enumerate(leaves))
    arrays = [k for k, leaf in enumerate(leaves[:count]) if isinstance(leaf, ArrayArgument)]
    written = tuple(k for k in arrays if k >= ran.inputs)
    launch = guards.RecordedLaunch(values, types, leaves, written, {})
    read = tuple(k for k in arrays if k < ran.inputs and k not in ran.raw)
    over = tuple(k for k in written if k not in ran.raw)
    guard = table.LaunchGuard(None, 0, read=read, written=over)
    names = tuple(f"_{k}" for k in range(len(values)))
    entries = table.DispatchTable(CallSignature(name, names, len(names), None, {}))
    new = replace(direct, layout=layout_of(parameters))
    if not entries.record(launch, guard, new, _NO_TYPES):
        return None
    wanted = LaunchRequest(ran.launch.grid, ran.launch.block, None, 0)
    return CachedCall(
        entries, wanted.configuration(0, ordered=True), numbers, ran.make_workspace, ran.results
    )


def _type_of(position: int, leaf: Any, parameters: Sequence[Parameter]) -> Any:
    if isinstance(leaf, ArrayArgument):
        return leaf.type
    return next((p.type for p in parameters if p.argument == position), Scalar(dtypes.INT64))


def new_outputs(
    family: ArrayPackage, shape: tuple[int, ...], rows: Sequence[Any], position: int
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """Return a function that allocates outputs like the array at a position."""
    empty, dtypes_of = family.empty, tuple(row.numpy for row in rows)
    if len(dtypes_of) == 1:
        (only,) = dtypes_of
        return lambda given: (empty(shape, only, given[position]),)
    return lambda given: tuple(empty(shape, dtype, given[position]) for dtype in dtypes_of)
