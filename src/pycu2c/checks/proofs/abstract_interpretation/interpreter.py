"""Interpret a kernel for all threads of a block at once, on integers that may be unknown.

Most indices of shared memory depend only on the thread and the arguments of the launch:
``part[t + half]``. The interpreter computes which threads access which elements between two
barriers. If a condition is unknown, it executes both paths. If the number of iterations is
unknown, it executes the body with unknown variables. Requires convergent barriers. Source: Cousot
and Cousot, "Abstract interpretation" (1977).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

import numpy as np

from pycu2c.analysis.effects import is_dynamic
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.variables import assigned_names
from pycu2c.analysis.vectors import Mask, Vector
from pycu2c.base.records import dataclass
from pycu2c.checks.proofs.abstract_interpretation.access_log import AccessKind, Numbers
from pycu2c.checks.proofs.abstract_interpretation.evaluator import (
    BLOCK_BARRIERS,
    BlockLaunch,
    Frame,
    LaneEvaluator,
    Logs,
    TooComplexError,
)
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.call_graph import functions_that

_MAX_ITERATIONS = 256  # of a loop that stores or has barriers
_MAX_READING_ITERATIONS = 32  # of another one


def interpret_block(
    module: ir.Module,
    callees: Set[str],
    ranges: Mapping[str, Ranges],
    launch: BlockLaunch,
    wraparound: bool,
) -> Logs:
    """Return the accesses of a block to its shared and local arrays, by function and name.

    callees: the device functions with one caller; others are not executed. The result is empty if
    the execution would take too long.
    """
    functions = {f.name: f for f in module.device_functions if f.name in callees}
    interpreter = _Interpreter(functions, ranges, launch, wraparound)
    interpreter.barrier_functions = functions_that(
        module.device_functions, lambda f, found: has_barrier(f.body, found)
    )
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


def has_barrier(body: ir.Body, barrier_functions: Set[str]) -> bool:
    """Return whether statements have a barrier, or call a function that has one."""
    return any(
        (isinstance(e, ir.Apply) and e.intrinsic.effect in BLOCK_BARRIERS)
        or (isinstance(e, ir.Call) and e.function in barrier_functions)
        for e in walk.all_expressions(body)
    )


class _Interpreter(LaneEvaluator):
    """Executes the statements of a kernel.

    barrier_functions: the device functions that have barriers.
    """

    barrier_functions: Set[str] = frozenset()
    _loop_has_barrier = False  # the innermost loop
    _function_has_barrier = False  # the device function that is executed

    def run(self, kernel: ir.Function) -> None:
        self.frame = Frame(kernel.name, self.ranges[kernel.name])
        self._body(kernel.body)

    def _body(self, body: ir.Body) -> None:
        for s in body:
            if not self.lanes.may.any():
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
                self._iterate(s, lambda _: self.condition(s.condition))
            case ir.For():
                self._for(s)
            case ir.Break() | ir.Continue():
                self._jump(s)
            case ir.Return():
                self.frame.result = None if s.value is None else self.value(s.value)
                self.lanes.running = self.lanes.running & ~self.lanes.may
                self.lanes.live = self.lanes.live & ~self.lanes.must
                self.lanes.deactivate()
            case _:
                for e in walk.operands(s):
                    self.value(e)

    def _assign(self, name: str, value: Vector) -> None:
        values, lanes = self.frame.values, self.lanes
        if np.any(lanes.may & ~lanes.must):
            values[name] = None
        elif not np.any(lanes.live & ~lanes.may) or name not in values:
            values[name] = value
        else:
            values[name] = _blend(lanes.may, value, values[name])

    def _havoc(self, names: Set[str]) -> None:
        """Make variables unknown."""
        self.frame.values.update(dict.fromkeys(names))

    def _jump(self, s: ir.Break | ir.Continue) -> None:
        lanes = self.lanes
        if isinstance(s, ir.Continue):
            lanes.continued = lanes.continued | lanes.may
        else:
            lanes.broken = lanes.broken | lanes.may
        lanes.deactivate()

    def _branch(self, body: ir.Body, may: Mask) -> _Path:
        """Execute statements for some lanes."""
        lanes, flow = self.lanes, (self.lanes.may, self.lanes.must, self.lanes.live)
        values = self.frame.values
        self.frame.values = dict(values)
        lanes.may, lanes.must, lanes.live = may, lanes.must & may, may
        self._body(body)
        path = _Path(may, lanes.may, self.frame.values)
        lanes.may, lanes.must, lanes.live = flow
        self.frame.values = values
        return path

    def _has_barrier(self, s: ir.Stmt) -> bool:
        return has_barrier((s,), self.barrier_functions)

    def _if(self, s: ir.If) -> None:
        lanes = self.lanes
        may_hold, must_hold = self.condition(s.condition)
        is_known = np.array_equal(may_hold, must_hold)
        if not is_known and self._may_skip_barrier(s):
            raise TooComplexError  # one path skips barriers of the other
        before = self.copy_logs()
        then = self._branch(s.then, may_hold)
        written, logs = {key: log.written for key, log in self.logs.items()}, self.logs
        if self._has_barrier(s) and not is_known:  # the threads agree
            self.logs = {key: log.copy() for key, log in before.items()}
        for key, log in before.items():
            self.logs[key].written = log.written.copy()
        orelse = self._branch(s.orelse, lanes.may & ~must_hold)
        if self.logs is not logs:
            self.join(logs)
        for key in before:
            both = written[key], self.logs[key].written
            self.logs[key].written = both[0] | both[1] if is_known else both[0] & both[1]
        self.forget_new_writes(before)
        self._join_values(then, orelse)
        lanes.may, lanes.must = (
            then.end | orelse.end,
            lanes.must & ~(lanes.continued | lanes.broken),
        )

    def _may_skip_barrier(self, s: ir.If) -> bool:
        """Return whether a branch may skip barriers of the loop or the function."""
        jumps = [jump for body in walk.bodies(s) for jump in walk.loop_jumps(body)]
        returns = self._function_has_barrier and walk.contains((s,), ir.Return)
        return returns or (self._loop_has_barrier and bool(jumps))

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
            self._over_approximate(s)
            return
        self._iterate(s, lambda k: self._start_iteration(s.var.name, found, k))
        self._havoc({s.var.name})  # lanes may have left the loop in different iterations

    def _iterations(self, start: Vector, stop: Vector, step: Vector) -> _Iterations | None:
        if start is None or stop is None or step is None or np.any(step == 0):
            return None
        may = self.lanes.may
        distance = np.where(step > 0, stop - start, start - stop)
        counts = np.where(may, np.maximum(-(-distance // np.abs(step)), 0), 0)
        first, by = (np.broadcast_to(a, may.shape) for a in (start, step))
        return _Iterations(first, by, counts)

    def _start_iteration(self, name: str, iterations: _Iterations, k: int) -> tuple[Mask, Mask]:
        """Assign the value of iteration ``k``; return the lanes that have one, twice."""
        self.frame.values[name] = iterations.start + k * iterations.step
        lanes = self.lanes.may & (k < iterations.counts)
        return lanes, lanes

    def _iterate(self, s: ir.While | ir.For, enter: Callable[[int], tuple[Mask, Mask]]) -> None:
        """Execute iterations in order, as long as it is known which lanes have them.

        enter: returns the lanes that may have an iteration, and those that must.
        """
        lanes, exit_loop = self.lanes, self._enter_loop(s)
        none, must = np.zeros_like(lanes.may), lanes.must
        has_effects = walk.contains(s.body, ir.Store) or self._has_barrier(s)
        for k in range(_MAX_ITERATIONS if has_effects else _MAX_READING_ITERATIONS):
            lanes.continued = lanes.broken = none
            may_hold, must_hold = enter(k)
            if not may_hold.any():
                break
            if self.is_expensive or not np.array_equal(may_hold, must_hold):
                self._over_approximate(s)
                break
            lanes.may, lanes.must = may_hold, lanes.must & may_hold
            self._body(s.body)
            lanes.may = lanes.may | lanes.continued
            must = must & ~lanes.broken
            lanes.must = must & lanes.may
        else:
            self._over_approximate(s)
        exit_loop()

    def _over_approximate(self, s: ir.While | ir.For) -> None:
        """Execute an unknown number of iterations, with unknown variables."""
        lanes, exit_loop = self.lanes, self._enter_loop(s)
        names = assigned_names(s.body) | ({s.var.name} if isinstance(s, ir.For) else set())
        before, has_barriers = self.copy_logs(), self._has_barrier(s)
        for _ in range(2 if has_barriers else 1):
            self._havoc(names)
            self._evaluate_condition(s)
            self._branch(s.body, lanes.may)
        self._havoc(names)
        self._evaluate_condition(s)
        for key, log in before.items():
            self.logs[key].written = log.written
        self.forget_new_writes(before)
        if has_barriers:
            self.join(before)
        exit_loop()

    def _enter_loop(self, s: ir.While | ir.For) -> Callable[[], None]:
        """Save the masks of the lanes before a loop; return the function that restores them."""
        lanes, loop_has_barrier = self.lanes, self._loop_has_barrier
        outer = lanes.may, lanes.must, lanes.continued, lanes.broken
        self._loop_has_barrier = self._has_barrier(s)

        def exit_loop() -> None:
            lanes.may, lanes.must, lanes.continued, lanes.broken = outer
            self._loop_has_barrier = loop_has_barrier

        return exit_loop

    def _evaluate_condition(self, s: ir.While | ir.For) -> None:
        if isinstance(s, ir.While):
            self.condition(s.condition)

    # ---- calls ----

    def call(self, e: ir.Call) -> Vector:
        function = self.functions.get(e.function)
        if function is None or function.external_code is not None:
            if e.function in self.barrier_functions:
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
                self.logs[frame.name, s.var.name].clear()
        lanes, caller, function_has_barrier = self.lanes, self.frame, self._function_has_barrier
        flow = lanes.may, lanes.must, lanes.running
        self.frame, self._function_has_barrier = frame, function.name in self.barrier_functions
        self._body(function.body)
        self.frame, self._function_has_barrier = caller, function_has_barrier
        lanes.may, lanes.must, lanes.running = flow
        is_simple = len(returns) == 1 and returns[0] is function.body[-1]
        return frame.result if is_simple else None


@dataclass(frozen=True, slots=True)
class _Path:
    """A path that was executed for some lanes.

    end: the lanes that may reach its end. values: of the variables.
    """

    lanes: Mask
    end: Mask
    values: dict[str, Vector]


@dataclass(frozen=True, slots=True)
class _Iterations:
    """The iterations of a ``for`` loop, for each lane."""

    start: Numbers
    step: Numbers
    counts: Numbers


def _blend(condition: Mask, a: Vector, b: Vector) -> Vector:
    return None if a is None or b is None else np.where(condition, a, b)
