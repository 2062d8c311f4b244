"""Lower barriers and warp operations to waits with contributions (CPU).

``x = cuda.shfl_down_sync(m, v, 1)`` -> ``wait for warp m, contributing sent[thread] = v``, then ``x
= sent[thread + 1 if lane < 31 else thread]``. Each call site has its own arrays, so no thread waits
until the others have read them. Requires that each synchronization is a statement of its own, and
that block-level functions are inlined. Independent of how threads are executed.
"""

from __future__ import annotations

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace, Scalar
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Assign,
    BarrierWait,
    Body,
    Cast,
    Const,
    Contribution,
    Evaluate,
    Expr,
    Function,
    Granularity,
    Module,
    Stmt,
    SyncScope,
    Var,
)
from pycu2c.ir.walk import map_expr, map_functions, map_stmt
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.transforms.cpu.barriers.lower_warp_operations import (
    RESULTS,
    WARP_SIZE,
    SyncLowering,
    lower_warp_coordinates,
)

_SCOPES = {
    Effect.BARRIER: SyncScope.BLOCK,
    Effect.CLUSTER: SyncScope.CLUSTER,
    Effect.GRID: SyncScope.GRID,
    Effect.WARP: SyncScope.WARP,
}
_SCOPES_BY_NAME = {"cuda.syncwarp": SyncScope.SYNCWARP, "cuda.activemask": SyncScope.ACTIVE}


def lower_barriers(module: Module, assumptions: LaunchAssumptions) -> Module:
    """Lower the synchronizations of the kernel."""
    module = map_functions(module, _lower_coordinates)
    lowering = _Lowering(assumptions.threads, module.kernel.span)
    body = map_stmt(module.kernel.body, lowering.statement)
    return replace(module, kernel=replace(module.kernel, body=(*lowering.arrays, *body)))


def _lower_coordinates(function: Function) -> Function:
    return replace(function, body=map_expr(function.body, lower_warp_coordinates))


@dataclass(slots=True)
class _Lowering:
    threads: int  # maximum threads of a block
    span: Span
    arrays: list[Allocate] = field(default_factory=list)
    _count: int = 0

    def statement(self, s: Stmt) -> Body:
        if not isinstance(s, Assign | Evaluate) or not isinstance(s.value, Apply):
            return (s,)
        return self.synchronization(s, s.value) if s.value.intrinsic.synchronizes else (s,)

    def synchronization(self, s: Assign | Evaluate, e: Apply) -> Body:
        self._count += 1
        before, arguments = self.evaluate_arguments(e)
        after: list[Stmt] = []
        contributions: list[Contribution] = []
        if isinstance(s, Assign):
            sync = SyncLowering(
                arguments, scalar_type(e), s.span, self.new_array, self.new_variable
            )
            result = RESULTS[e.intrinsic.name](sync)
            contributions, after = sync.contributions, sync.after
            after.append(Assign(s.var, cast(result, scalar_type(s.var)), s.span))
        scope = _SCOPES_BY_NAME.get(e.intrinsic.name, _SCOPES[e.intrinsic.effect])
        mask = arguments[0] if scope in (SyncScope.WARP, SyncScope.SYNCWARP) else None
        return (
            *before,
            BarrierWait(scope, mask, tuple(contributions), e.intrinsic, s.span),
            *after,
        )

    def evaluate_arguments(self, e: Apply) -> tuple[list[Stmt], list[Expr]]:
        """Return statements and arguments that can be read again after other threads have run."""
        before: list[Stmt] = []
        arguments: list[Expr] = []
        for (name, kind), value in zip(e.intrinsic.parameters, e.arguments):
            value = cast(value, WEAK_INT) if kind == "int" else value
            if not _is_rematerializable(value):
                var = self.new_variable(name, scalar_type(value))
                before.append(Assign(var, value, value.span))
                value = var
            arguments.append(value)
        return before, arguments

    def new_variable(self, name: str, kind: Scalar) -> Var:
        return Var(f"{name}.m{self._count}", kind, self.span)

    def new_array(self, name: str, per: Granularity, element: Scalar) -> Var:
        """Allocate an array for the contributions of a call site.

        Arrays with an element per thread are padded to full warps.
        """
        warps = -(-self.threads // WARP_SIZE)
        count = {
            Granularity.THREAD: warps * WARP_SIZE,
            Granularity.WARP: warps,
            Granularity.BLOCK: 1,
        }[per]
        kind = Array(element.dtype, 1, "C", MemorySpace.BLOCK, (count,))
        var = Var(f"{name}.m{self._count}", kind, self.span)
        self.arrays.append(Allocate(var, self.span))
        return var


def _is_rematerializable(e: Expr) -> bool:
    """Return whether recomputing a value is cheap and gives the same result."""
    if isinstance(e, Cast):
        return _is_rematerializable(e.operand)
    return isinstance(e, Const | Var) or (isinstance(e, Apply) and e.intrinsic.is_attribute)
