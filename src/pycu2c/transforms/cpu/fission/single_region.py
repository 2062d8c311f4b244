"""CPU: what every thread does -> what one block does, where its threads do not meet: per-thread
code stands in one ThreadLoop. ``several_loops`` does the others; what both begin with is here.
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
    """The arrays of a block are there from its beginning, wherever they are written."""
    if not isinstance(s, Allocate):
        return False
    assert isinstance(s.var.type, Array)
    return s.var.type.space in (MemorySpace.SHARED, MemorySpace.BLOCK)


def copy_assigned_parameters(kernel: Function) -> Function:
    """A parameter that the kernel assigns becomes a variable, so that no thread changes what
    the next one reads."""
    assigned = {s.var.name for s in statements(kernel.body) if isinstance(s, Assign)}
    fresh = fresh_names(kernel)
    names: dict[str, str] = {}
    copies: list[Stmt] = []
    for p in kernel.parameters:
        if p.name in assigned:
            names[p.name] = fresh(p.name)
            own = Var(names[p.name], p.type, kernel.span)
            copies.append(Declare(own, Var(p.name, p.type, kernel.span), kernel.span))
    return replace(kernel, body=(*copies, *rename_variables(kernel.body, names)))


def single_work_item_loop(kernel: Function, body: Body) -> Body:
    """No barrier: each thread runs to its end."""

    def ended(s: Stmt) -> Body:
        return (NextWorkItem(s.span),) if isinstance(s, Return) else (s,)

    body = map_stmt(body, ended)
    while body and isinstance(body[-1], NextWorkItem):
        body = body[:-1]
    return (WorkItemLoop(body, kernel.span),)
