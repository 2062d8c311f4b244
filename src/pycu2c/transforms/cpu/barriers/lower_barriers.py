"""Lower barriers and warp operations to waits with contributions (CPU).

``x = cuda.shfl_down_sync(m, v, 1)`` -> ``wait for warp m, contributing sent[thread] = v``, then ``x
= sent[thread + 1 if lane < 31 else thread]``. Each call site has its own arrays of contributions,
so no second barrier is needed before another call site writes them. Requires that each
synchronization is a statement of its own, and that block-level functions are inlined. Independent
of how threads are executed. Guarantees that no intrinsic that synchronizes remains.
"""

from __future__ import annotations

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, is_atom, scalar_type
from pycu2c.ir.walk import map_expr, map_functions, map_stmt, with_body, with_kernel_body
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.transforms.cpu.barriers.collective_ir import Collective

_SCOPES = {
    Effect.BARRIER: ir.SyncScope.BLOCK,
    Effect.CLUSTER: ir.SyncScope.CLUSTER,
    Effect.GRID: ir.SyncScope.GRID,
}


def lower_barriers(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Lower the synchronizations of the kernel."""
    module = map_functions(module, _lower_lane_functions)
    lowering = _Lowering(assumptions.max_threads, module.kernel.span)
    body = map_stmt(module.kernel.body, lowering.statement)
    return with_kernel_body(module, (*lowering.arrays, *body))


def _lower_lane_functions(function: ir.Function) -> ir.Function:
    return with_body(function, map_expr(function.body, _lower_lane_function))


def _lower_lane_function(e: ir.Expr) -> ir.Expr:
    """Lower ``cuda.laneid`` and other functions of the lane, to ``block.thread() & 31`` etc."""
    if not isinstance(e, ir.Apply) or e.intrinsic.collective is None or e.intrinsic.synchronizes:
        return e
    result_type = scalar_type(e)
    lowering = _Lowering(0, e.span)
    call = Collective({}, result_type, e.span, lowering.new_array, lowering.new_variable)
    return cast(e.intrinsic.collective(call).expr, result_type)


def _scope(intrinsic: Intrinsic) -> ir.SyncScope:
    if intrinsic.effect is not Effect.WARP:
        return _SCOPES[intrinsic.effect]
    if not intrinsic.parameters:
        return ir.SyncScope.ACTIVE
    return ir.SyncScope.WARP if intrinsic.collective else ir.SyncScope.SYNCWARP


@dataclass(slots=True)
class _Lowering:
    threads: int  # maximum threads of a block
    span: Span
    arrays: list[ir.Allocate] = field(default_factory=list)
    _count: int = 0

    def statement(self, s: ir.Stmt) -> ir.Body:
        if not isinstance(s, ir.Assign | ir.Evaluate) or not isinstance(s.value, ir.Apply):
            return (s,)
        return self.synchronization(s, s.value) if s.value.intrinsic.synchronizes else (s,)

    def synchronization(self, s: ir.Assign | ir.Evaluate, e: ir.Apply) -> ir.Body:
        self._count += 1
        prologue, arguments = self.evaluate_arguments(e)
        epilogue: list[ir.Stmt] = []
        contributions: list[ir.Contribution] = []
        if isinstance(s, ir.Assign):
            assert e.intrinsic.collective is not None
            call = Collective(arguments, scalar_type(e), s.span, self.new_array, self.new_variable)
            result = cast(e.intrinsic.collective(call).expr, scalar_type(e))
            contributions, epilogue = call.contributions, call.epilogue
            epilogue.append(ir.Assign(s.var, cast(result, scalar_type(s.var)), s.span))
        scope, mask = _scope(e.intrinsic), arguments.get("mask")
        wait = ir.BarrierWait(scope, mask, tuple(contributions), e.intrinsic, s.span)
        return (*prologue, wait, *epilogue)

    def evaluate_arguments(self, e: ir.Apply) -> tuple[list[ir.Stmt], dict[str, ir.Expr]]:
        """Return statements and arguments that can be read again after other threads have run."""
        prologue: list[ir.Stmt] = []
        arguments: dict[str, ir.Expr] = {}
        for (name, kind), value in zip(e.intrinsic.parameters, e.arguments):
            value = cast(value, WEAK_INT) if kind == "int" else value
            if not is_atom(value):
                var = self.new_variable(name, scalar_type(value))
                prologue.append(ir.Assign(var, value, value.span))
                value = var
            arguments[name] = value
        return prologue, arguments

    def new_variable(self, name: str, var_type: Scalar) -> ir.Var:
        return ir.Var(f"{name}.m{self._count}", var_type, self.span)

    def new_array(self, name: str, granularity: ir.Granularity, element: Scalar) -> ir.Var:
        """Allocate an array for the contributions of a call site.

        Arrays with an element per thread are padded to full warps.
        """
        warps = -(-self.threads // WARP)
        count = {
            ir.Granularity.THREAD: warps * WARP,
            ir.Granularity.WARP: warps,
            ir.Granularity.BLOCK: 1,
        }[granularity]
        array_type = Array(element.dtype, 1, "C", MemorySpace.BLOCK, (count,))
        var = ir.Var(f"{name}.m{self._count}", array_type, self.span)
        self.arrays.append(ir.Allocate(var, self.span))
        return var
