"""Lower a kernel without barriers to one work-item loop (CPU).

``work_item_loops`` lowers other kernels; steps common to both are defined here.
"""

from __future__ import annotations

from pycu2c.analysis.variables import assigned_names, fresh_names
from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_stmt
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables


def is_block_array(s: ir.Stmt) -> bool:
    """Return whether a statement allocates an array of the block, in any position."""
    if not isinstance(s, ir.Allocate):
        return False
    assert isinstance(s.var.type, Array)
    return s.var.type.space in (MemorySpace.SHARED, MemorySpace.BLOCK)


def copy_assigned_parameters(kernel: ir.Function) -> ir.Function:
    """Copy parameters that the kernel assigns, so that threads do not share changes."""
    assigned = assigned_names(kernel.body)
    fresh = fresh_names(kernel)
    names: dict[str, str] = {}
    declarations: list[ir.Stmt] = []
    for p in kernel.parameters:
        if p.name in assigned:
            names[p.name] = fresh(p.name)
            copy = ir.Var(names[p.name], p.type, kernel.span)
            declarations.append(ir.Declare(copy, ir.Var(p.name, p.type, kernel.span), kernel.span))
    return replace(kernel, body=(*declarations, *rename_variables(kernel.body, names)))


def single_work_item_loop(kernel: ir.Function, body: ir.Body) -> ir.Body:
    """Return one work-item loop: without barriers each thread runs to its end."""

    def replace_return(s: ir.Stmt) -> ir.Body:
        return (ir.NextWorkItem(s.span),) if isinstance(s, ir.Return) else (s,)

    body = map_stmt(body, replace_return)
    while body and isinstance(body[-1], ir.NextWorkItem):
        body = body[:-1]
    return (ir.WorkItemLoop(body, kernel.span),)
