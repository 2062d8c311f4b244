"""Lower a kernel without barriers to one work-item loop (CPU).

``work_item_loops`` lowers other kernels; steps common to both are defined here.
"""

from __future__ import annotations

from pycu2c.analysis.live_across_barriers import fresh_names
from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Declare,
    Function,
    NextWorkItem,
    Return,
    Stmt,
    Var,
    WorkItemLoop,
)
from pycu2c.ir.walk import map_stmt, statements
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables


def is_block_array(s: Stmt) -> bool:
    """Return whether a statement allocates an array of the block, in any position."""
    if not isinstance(s, Allocate):
        return False
    assert isinstance(s.var.type, Array)
    return s.var.type.space in (MemorySpace.SHARED, MemorySpace.BLOCK)


def copy_assigned_parameters(kernel: Function) -> Function:
    """Copy parameters that the kernel assigns, so that threads do not share changes."""
    assigned = {s.var.name for s in statements(kernel.body) if isinstance(s, Assign)}
    fresh = fresh_names(kernel)
    names: dict[str, str] = {}
    declarations: list[Stmt] = []
    for p in kernel.parameters:
        if p.name in assigned:
            names[p.name] = fresh(p.name)
            copy = Var(names[p.name], p.type, kernel.span)
            declarations.append(Declare(copy, Var(p.name, p.type, kernel.span), kernel.span))
    return replace(kernel, body=(*declarations, *rename_variables(kernel.body, names)))


def single_work_item_loop(kernel: Function, body: Body) -> Body:
    """Return one work-item loop: without barriers each thread runs to its end."""

    def replace_return(s: Stmt) -> Body:
        return (NextWorkItem(s.span),) if isinstance(s, Return) else (s,)

    body = map_stmt(body, replace_return)
    while body and isinstance(body[-1], NextWorkItem):
        body = body[:-1]
    return (WorkItemLoop(body, kernel.span),)
