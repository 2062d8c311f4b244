"""Lower a kernel to a coroutine per thread: resumable state machines that a scheduler runs (CPU).

Correct for all kernels, and slower than work-item loops. A busy-wait loop yields at the end of each
iteration so that other threads make progress: ``while atomic.cas(…): pass`` -> ``while
atomic.cas(…): yield``. All calls of the same warp operation share their contribution arrays:
threads that synchronize may be at different calls. Each thread reads its results before its next
wait. Requires the form DECLARED (``ir/forms.py``) with barriers lowered to waits. Guarantees one
CoroutineLoop, which contains all waits. Uses ``analysis.busy_wait``. Reference: Conway, "Design of
a separable transition-diagram compiler" (1963).
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.busy_wait import is_busy_wait
from pycu2c.analysis.suspension_points import suspension_points_in
from pycu2c.base.records import replace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import map_bodies, map_stmt, with_kernel_body
from pycu2c.transforms.cpu.fission.work_item_loops import copy_assigned_parameters, is_block_array
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables


def lower_to_coroutines(module: ir.Module) -> ir.Module:
    """Return the kernel as shared arrays of the block, then the coroutine of a thread."""
    kernel = copy_assigned_parameters(module.kernel)
    merged_names = _merged_array_names(kernel.body)
    shared: list[ir.Stmt] = []

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
        return (
            (_yield_in_loop(s),) if isinstance(s, ir.For | ir.While) and is_busy_wait(s) else (s,)
        )

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


def _yield_in_loop(loop: ir.For | ir.While) -> ir.Stmt:
    yield_wait = ir.BarrierWait(ir.SyncScope.YIELD, None, (), None, loop.span)
    body = _yield_before_continue(loop.body, yield_wait)
    if not (body and isinstance(body[-1], ir.Break | ir.Continue | ir.Return)):
        body = (*body, yield_wait)
    return replace(loop, body=body)


def _yield_before_continue(body: ir.Body, yield_wait: ir.BarrierWait) -> ir.Body:
    out: list[ir.Stmt] = []
    for s in body:
        if isinstance(s, ir.Continue):
            out.append(replace(yield_wait))
        if not isinstance(s, ir.For | ir.While):
            s = map_bodies(s, lambda b: _yield_before_continue(b, yield_wait))
        out.append(s)
    return tuple(out)
