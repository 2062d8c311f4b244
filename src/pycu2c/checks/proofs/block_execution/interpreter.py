"""Execute a kernel for all threads of a block at once, on integers that may be unknown.

Shared memory is mostly accessed at indices that only the thread and the arguments of the launch
determine: ``part[t + half]``. So executing the integers of the kernel shows which threads access
which elements between two barriers. Where a condition is unknown, both paths are executed, and
where a number of iterations is, the loop is executed for any of them. The barriers of the kernel
must be convergent: all threads of the block pass the same ones. Reference: Cousot and Cousot,
"Abstract interpretation" (1977).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

import numpy as np

from pycu2c.analysis.effects import is_dynamic
from pycu2c.analysis.liveness import upward_exposed_reads
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.variables import assigned_names, names_in
from pycu2c.base.records import dataclass
from pycu2c.checks.proofs.block_execution.access_log import AccessKind, Numbers
from pycu2c.checks.proofs.block_execution.evaluator import (
    BLOCK_BARRIERS,
    BlockLaunch,
    Frame,
    LaneEvaluator,
    Logs,
    TooComplexError,
)
from pycu2c.checks.proofs.block_execution.vectors import Mask, Vector
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.call_graph import functions_that

_MAX_LANES = 1 << 20  # of iterations that are executed at once
_MAX_ITERATIONS = 256  # of a loop, one after the other
_MAX_DEPENDENT = 32  # the same, of a loop that reads what it writes


def logs_of_block(
    module: ir.Module,
    callees: Set[str],
    ranges: Mapping[str, Ranges],
    launch: BlockLaunch,
    wraparound: bool,
) -> Logs:
    """Return the accesses of a block to its shared and local arrays, by function and name.

    callees: the device functions with one caller; others are not executed. The result is empty if
    it would take too long.
    """
    functions = {f.name: f for f in module.device_functions if f.name in callees}
    waiting = functions_that(module.device_functions, lambda f, known: has_barrier(f.body, known))
    interpreter = _Interpreter(functions, ranges, launch, wraparound)
    interpreter.waiting = waiting
    interpreter.dynamic_arrays = {
        (f.name, s.var.name)
        for f in module.functions
        for s in walk.statements(f.body)
        if isinstance(s, ir.Allocate) and is_dynamic(s.var)
    }
    try:
        interpreter.run(module.kernel)
    except TooComplexError:
        return {}
    return interpreter.logs


def has_barrier(body: ir.Body, waiting: Set[str]) -> bool:
    """Return whether statements have a barrier, or call one of the functions ``waiting``."""
    return any(
        (isinstance(e, ir.Apply) and e.intrinsic.effect in BLOCK_BARRIERS)
        or (isinstance(e, ir.Call) and e.function in waiting)
        for e in walk.all_expressions(body)
    )


class _Interpreter(LaneEvaluator):
    """Executes the statements of a kernel.

    waiting: the functions that have barriers.
    """

    waiting: Set[str] = frozenset()
    _skips_by_jump = False  # whether the innermost loop has barriers
    _skips_by_return = False  # whether the device function has some

    def run(self, kernel: ir.Function) -> None:
        self.frame = Frame(kernel.name, self.ranges[kernel.name])
        self._body(kernel.body)

    def _body(self, body: ir.Body) -> None:
        for s in body:
            if not self.lanes.can.any():
                return
            self._statement(s)

    def _statement(self, s: ir.Stmt) -> None:
        match s:
            case ir.Allocate(var):
                self.allocate(var)
            case ir.Assign(var, value):
                self._assign(var.name, self.value(value))
            case ir.Store():
                self.value(s.value)
                self.access(s, AccessKind.WRITE)
            case ir.If():
                self._if(s)
            case ir.While():
                self._in_turn(s, lambda _: self.condition(s.condition))
            case ir.For():
                self._for(s)
            case ir.Break() | ir.Continue():
                self._jump(s)
            case ir.Return():
                self.frame.result = None if s.value is None else self.value(s.value)
                self.lanes.running = self.lanes.running & ~self.lanes.can
                self.lanes.live = self.lanes.live & ~self.lanes.sure
                self.lanes.leave()
            case _:
                for e in walk.operands(s):
                    self.value(e)

    def _assign(self, name: str, value: Vector) -> None:
        values, lanes = self.frame.values, self.lanes
        if np.any(lanes.can & ~lanes.sure):
            values[name] = None
        elif not np.any(lanes.live & ~lanes.can) or name not in values:
            values[name] = value
        else:
            values[name] = _chosen(lanes.can, value, values[name])

    def _forget(self, names: Set[str]) -> None:
        self.frame.values.update(dict.fromkeys(names))

    def _jump(self, s: ir.Break | ir.Continue) -> None:
        lanes = self.lanes
        lanes.left = lanes.left | lanes.can
        if isinstance(s, ir.Continue):
            lanes.continued = lanes.continued | lanes.can
        else:
            lanes.broken = lanes.broken | lanes.can
        lanes.leave()

    def _branch(self, body: ir.Body, can: Mask) -> _Path:
        """Execute statements for some lanes."""
        lanes, flow = self.lanes, (self.lanes.can, self.lanes.sure, self.lanes.live)
        values = self.frame.values
        self.frame.values = dict(values)
        lanes.can, lanes.sure, lanes.live = can, lanes.sure & can, can
        self._body(body)
        path = _Path(can, lanes.can, self.frame.values)
        lanes.can, lanes.sure, lanes.live = flow
        self.frame.values = values
        return path

    def _waits(self, s: ir.Stmt) -> bool:
        return has_barrier((s,), self.waiting)

    def _if(self, s: ir.If) -> None:
        lanes = self.lanes
        holds, is_sure = self.condition(s.condition)
        is_known = np.array_equal(holds, is_sure)
        if not is_known and self._leaves(s):
            raise TooComplexError  # the path past them meets the other one after them
        fails, before = lanes.can & ~holds, self.copied_logs()
        then = self._branch(s.then, holds)
        writes, logs = {key: log.writes for key, log in self.logs.items()}, self.logs
        if self._waits(s) and not is_known:  # the threads agree
            self.logs = {key: log.copy() for key, log in before.items()}
        for key, log in before.items():
            self.logs[key].writes = log.writes.copy()
        orelse = self._branch(s.orelse, lanes.can & ~is_sure)
        if self.logs is not logs:
            self.join(logs)
        for key, log in before.items():
            both = writes[key], self.logs[key].writes
            self.logs[key].writes = log.writes.joined(*both, is_sure, fails)
        self.forget_new_writes(before)
        self._join_values(then, orelse)
        lanes.can, lanes.sure = then.end | orelse.end, lanes.sure & ~lanes.left

    def _leaves(self, s: ir.If) -> bool:
        """Return whether a branch may go past barriers of the loop or the function."""
        jumps = [jump for body in walk.bodies(s) for jump in walk.loop_jumps(body)]
        returns = self._skips_by_return and walk.contains((s,), ir.Return)
        return returns or (self._skips_by_jump and bool(jumps))

    def _join_values(self, then: _Path, orelse: _Path) -> None:
        """Set the variables that a path assigns."""
        values, either = self.frame.values, then.lanes & orelse.lanes
        for name in then.values.keys() | orelse.values.keys():
            a, b = then.values.get(name), orelse.values.get(name)
            if name not in orelse.values or not orelse.lanes.any():
                values[name] = a
            elif a is b or name not in then.values or not then.lanes.any():
                values[name] = b
            elif a is None or b is None or np.any((a != b) & either):
                values[name] = None
            else:
                values[name] = np.where(then.lanes, a, b)

    # ---- loops ----

    def _for(self, s: ir.For) -> None:
        found = self._iterations(self.value(s.start), self.value(s.stop), self.value(s.step))
        if found is None:
            self._repeat(s)
            return
        count = int(found.counts.max(initial=0))
        depends = count <= _MAX_DEPENDENT and self._reads_what_it_writes(s.body)
        if self._waits(s) or depends or walk.contains(s.body, ir.Break | ir.Return):
            self._in_turn(s, lambda k: self._enter(s.var.name, found, k))
            self._forget({s.var.name})  # lanes may have left the loop at different times
        elif not self._at_once(s, found):
            self._repeat(s)

    def _iterations(self, start: Vector, stop: Vector, step: Vector) -> _Iterations | None:
        if start is None or stop is None or step is None or np.any(step == 0):
            return None
        can = self.lanes.can
        distance = np.where(step > 0, stop - start, start - stop)
        counts = np.where(can, np.maximum(-(-distance // np.abs(step)), 0), 0)
        first, by = (np.broadcast_to(a, can.shape) for a in (start, step))
        return _Iterations(first, by, counts)

    def _enter(self, name: str, iterations: _Iterations, k: int) -> tuple[Mask, Mask]:
        """Assign the value of iteration ``k``; return the lanes that have one, twice."""
        self.frame.values[name] = iterations.start + k * iterations.step
        lanes = self.lanes.can & (k < iterations.counts)
        return lanes, lanes

    def _reads_what_it_writes(self, body: ir.Body) -> bool:
        written = {s.array.name for s in walk.statements(body) if isinstance(s, ir.Store)}
        read = {e.array.name for e in walk.all_expressions(body) if isinstance(e, ir.Load)}
        return not (written & read).isdisjoint(self.frame.arrays)

    def _in_turn(self, s: ir.While | ir.For, enter: Callable[[int], tuple[Mask, Mask]]) -> None:
        """Execute iterations one after the other, while it is known which lanes have them.

        enter: returns the lanes that may have an iteration, and those that do.
        """
        lanes, leave = self.lanes, self._enter_loop(s)
        none, sure = np.zeros_like(lanes.can), lanes.sure
        for k in range(_MAX_ITERATIONS):
            lanes.left = lanes.continued = lanes.broken = none
            holds, is_sure = enter(k)
            if not holds.any():
                break
            if not np.array_equal(holds, is_sure):
                self._repeat(s)
                break
            lanes.can, lanes.sure = holds, lanes.sure & holds
            self._body(s.body)
            lanes.can = lanes.can | lanes.continued
            sure = sure & ~lanes.broken
            lanes.sure = sure & lanes.can
        else:
            self._repeat(s)
        leave()

    def _repeat(self, s: ir.While | ir.For) -> None:
        """Execute any number of iterations, which may be any ones."""
        lanes, leave = self.lanes, self._enter_loop(s)
        names = assigned_names(s.body) | ({s.var.name} if isinstance(s, ir.For) else set())
        before, waits = self.copied_logs(), self._waits(s)
        for _ in range(2 if waits else 1):
            self._forget(names)
            self._evaluate_condition(s)
            self._branch(s.body, lanes.can)
        self._forget(names)
        self._evaluate_condition(s)
        for key, log in before.items():
            self.logs[key].writes = log.writes
        self.forget_new_writes(before)
        if waits:
            self.join(before)
        leave()

    def _enter_loop(self, s: ir.While | ir.For) -> Callable[[], None]:
        """Enter a loop; return what leaves it."""
        lanes, skips_by_jump = self.lanes, self._skips_by_jump
        outer = lanes.can, lanes.sure, lanes.left, lanes.continued, lanes.broken
        self._skips_by_jump = self._waits(s)

        def leave() -> None:
            lanes.can, lanes.sure, lanes.left, lanes.continued, lanes.broken = outer
            self._skips_by_jump = skips_by_jump

        return leave

    def _evaluate_condition(self, s: ir.While | ir.For) -> None:
        if isinstance(s, ir.While):
            self.condition(s.condition)

    def _at_once(self, s: ir.For, iterations: _Iterations) -> bool:
        """Execute all iterations at once, each as a lane; return whether there are few enough."""
        counts, total = iterations.counts, int(iterations.counts.sum())
        unit = self.lanes.unit // (int(counts.max(initial=0)) + 2)
        if total > _MAX_LANES or unit == 0:
            return False
        outer, values, before = self.lanes, self.frame.values, self.copied_logs()
        lane = np.repeat(np.arange(len(counts)), counts)
        number = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        assigned = assigned_names(s.body)
        used = {name for e in walk.all_expressions(s.body) for name in names_in(e)}
        kept = used - (assigned & upward_exposed_reads(s.body))
        self.lanes = outer.iterations(lane, number, unit)
        self.frame.values = {n: _of_lanes(values[n], lane) for n in kept & values.keys()}
        self._forget(used & values.keys() - kept)
        self.frame.values[s.var.name] = iterations.start[lane] + number * iterations.step[lane]
        for log in self.logs.values():
            log.writes = log.writes.of_iterations()
        self._body(s.body)
        self.lanes, self.frame.values = outer, values
        self._forget(assigned | {s.var.name})
        is_outermost = not outer.times.any()
        for key, log in before.items():
            inner = self.logs[key]
            inner.writes = log.writes.after_iterations(inner.writes, lane, is_outermost)
        self.forget_new_writes(before)
        return True

    # ---- calls ----

    def call(self, e: ir.Call) -> Vector:
        function = self.functions.get(e.function)
        if function is None or function.external_code is not None:
            if e.function in self.waiting:
                raise TooComplexError
            for argument in e.arguments:
                self.argument(argument)
            return None
        frame = Frame(function.name, self.ranges[function.name])
        for p, argument in zip(function.parameters, e.arguments):
            if isinstance(argument, ir.Var) and argument.name in self.frame.arrays:
                frame.arrays[p.name] = self.frame.arrays[argument.name]
            else:
                frame.values[p.name] = self.argument(argument)
        return self._result(function, frame)

    def _result(self, function: ir.Function, frame: Frame) -> Vector:
        returns = [s for s in walk.statements(function.body) if isinstance(s, ir.Return)]
        for s in walk.statements(function.body):
            if isinstance(s, ir.Allocate) and (frame.name, s.var.name) in self.logs:
                self.logs[frame.name, s.var.name].clear(self.lanes.times)
        lanes, caller, skips_by_return = self.lanes, self.frame, self._skips_by_return
        flow = lanes.can, lanes.sure, lanes.running
        self.frame, self._skips_by_return = frame, function.name in self.waiting
        self._body(function.body)
        self.frame, self._skips_by_return = caller, skips_by_return
        lanes.can, lanes.sure, lanes.running = flow
        is_simple = len(returns) == 1 and returns[0] is function.body[-1]
        return frame.result if is_simple else None


@dataclass(frozen=True, slots=True)
class _Path:
    """Statements that were executed for some lanes: those that may reach the end, and variables."""

    lanes: Mask
    end: Mask
    values: dict[str, Vector]


@dataclass(frozen=True, slots=True)
class _Iterations:
    """The iterations of a ``for`` loop, for each lane."""

    start: Numbers
    step: Numbers
    counts: Numbers


def _chosen(condition: Mask, a: Vector, b: Vector) -> Vector:
    return None if a is None or b is None else np.where(condition, a, b)


def _of_lanes(value: Vector, lanes: Numbers) -> Vector:
    return value if value is None or value.ndim == 0 else value[lanes]
