"""Cache calls by the dtypes, shapes and strides of their arrays, for the dispatch fast path.

A repeated call has the same iteration space and launch configuration. The dispatch table
(``runtime.dispatch``) checks the arguments, packs them and launches the kernel. Other calls take
the slow path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pycu2c.base import dtypes, graph_capture
from pycu2c.base.dtypes import DType
from pycu2c.base.parameters import Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar, Signature
from pycu2c.compat.cupy.operands import ArrayPackage, Operand
from pycu2c.native.extension import LaunchConfiguration
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.dispatch import guards, table
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest
from pycu2c.runtime.runner import Runner

Key: TypeAlias = "tuple[object, ...]"
WorkspaceFactory: TypeAlias = Callable[[], tuple[object, ...]]  # called for each launch
OutputAllocator: TypeAlias = Callable[[tuple[Any, ...]], tuple[Any, ...]]  # inputs -> outputs

_MAX_CALLS = 256  # cached calls per kernel
_NO_TYPES = Signature(())


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """A launch and its runner.

    The arguments are the operands, sizes, and a workspace, the temporary memory of a call.
    """

    launch: Launch
    operands: tuple[Operand, ...]
    sizes: tuple[int, ...]
    runner: Runner
    make_workspace: WorkspaceFactory = tuple

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the kernel, with a new workspace."""
        return (*self.operands, *self.sizes, *map(describe, self.make_workspace()))


@dataclass(frozen=True, slots=True)
class CachedCall:
    """A cached call: its dispatch table and its launch configuration."""

    dispatch_table: table.DispatchTable
    configuration: LaunchConfiguration
    sizes: tuple[int, ...]
    make_workspace: WorkspaceFactory
    allocate_outputs: OutputAllocator


def key_of(args: Sequence[Any], *others: object) -> Key | None:
    """Return the key of a call; None if the call cannot be cached."""
    parts: list[object] = [*others]
    try:
        for value in args:
            value_type = type(value)
            if value_type in _NUMBER_TYPES:
                parts.append(value_type)
                continue
            strides = getattr(value, "strides", None)
            if strides is None:  # PyTorch tensors have a method
                strides = value.stride()
            parts += (value_type, value.dtype, value.shape, strides)
    except AttributeError:
        return None
    return tuple(parts)


_NUMBER_TYPES = frozenset((bool, int, float, complex))


class CallCache:
    """The cached calls of one kernel."""

    __slots__ = ("_calls", "_input_count", "_name", "_raw_positions", "_seen")

    def __init__(self, name: str, input_count: int, raw_positions: frozenset[int]) -> None:
        self._name, self._input_count, self._raw_positions = name, input_count, raw_positions
        self._calls: dict[Key, CachedCall] = {}
        self._seen: dict[Key, int] = {}

    def launch(self, key: Key, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Launch a cached call and return its outputs; None if it is not cached.

        Outputs that are not in ``args`` are allocated.
        """
        cached = self._calls.get(key)
        if cached is None:
            return None
        input_count = self._input_count
        values = args if len(args) > input_count else (*args, *cached.allocate_outputs(args))
        arguments = (*values, *cached.sizes, *cached.make_workspace())
        if cached.dispatch_table.launch(cached.configuration, arguments):
            return values[input_count:]
        return None

    def add(
        self,
        key: Key,
        values: tuple[Any, ...],
        prepared: PreparedLaunch,
        allocate_outputs: OutputAllocator,
    ) -> None:
        """Cache a completed call, unless it is the first one with this key.

        values: the arrays and numbers of the caller, inputs before outputs.
        """
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen & (seen - 1) or seen < 2 or graph_capture.current() is not None:
            return  # after failures, retry only when ``seen`` is a power of two
        if prepared.runner.fast_path is None or prepared.launch.stream is not None:
            return
        if len(self._calls) >= _MAX_CALLS:
            self._calls.clear()
        cached = self._cached_call(values, prepared, allocate_outputs)
        if cached is not None:
            self._calls[key] = cached

    def _cached_call(
        self,
        values: tuple[Any, ...],
        prepared: PreparedLaunch,
        allocate_outputs: OutputAllocator,
    ) -> CachedCall | None:
        """Return a cached call; None if the dispatch table does not support the values."""
        fast_path, count = prepared.runner.fast_path, len(values)
        assert fast_path is not None
        values = (*values, *prepared.sizes, *prepared.make_workspace())
        operands = (*prepared.operands, *(describe(v) or v for v in values[count:]))
        parameters = fast_path.layout.parameters
        types = tuple(_type_of(k, operand, parameters) for k, operand in enumerate(operands))
        arrays = [k for k in range(count) if isinstance(operands[k], ArrayArgument)]
        written = tuple(k for k in arrays if k >= self._input_count)
        elementwise = [k for k in arrays if k not in self._raw_positions]
        overlap = table.OverlapGuard(
            tuple(k for k in elementwise if k < self._input_count),
            tuple(k for k in elementwise if k >= self._input_count),
        )
        names = tuple(f"_{k}" for k in range(len(values)))
        dispatch_table = table.DispatchTable(CallSignature(self._name, names, len(names), None, {}))
        launch = guards.RecordedLaunch(values, types, operands, written, {})
        guard = table.LaunchGuard(None, 0, overlap=overlap)
        if not dispatch_table.record(launch, guard, fast_path, _NO_TYPES):
            return None
        request = LaunchRequest(prepared.launch.grid, prepared.launch.block, None, 0)
        return CachedCall(
            dispatch_table,
            request.configuration(0, ordered=True),
            prepared.sizes,
            prepared.make_workspace,
            allocate_outputs,
        )


def _type_of(position: int, operand: Any, parameters: Sequence[Parameter]) -> Any:
    if isinstance(operand, ArrayArgument):
        return operand.type
    return next((p.type for p in parameters if p.argument == position), Scalar(dtypes.INT64))


def output_allocator(
    package: ArrayPackage,
    shape: tuple[int, ...],
    output_dtypes: Sequence[DType],
    position: int | None,
) -> OutputAllocator:
    """Return a function that allocates outputs like the array at a position, if there is one."""
    empty, numpy_dtypes = package.empty, tuple(dtype.numpy for dtype in output_dtypes)
    if position is None:
        return lambda _: tuple(empty(shape, dtype, None) for dtype in numpy_dtypes)
    if len(numpy_dtypes) == 1:
        (single_dtype,) = numpy_dtypes
        return lambda args: (empty(shape, single_dtype, args[position]),)
    return lambda args: tuple(empty(shape, dtype, args[position]) for dtype in numpy_dtypes)
