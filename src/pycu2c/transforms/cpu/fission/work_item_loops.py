"""Lower the code of one thread to work-item loops (CPU).

``a; syncthreads(); b`` -> ``WorkItemLoop(a) WorkItemLoop(b)``. The passes are the functions from
module to module, in the order in which they run. They require flat, legal, declared IR in which all
threads of a scope reach the same barrier. A thread that leaves a loop with barriers early continues
when all threads have left it. So a thread in the loop must not busy-wait for an action of a thread
that has left it.
Reference: Karrenberg and Hack (2012); pocl.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.analysis.region_placement import place_regions
from pycu2c.analysis.uniformity import Uniformity
from pycu2c.analysis.variables import assigned_names, fresh_names
from pycu2c.base.dtypes import INT32
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.walk import all_expressions, map_expr, map_stmt, statements, with_kernel_body
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.transforms.cpu.fission.context_arrays import insert_context_arrays, live_across_regions
from pycu2c.transforms.cpu.fission.loop_fission import split_at_barriers
from pycu2c.transforms.cpu.simd.active_masks import ActiveMasks, context_array
from pycu2c.transforms.cpu.simd.lane_variables import context_array_name
from pycu2c.transforms.cpu.simd.strip_loop_fusion import (
    fuse_lane_loops,
    remove_dead_any_active,
    use_lane_counters,
)
from pycu2c.transforms.cuda.merge_live_ranges import rename_variables

# the loops to strip-mine, each with the variables that are live after it
StripLoops: TypeAlias = Mapping[ir.Stmt, frozenset[str]]


def copy_parameters(module: ir.Module) -> ir.Module:
    """Copy parameters that the kernel assigns, and move the arrays of the block to the start.

    ``f(n): n = n + t`` -> ``f(n): n.1 = n; n.1 = n.1 + t``. Each statement becomes a distinct
    object, since analyses identify statements by identity.
    """
    kernel = copy_assigned_parameters(module.kernel)
    arrays = tuple(s for s in statements(kernel.body) if is_block_array(s))
    body = map_stmt(kernel.body, lambda s: () if is_block_array(s) else (replace(s),))
    return with_kernel_body(replace(module, kernel=kernel), (*arrays, *body))


def use_while_loops(module: ir.Module, strips: StripLoops) -> ir.Module:
    """Convert ``for`` loops that are strip-mined to ``while`` loops with a counter per lane."""
    if not strips:
        return module
    kernel = module.kernel
    return with_kernel_body(module, use_lane_counters(kernel.body, strips, fresh_names(kernel)))


def hoist_coordinates(module: ir.Module, strips: StripLoops) -> ir.Module:
    """Read coordinates before the strips; inside them only the thread index is available."""
    coordinates = {
        e.intrinsic.name: e
        for e in all_expressions(tuple(strips))
        if isinstance(e, ir.Apply)
        and e.intrinsic.is_divergent
        and e.intrinsic is not linear_thread_index
    }
    if not coordinates:
        return module
    fresh = fresh_names(module.kernel)
    variables = {
        name: ir.Var(fresh(name), scalar_type(e), e.span) for name, e in sorted(coordinates.items())
    }

    def replace_coordinate(e: ir.Expr) -> ir.Expr:
        if not isinstance(e, ir.Apply) or e.intrinsic.name not in variables:
            return e
        return cast(variables[e.intrinsic.name], scalar_type(e))  # a use may have a 32-bit type

    arrays, body = _block_arrays(module.kernel.body)
    reads = (ir.Declare(variables[n], coordinates[n], coordinates[n].span) for n in variables)
    return with_kernel_body(module, (*arrays, *reads, *map_expr(body, replace_coordinate)))


def split_into_regions(
    module: ir.Module, assumptions: LaunchAssumptions, strips: StripLoops, uniformity: Uniformity
) -> ir.Module:
    """Split the kernel into several work-item loops.

    These steps are one pass, because the IR between them is not valid: variables are used outside
    of their declarations.

    - ``loop_fission`` splits at barriers and around strip-mined and interchanged loops, and
      ``strip_loop_fusion`` fuses the loops of a strip.
    - Uniform variables that are live across regions become scalars of the block, which may move
      more code out of the loops. So the split is repeated until no variable is added.
    - ``context_arrays`` keeps the other values that are live across regions; it calls
      ``if_conversion`` for the lanes of strips.
    """
    span = module.kernel.span
    arrays, body = _block_arrays(module.kernel.body)
    interchanged = {s for s in statements(body) if isinstance(s, ir.For) and s.interchanged}
    fresh = fresh_names(replace(module.kernel, body=body))
    name = fresh("state")
    state = ir.Var(context_array_name(name) if strips else name, Scalar(INT32), span)
    any_active = ir.Var(fresh("any_active"), Scalar(INT32), span)
    block_level_names = (
        {p.name for p in module.kernel.parameters}
        | _array_names(body)
        | {state.name, any_active.name}
    )
    block_scalars: set[str] = set()
    while True:
        masks = ActiveMasks(context_array(state, assumptions.max_threads), any_active)
        placement = place_regions(body, uniformity, block_scalars, strips, interchanged)
        regions = fuse_lane_loops(
            split_at_barriers(body, uniformity, placement, masks, span), masks
        )
        new_scalars = live_across_regions(regions, block_level_names) - uniformity.varying
        if new_scalars <= block_scalars:
            regions = remove_dead_any_active(regions, masks)
            new_body = insert_context_arrays(regions, block_level_names, masks)
            return with_kernel_body(module, (*arrays, *map_stmt(new_body, _clear_interchanged)))
        block_scalars |= new_scalars


def _clear_interchanged(s: ir.Stmt) -> ir.Body:
    return (replace(s, interchanged=False) if isinstance(s, ir.For) and s.interchanged else s,)


def _block_arrays(body: ir.Body) -> tuple[ir.Body, ir.Body]:
    """Split a body into the arrays of the block at its start, and the rest."""
    count = next((i for i, s in enumerate(body) if not is_block_array(s)), len(body))
    return body[:count], body[count:]


def _array_names(body: ir.Body) -> set[str]:
    """Return all arrays that a kernel names."""
    variables: list[ir.Expr] = [e for e in all_expressions(body) if isinstance(e, ir.Var)]
    variables += [s.var for s in statements(body) if isinstance(s, ir.Allocate)]
    return {v.name for v in variables if isinstance(v, ir.Var) and isinstance(v.type, Array)}


def is_block_array(s: ir.Stmt) -> bool:
    """Return whether a statement allocates an array of the block, in any position."""
    return isinstance(s, ir.Allocate) and ir.memory_space(s.var) in (
        MemorySpace.SHARED,
        MemorySpace.BLOCK,
    )


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
    if not names:
        return kernel
    return replace(kernel, body=(*declarations, *rename_variables(kernel.body, names)))
