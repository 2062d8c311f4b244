"""Where threads meet becomes a Wait, and plain code around it: CPU only.

``cuda.syncthreads()`` -> ``wait for block``. Takes kernels in which each meeting is a statement
of its own. Knows nothing of how threads are run.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pycu2c.intrinsics.registry import Effect
from pycu2c.ir.nodes import Allocate, Apply, Assign, Body, Evaluate, Meeting, Module, Stmt, Wait
from pycu2c.ir.walk import map_stmt
from pycu2c.types import Scalar

_WHOM = {Effect.BARRIER: Meeting.BLOCK, Effect.GRID: Meeting.GRID}


def meet(module: Module) -> Module:
    """The kernel with Waits. Device functions in which threads meet are part of it by now."""
    lowering = _Lowering()
    body = map_stmt(module.kernel.body, lowering.statement)
    return replace(module, kernel=replace(module.kernel, body=(*lowering.slots, *body)))


@dataclass(slots=True)
class _Lowering:
    slots: list[Allocate] = field(default_factory=list)

    def statement(self, s: Stmt) -> Body:
        if not isinstance(s, Assign | Evaluate) or not isinstance(s.value, Apply):
            return (s,)
        if not s.value.intrinsic.meets:
            return (s,)
        return self.meeting(s.value, s)

    def meeting(self, e: Apply, s: Assign | Evaluate) -> Body:
        assert not isinstance(e.type, Scalar)
        return (Wait(_WHOM[e.intrinsic.effect], None, (), e.intrinsic, s.span),)
