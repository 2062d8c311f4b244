"""Lower a kernel to a coroutine per thread: resumable state machines that a scheduler runs (CPU).

Correct for all kernels, and slower than work-item loops. A busy-wait loop yields at the end of each
iteration so that other threads make progress: ``while atomic.cas(…): pass`` -> ``while
atomic.cas(…): yield``. A loop that accesses other elements in each iteration, such as the insertion
into a hash table or a look-back, hardly waits, and yields after some iterations. All calls of the
same warp operation share their contribution arrays: threads that synchronize may be at different
calls. Each thread reads its results before its next wait. Requires the form DECLARED
(``ir/forms.py``) with barriers lowered to waits. Guarantees one CoroutineLoop, which contains all
waits. Uses ``analysis.busy_wait``. Reference: Conway, "Design of a separable transition-diagram
compiler" (1963).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from pycu2c.analysis.busy_wait import is_busy_wait, polled_arrays
from pycu2c.analysis.effects import any_effect, reads_memory
from pycu2c.analysis.suspension_points import suspension_points_in
from pycu2c.base.records import replace
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, const
from pycu2c.ir.walk import (
    all_expressions,
    expressions,
    map_bodies,
    map_stmt,
    statements,
    with_kernel_body,
)
from pycu2c.ops.operators import ADD, GE
from pycu2c.transforms.cpu.fission.work_item_loops import copy_assigned_parameters, is_block_array
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

_MAX_SEARCH_ITERATIONS = 16  # before other threads run; a search of a hash table takes fewer


def lower_to_coroutines(module: ir.Module) -> ir.Module:
    """Return the kernel as shared arrays of the block, then the coroutine of a thread."""
    kernel = copy_assigned_parameters(module.kernel)
    merged_names = _merged_array_names(kernel.body)
    shared: list[ir.Stmt] = []
    loop_numbers = count(1)

    def transform(s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Allocate) and is_block_array(s):
            if s.var.name not in merged_names:
                shared.append(s)
            return ()
        if isinstance(s, ir.BarrierWait):
            return (
                replace(
                    s,
                    contributions=tuple(
                        _rename(contribution, merged_names) for contribution in s.contributions
                    ),
                ),
            )
        if isinstance(s, ir.For | ir.While) and is_busy_wait(s):
            return _yielding_loop(s, next(loop_numbers))
        return (s,)

    body = rename_variables(map_stmt(kernel.body, transform), merged_names)
    body = (*shared, ir.CoroutineLoop(body, kernel.span))
    return with_kernel_body(module, body)


def _merged_array_names(body: ir.Body) -> dict[str, str]:
    """Map contribution arrays to those of the first wait with this intrinsic and array types."""
    first_contributions: dict[object, tuple[ir.Contribution, ...]] = {}
    merged_names: dict[str, str] = {}
    for wait in suspension_points_in(body):
        key = (
            wait.intrinsic,
            tuple(
                (contribution.granularity, contribution.array.type)
                for contribution in wait.contributions
            ),
        )
        for contribution, first_contribution in zip(
            wait.contributions, first_contributions.setdefault(key, wait.contributions)
        ):
            if contribution is not first_contribution:
                merged_names[contribution.array.name] = first_contribution.array.name
    return merged_names


def _rename(contribution: ir.Contribution, merged_names: Mapping[str, str]) -> ir.Contribution:
    name = merged_names.get(contribution.array.name, contribution.array.name)
    return replace(contribution, array=replace(contribution.array, name=name))


# ---- busy-wait loops ---------------------------------------------------------------------------


def _yielding_loop(loop: ir.For | ir.While, number: int) -> ir.Body:
    """Return a loop that yields: in each iteration, or after some that search other places."""
    yielding: ir.Body = (ir.BarrierWait(ir.SyncScope.YIELD, None, (), None, loop.span),)
    if isinstance(loop, ir.While) and _is_cheap(loop.condition):  # not after the last iteration
        yielding = (ir.If(loop.condition, yielding, (), loop.span),)
    if not _searches(loop):
        return (_with_yield(loop, yielding),)
    iterations = ir.Var(f"iterations.{number}", WEAK_INT, loop.span)
    zero, limit = (const(n, loop.span, WEAK_INT) for n in (0, _MAX_SEARCH_ITERATIONS))
    incremented = binary(ADD, iterations, const(1, loop.span, WEAK_INT), loop.span)
    counted: ir.Body = (
        ir.Assign(iterations, incremented, loop.span),
        ir.If(
            binary(GE, iterations, limit, loop.span),
            (*yielding, ir.Assign(iterations, zero, loop.span)),
            (),
            loop.span,
        ),
    )
    return ir.Declare(iterations, zero, loop.span), _with_yield(loop, counted)


def _is_cheap(condition: ir.Expr) -> bool:
    """Return whether a condition only reads variables, so that it can be evaluated again."""
    return not (
        isinstance(condition, ir.Const)
        or reads_memory(condition)
        or any_effect(condition, frozenset())
    )


def _searches(loop: ir.For | ir.While) -> bool:
    """Return whether a loop polls, or accesses atomically, other elements in each iteration."""
    assigned = {s.var.name for s in statements((loop,)) if isinstance(s, ir.Assign | ir.For)}
    polled = frozenset(polled_arrays(loop))
    elements = [
        e
        for e in all_expressions((loop,))
        if isinstance(e, ir.ElementOf) or (isinstance(e, ir.Load) and e.array.name in polled)
    ]
    return bool(elements) and all(
        any(isinstance(x, ir.Var) and x.name in assigned for i in e.indices for x in expressions(i))
        for e in elements
    )


def _with_yield(loop: ir.For | ir.While, yielding: ir.Body) -> ir.Stmt:
    body = _yield_before_continue(loop.body, yielding)
    if not (body and isinstance(body[-1], ir.Break | ir.Continue | ir.Return)):
        body = (*body, *yielding)
    return replace(loop, body=body)


def _yield_before_continue(body: ir.Body, yielding: ir.Body) -> ir.Body:
    out: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Continue):
            out += map_stmt(yielding, lambda s: (replace(s),))
        if not isinstance(s, ir.For | ir.While):
            s = map_bodies(s, lambda b: _yield_before_continue(b, yielding))
        out.append(s)
    return tuple(out)
