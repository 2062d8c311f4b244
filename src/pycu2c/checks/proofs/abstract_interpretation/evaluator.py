"""Evaluate the expressions of a kernel for all threads of a block, and record their accesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from pycu2c.analysis import vectors
from pycu2c.analysis.ranges.interval_arithmetic import is_integral
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.vectors import Mask, Vector
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Array, MemorySpace, int64
from pycu2c.base.values import fits
from pycu2c.checks.proofs.abstract_interpretation.access_log import (
    MANY_THREADS,
    AccessKind,
    AccessLog,
    Numbers,
)
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import array_type
from pycu2c.ir.verify_expressions import is_linear_index
from pycu2c.ir.views import array_of
from pycu2c.ir.walk import children
from pycu2c.ops.intrinsics.memory.addresses import address_of
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import NOT

Shape: TypeAlias = tuple[int, int, int]
Logs: TypeAlias = "dict[tuple[str, str], AccessLog]"  # by the names of the function and the array
_ElementNode: TypeAlias = "ir.Load | ir.Store | ir.ElementOf"
BLOCK_BARRIERS = (Effect.BARRIER, Effect.GRID)
_WARP = 32
_MAX_WORK = 1 << 26  # evaluations of an expression for a lane
_OVERHEAD = 1 << 11  # the work of an expression without lanes
_MAX_ELEMENTS = 1 << 22  # of an array in a block


@dataclass(frozen=True, slots=True)
class BlockLaunch:
    """A launch: the extents of the grid and the block, and the bytes of dynamic shared memory."""

    grid: Shape
    block: Shape
    shared_bytes: int = 0


class TooComplexError(Exception):
    """The execution would take too long, or the paths to barriers are unknown."""


@dataclass(slots=True)
class Frame:
    """The call of a function.

    values: of its variables; None if unknown. arrays: the keys of the logs of its arrays.
    """

    name: str
    ranges: Ranges
    values: dict[str, Vector] = field(default_factory=dict)
    arrays: dict[str, tuple[str, str]] = field(default_factory=dict)
    result: Vector = None


@dataclass(slots=True)
class Lanes:
    """The threads of a block, which are executed at once.

    may: whether a lane may reach the statement. must: whether it must on the current path, unless
    it has returned. running: whether it has not. live: whether its variables may be read later.
    continued, broken: whether it may have left the iteration of the innermost loop.
    """

    threads: Numbers
    may: Mask
    must: Mask
    running: Mask
    live: Mask
    continued: Mask
    broken: Mask

    @classmethod
    def of_block(cls, count: int) -> Lanes:
        every, none = np.ones(count, bool), np.zeros(count, bool)
        return cls(np.arange(count), *(every,) * 4, none, none)

    def deactivate(self) -> None:
        """Execute no lane until the paths join."""
        self.may = self.must = np.zeros_like(self.may)


class LaneEvaluator:
    """Evaluates expressions.

    functions: the device functions that are executed.
    """

    def __init__(
        self,
        functions: Mapping[str, ir.Function],
        ranges: Mapping[str, Ranges],
        launch: BlockLaunch,
        wraparound: bool,
    ) -> None:
        self.functions, self.ranges, self._wraparound = functions, ranges, wraparound
        self._launch, self._thread_count = launch, math.prod(launch.block)
        self.lanes = Lanes.of_block(self._thread_count)
        self.dynamic_arrays: set[tuple[str, str]] = set()
        self.logs: Logs = {}
        self.frame: Frame
        self._work = 0

    def call(self, e: ir.Call) -> Vector:
        """Execute a device function, and return its result."""
        raise NotImplementedError

    @property
    def is_expensive(self) -> bool:
        """Return whether the rest of the execution should be approximate."""
        return self._work > _MAX_WORK // 2

    # ---- values ----

    def value(self, e: ir.Expr) -> Vector:
        """Return the integer of each lane; None if it is unknown, or no integer."""
        self._work += len(self.lanes.may) + _OVERHEAD
        if self._work > _MAX_WORK:
            raise TooComplexError
        found = self._compute(e)
        if found is None and is_integral(e.type):
            interval = self.frame.ranges.of(e)
            if interval.low == interval.high and fits(int(interval.low), int64):
                return np.asarray(int(interval.low), np.int64)
        return found

    def _compute(self, e: ir.Expr) -> Vector:
        match e:
            case ir.Const(value):
                return np.asarray(int(value), np.int64) if _is_int64(e) else None
            case ir.Var(name):
                return (
                    self.argument(e) if isinstance(e.type, Array) else self.frame.values.get(name)
                )
            case ir.Logical():
                may_hold, must_hold = self.condition(e)
                return may_hold.astype(np.int64) if np.array_equal(may_hold, must_hold) else None
            case ir.Unary():
                return vectors.unary(e.op, self.value(e.operand), e.type)
            case ir.Binary():
                return vectors.binary(e.op, self.value(e.left), self.value(e.right), e.type)
            case ir.Select():
                return self._select(e)
            case ir.Cast():
                return vectors.of_type(self.value(e.operand), e.type)
            case ir.Load():
                self.access(e, AccessKind.READ)
            case ir.Let(name, value, body):
                self.frame.values[name] = self.value(value)
                return self.value(body)
            case ir.Call():
                return self.call(e)
            case ir.Apply():
                return self._apply(e)
            case ir.View() | ir.ElementOf():
                self.argument(e)
            case ir.Dim() | ir.Stride():
                pass
            case _:
                for child in children(e):
                    self.value(child)
        return None

    def argument(self, e: ir.Expr) -> Vector:
        """Return an argument that is a number. The function may access an array in any way."""
        if not isinstance(e.type, Array) and not isinstance(e, ir.ElementOf):
            return self.value(e)
        for child in children(e):
            if not isinstance(child.type, Array):
                self.value(child)
        array = array_of(e)
        if array and (key := self.frame.arrays.get(array.name)):
            self.logs[key].has_conflict = self.logs[key].has_unwritten = True
        return None

    def _select(self, e: ir.Select) -> Vector:
        may_hold, must_hold = self.condition(e.condition)
        then = self._masked(may_hold, lambda: self.value(e.then))
        orelse = self._masked(self.lanes.may & ~must_hold, lambda: self.value(e.orelse))
        if then is None or orelse is None or not np.array_equal(may_hold, must_hold):
            return None
        return np.where(may_hold, then, orelse)

    def _masked(self, may: Mask, evaluate: Callable[[], vectors.T]) -> vectors.T:
        """Evaluate for some lanes only."""
        lanes, flow = self.lanes, (self.lanes.may, self.lanes.must)
        lanes.may, lanes.must = may, lanes.must & may
        result = evaluate()
        lanes.may, lanes.must = flow
        return result

    def condition(self, e: ir.Expr) -> tuple[Mask, Mask]:
        """Return the lanes for which a condition may hold, and those for which it must."""
        may = self.lanes.may
        if isinstance(e, ir.Logical):
            left, must_left = self.condition(e.left)
            is_and = e.op is ir.LogicalOp.AND
            rest = left if is_and else may & ~must_left
            right, must_right = self._masked(rest, lambda: self.condition(e.right))
            return (
                (right, must_left & must_right)
                if is_and
                else (left | right, must_left | must_right)
            )
        if isinstance(e, ir.Unary) and e.op is NOT:
            may_hold, must_hold = self.condition(e.operand)
            return may & ~must_hold, may & ~may_hold
        value = self.value(e)
        if value is None:
            return may, np.zeros_like(may)
        may_hold = may & (value != 0)
        return may_hold, may_hold

    # ---- intrinsics ----

    def _apply(self, e: ir.Apply) -> Vector:
        arguments = [self.value(a) for a in e.arguments if not isinstance(a, ir.ElementOf)]
        for element in e.arguments:
            if isinstance(element, ir.ElementOf):
                self._access_by(e, element)
        if e.intrinsic.effect in BLOCK_BARRIERS and self.lanes.may.any():
            for log in self.logs.values():
                log.pass_barrier()
        scope, _, axis = e.intrinsic.name.rpartition(".")
        if scope in ("cuda.threadIdx", "cuda.grid"):
            return self._coordinate("xyz".index(axis), in_grid=scope == "cuda.grid")
        if e.intrinsic.name == "cuda.laneid":
            return self.lanes.threads % _WARP
        return vectors.apply(e.intrinsic, arguments) if e.intrinsic.is_pure else None

    def _coordinate(self, axis: int, *, in_grid: bool) -> Vector:
        if in_grid and self._launch.grid[axis] > 1:
            return None  # the block is unknown
        found: Vector = vectors.coordinate(self.lanes.threads, self._launch.block, axis)
        return found

    def _access_by(self, e: ir.Apply, element: ir.ElementOf) -> None:
        is_atomic = "atomic" in e.intrinsic.name
        if e.intrinsic is address_of:
            self.argument(element)
        elif is_atomic:
            reads = not e.intrinsic.name.endswith(".exch")
            self.access(element, AccessKind.ATOMIC, reads=reads)
        else:
            self.access(element, AccessKind.READ if e.intrinsic.reads else AccessKind.WRITE)

    # ---- accesses ----

    def allocate(self, array: ir.Var) -> None:
        """Start to record the accesses to an array."""
        kind, key = array_type(array), (self.frame.name, array.name)
        shape, is_shared = kind.shape, kind.space is MemorySpace.SHARED
        if shape is None:  # the only one of dynamic shared memory, as another one may overlap
            shape = (self._launch.shared_bytes // kind.dtype.size,)
            if self.dynamic_arrays != {key}:
                return
        if key not in self.logs:
            rows = 1 if is_shared else self._thread_count
            if rows * math.prod(shape) > _MAX_ELEMENTS:
                return
            self.logs[key] = AccessLog.of(shape, rows, is_shared=is_shared)
        self.frame.arrays[array.name] = key

    def access(self, element: _ElementNode, kind: AccessKind, *, reads: bool = True) -> None:
        """Record an access of all lanes. reads: whether an atomic operation needs a value."""
        indices = [self.value(index) for index in element.indices]
        key = self.frame.arrays.get(element.array.name)
        if key is None or self.logs[key].proves_nothing:
            return
        log, lanes = self.logs[key], self.lanes
        found = self._elements(element, indices, log)
        if found is None:
            self._access_unknown_element(log, kind)
            return
        elements, in_bounds = found
        executed = lanes.may & in_bounds
        log.access(kind, elements[executed], lanes.threads[executed])
        if kind is not AccessKind.WRITE and reads:
            log.read(elements[executed])
        elif kind is AccessKind.WRITE and not element_path(element):
            certain = lanes.must & in_bounds
            if log.threads is not None:
                certain &= lanes.running  # threads that have returned write nothing for others
            log.written[elements[certain]] = True

    def _elements(
        self, element: _ElementNode, indices: list[Vector], log: AccessLog
    ) -> tuple[Numbers, Mask] | None:
        """Return the linear index of the element of each lane, and whether it is in bounds."""
        kind = array_type(element.array)
        is_linear = is_linear_index(kind, element.indices)
        shape = (math.prod(log.shape),) if is_linear else log.shape
        total = np.zeros(len(self.lanes.may), np.int64)
        in_bounds = np.ones(len(self.lanes.may), bool)
        for e, index, length in zip(element.indices, indices, shape):
            if index is None:
                return None
            if self._wraparound or isinstance(e, ir.Const):
                index = np.where(index < 0, index + length, index)
            in_bounds &= (index >= 0) & (index < length)
            total = total * length + index
        if log.threads is None:
            total += self.lanes.threads * math.prod(shape)
        return total, in_bounds

    def _access_unknown_element(self, log: AccessLog, kind: AccessKind) -> None:
        """Record an access of any element."""
        threads = np.unique(self.lanes.threads[self.lanes.may])
        if not len(threads):
            return
        size = log.size
        if log.threads is None:
            rows = np.arange(size).reshape(self._thread_count, -1)
            elements = rows[threads].ravel()
        else:
            elements = np.arange(size)
        thread = threads[0] if len(threads) == 1 else MANY_THREADS
        log.access(kind, elements, np.full(len(elements), thread))
        if kind is not AccessKind.WRITE:
            log.read(elements)

    def copy_logs(self) -> Logs:
        self._work += sum(log.size for log in self.logs.values())
        return {key: log.copy() for key, log in self.logs.items()}

    def join(self, logs: Logs) -> None:
        """Add the accesses of another path."""
        for key, log in logs.items():
            self.logs.setdefault(key, log).join(log)

    def forget_new_writes(self, before: Logs) -> None:
        """Discard the writes to arrays that only one path has allocated."""
        for key in self.logs.keys() - before.keys():
            self.logs[key].clear()


def element_path(element: _ElementNode) -> ir.Path:
    """Return the path to the field that an access touches; empty for the whole element."""
    return () if isinstance(element, ir.Load) else element.path


def _is_int64(e: ir.Const) -> bool:
    return is_integral(e.type) and -(1 << 63) <= int(e.value) < 1 << 63
