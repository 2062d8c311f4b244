"""CPU: where threads meet becomes a Wait, and plain code around it.

``x = cuda.shfl_down_sync(m, v, 1)`` -> ``wait for warp m, giving sent[thread] = v``, and then
``x = sent[thread + 1 if lane < 31 else thread]``. What threads give has elements of its own for
each place where they meet, so that nobody has to wait until the others have read it.

Takes kernels in which each meeting is a statement of its own. Knows nothing of how threads run.
"""

from __future__ import annotations

from pycu2c.analysis.launch_assumptions import Facts
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
from pycu2c.transforms.cpu.barriers.lower_warp_operations import LANES, RESULTS, Met, places

_WHOM = {
    Effect.BARRIER: SyncScope.BLOCK,
    Effect.CLUSTER: SyncScope.CLUSTER,
    Effect.GRID: SyncScope.GRID,
    Effect.WARP: SyncScope.WARP,
}
_OTHERWISE = {"cuda.syncwarp": SyncScope.SYNCWARP, "cuda.activemask": SyncScope.ACTIVE}


def meet(module: Module, facts: Facts) -> Module:
    """The kernel with Waits. Device functions in which threads meet are part of it by now."""
    module = map_functions(module, _with_places)
    lowering = _Lowering(facts.threads, module.kernel.span)
    body = map_stmt(module.kernel.body, lowering.statement)
    return replace(module, kernel=replace(module.kernel, body=(*lowering.arrays, *body)))


def _with_places(function: Function) -> Function:
    return replace(function, body=map_expr(function.body, places))


@dataclass(slots=True)
class _Lowering:
    threads: int  # of a block, at most
    span: Span
    arrays: list[Allocate] = field(default_factory=list)
    _count: int = 0

    def statement(self, s: Stmt) -> Body:
        if not isinstance(s, Assign | Evaluate) or not isinstance(s.value, Apply):
            return (s,)
        return self.meeting(s, s.value) if s.value.intrinsic.synchronizes else (s,)

    def meeting(self, s: Assign | Evaluate, e: Apply) -> Body:
        self._count += 1
        before, arguments = self.kept(e)
        after: list[Stmt] = []
        contributions: list[Contribution] = []
        if isinstance(s, Assign):
            met = Met(arguments, scalar_type(e), s.span, self.array, self.fresh)
            result = RESULTS[e.intrinsic.name](met)
            contributions, after = met.contributions, met.after
            after.append(Assign(s.var, cast(result, scalar_type(s.var)), s.span))
        whom = _OTHERWISE.get(e.intrinsic.name, _WHOM[e.intrinsic.effect])
        mask = arguments[0] if whom in (SyncScope.WARP, SyncScope.SYNCWARP) else None
        return (*before, BarrierWait(whom, mask, tuple(contributions), e.intrinsic, s.span), *after)

    def kept(self, e: Apply) -> tuple[list[Stmt], list[Expr]]:
        """Arguments that can be read again after the others have run."""
        before: list[Stmt] = []
        arguments: list[Expr] = []
        for (name, kind), value in zip(e.intrinsic.parameters, e.arguments):
            value = cast(value, WEAK_INT) if kind == "int" else value
            if not _is_steady(value):
                var = self.fresh(name, scalar_type(value))
                before.append(Assign(var, value, value.span))
                value = var
            arguments.append(value)
        return before, arguments

    def fresh(self, name: str, kind: Scalar) -> Var:
        return Var(f"{name}.m{self._count}", kind, self.span)

    def array(self, name: str, per: Granularity, element: Scalar) -> Var:
        """Elements for what is given at one place; those of a warp are there for all its lanes."""
        warps = -(-self.threads // LANES)
        count = {Granularity.THREAD: warps * LANES, Granularity.WARP: warps, Granularity.BLOCK: 1}[
            per
        ]
        kind = Array(element.dtype, 1, "C", MemorySpace.BLOCK, (count,))
        var = Var(f"{name}.m{self._count}", kind, self.span)
        self.arrays.append(Allocate(var, self.span))
        return var


def _is_steady(e: Expr) -> bool:
    """Whether a value is as cheap to compute again, and the same then."""
    if isinstance(e, Cast):
        return _is_steady(e.operand)
    return isinstance(e, Const | Var) or (isinstance(e, Apply) and e.intrinsic.is_attribute)
