"""Calls like one before: with arrays of the same kind, dtype, shape and strides, and numbers. Their
walk, their form and the numbers of their launch are known, so that the dispatch table (of
``runtime/dispatch``) checks the arguments, packs them and starts the kernel. Other calls take the
slow path.

Knows neither operations nor reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pycu2c.base import dtypes, graph_capture
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar, Signature
from pycu2c.compat.cupy.operands import Family, Operand
from pycu2c.runtime.arguments.arguments import describe, layout_of
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch import guards, table
from pycu2c.runtime.dispatch.extension import LaunchConfiguration
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import Runner

Key: TypeAlias = "tuple[object, ...]"
Rooms: TypeAlias = Callable[[], tuple[object, ...]]

_MOST = 256  # kinds of calls that are kept
_NO_TYPES = Signature(())


@dataclass(frozen=True, slots=True)
class Ran:
    """A call that has run: what was given to it; the arguments as the kernel was given them, the
    first as many as there were values, then numbers and room."""

    values: tuple[Any, ...]
    described: tuple[Operand, ...]
    passed: tuple[Any, ...]
    inputs: int
    raw: frozenset[int]  # positions of arrays that the kernel indexes by itself
    runner: Runner
    launch: Launch
    results: Callable[[tuple[Any, ...]], tuple[Any, ...]]  # new outputs for inputs
    rooms: Rooms  # what each call needs anew


@dataclass(frozen=True, slots=True)
class Known:
    """A kind of calls: their dispatch table, and the configuration of the launch."""

    entries: table.DispatchTable
    configuration: LaunchConfiguration
    numbers: tuple[object, ...]
    rooms: Rooms
    results: Callable[[tuple[Any, ...]], tuple[Any, ...]]


def key_of(args: Sequence[Any], *others: object) -> Key | None:
    """What calls of one kind have in common; None where that is not known."""
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


class Quick:
    """The kinds of calls of one kernel that are known."""

    __slots__ = ("_kinds", "_name", "_seen")

    def __init__(self, name: str) -> None:
        self._name = name
        self._kinds: dict[Key, Known] = {}
        self._seen: dict[Key, int] = {}

    def outputs(self, key: Key, given: tuple[Any, ...], inputs: int) -> tuple[Any, ...] | None:
        """The outputs of a call, if it has run."""
        known = self._kinds.get(key)
        if known is None:
            return None
        values = given if len(given) > inputs else (*given, *known.results(given))
        arguments = (*values, *known.numbers, *known.rooms())
        if known.entries.launch(known.configuration, arguments):
            return values[inputs:]
        return None

    def learn(self, key: Key, ran: Ran) -> None:
        """Let calls like this one be quick, if it is not the first."""
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen & (seen - 1) or seen < 2 or graph_capture.current() is not None:
            return  # more and more rarely while it is in vain
        direct = ran.runner.direct
        if direct is None or ran.launch.stream is not None:
            return
        if len(self._kinds) >= _MOST:
            self._kinds.clear()
        known = _known(self._name, ran)
        if known is not None:
            self._kinds[key] = known


def _known(name: str, ran: Ran) -> Known | None:
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
    rooms, first = ran.rooms(), count + len(numbers)
    arrays = len(ran.passed) - len(rooms)
    moved = [
        replace(p, argument=p.argument - arrays + first)
        if p.part is ArgumentPart.DATA and p.argument >= count
        else _with_size(p, direct.layout.parameters)
        for p in parameters
    ]
    values = (*ran.values, *numbers, *rooms)
    return _dispatched(name, ran, values, moved, tuple(numbers))


def _with_size(p: Parameter, before: Sequence[Parameter]) -> Parameter:
    """A number as the kernel takes it: of as many bits."""
    same = next(q for q in before if q.name == p.name)
    return replace(p, type=same.type)


def _number(p: Parameter, passed: Sequence[Any]) -> int:
    """What is passed for a parameter that is the same in all calls of a kind."""
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
    ran: Ran,
    values: tuple[Any, ...],
    parameters: Sequence[Parameter],
    numbers: tuple[int, ...],
) -> Known | None:
    """A dispatch entry for calls with these values."""
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
    return Known(entries, wanted.configuration(0, ordered=True), numbers, ran.rooms, ran.results)


def _type_of(position: int, leaf: Any, parameters: Sequence[Parameter]) -> Any:
    if isinstance(leaf, ArrayArgument):
        return leaf.type
    return next((p.type for p in parameters if p.argument == position), Scalar(dtypes.INT64))


def new_outputs(
    family: Family, shape: tuple[int, ...], rows: Sequence[Any], position: int
) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What makes the outputs of a kind of calls, beside the array at a position."""
    empty, dtypes_of = family.empty, tuple(row.numpy for row in rows)
    if len(dtypes_of) == 1:
        (only,) = dtypes_of
        return lambda given: (empty(shape, only, given[position]),)
    return lambda given: tuple(empty(shape, dtype, given[position]) for dtype in dtypes_of)
