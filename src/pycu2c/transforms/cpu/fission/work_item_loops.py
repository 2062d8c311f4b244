"""Turn the code of one thread into the code of one block (work-item loops).

``a; syncthreads(); b`` -> ``ThreadLoop(a) ThreadLoop(b)``. The passes of this module run in the
order in which they are written here. They require flat, legal, declared kernels whose threads
reach barriers together (``select_cpu_lowering``), and produce loops over the threads of a block.

A thread that leaves a loop with barriers before others goes on when all have left it; so no
thread may busy-wait for what another does after the loop. Source: Karrenberg & Hack 2012; pocl's
work-item loops.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.analysis.live_across_barriers import fresh_names
from pycu2c.analysis.region_placement import place
from pycu2c.analysis.uniformity import Uniformity
from pycu2c.base.dtypes import INT32
from pycu2c.base.records import replace
from pycu2c.base.types import Array, Scalar
from pycu2c.ir.builders import cast, scalar_type
from pycu2c.ir.nodes import Allocate, Apply, Body, Declare, Expr, For, Module, Stmt, Var
from pycu2c.ir.walk import all_expressions, map_expr, map_stmt, statements
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.transforms.cpu.fission.context_arrays import crossing, privatize
from pycu2c.transforms.cpu.fission.loop_fission import regions
from pycu2c.transforms.cpu.fission.single_region import is_of_block, one_loop, with_own_parameters
from pycu2c.transforms.cpu.simd.active_masks import Masks, slots
from pycu2c.transforms.cpu.simd.lane_counters import counted_by_lanes
from pycu2c.transforms.cpu.simd.lane_variables import slots_name
from pycu2c.transforms.cpu.simd.strip_mining import join_lanes, without_idle_notes

# the loops that are strip-mined, each with the variables that are read after it
StripLoops: TypeAlias = Mapping[Stmt, frozenset[str]]


def copy_parameters(module: Module) -> Module:
    """Copy the parameters that the kernel assigns, and put the arrays of the block first.

    ``f(n): n = n + t`` -> ``f(n): n.1 = n; n.1 = n.1 + t``. No thread then changes what the next
    one reads. Each statement becomes an object of its own, since analyses identify statements by
    identity.
    """
    kernel = with_own_parameters(module.kernel)
    shared = tuple(s for s in statements(kernel.body) if is_of_block(s))
    body = map_stmt(kernel.body, lambda s: () if is_of_block(s) else (replace(s),))
    return _with_body(replace(module, kernel=kernel), (*shared, *body))


def count_lanes(module: Module, strips: StripLoops) -> Module:
    """Turn ``for`` loops that are strip-mined into ``while`` loops with a counter for each lane."""
    if not strips:
        return module
    kernel = module.kernel
    return _with_body(module, counted_by_lanes(kernel.body, strips, fresh_names(kernel)))


def hoist_coordinates(module: Module, strips: StripLoops) -> Module:
    """Read the coordinates that strip-mined loops use into variables, before the loops.

    A lane of a strip knows only its thread's number in the block.
    """
    asked = {
        e.intrinsic.name: e
        for e in all_expressions(tuple(strips))
        if isinstance(e, Apply) and e.intrinsic.varies and e.intrinsic is not block_thread
    }
    if not asked:
        return module
    fresh = fresh_names(module.kernel)
    own = {name: Var(fresh(name), scalar_type(e), e.span) for name, e in sorted(asked.items())}

    def known(e: Expr) -> Expr:
        if not isinstance(e, Apply) or e.intrinsic.name not in own:
            return e
        return cast(own[e.intrinsic.name], scalar_type(e))  # loops may have it in 32 bits

    shared, body = _block_arrays(module.kernel.body)
    read = (Declare(own[n], asked[n], asked[n].span) for n in own)
    return _with_body(module, (*shared, *read, *map_expr(body, known)))


def wrap_in_thread_loop(module: Module) -> Module:
    """Put the whole kernel into one loop over threads: it is a single parallel region."""
    shared, body = _block_arrays(module.kernel.body)
    return _with_body(module, (*shared, *one_loop(module.kernel, body)))


def split_at_barriers(
    module: Module, facts: Facts, strips: StripLoops, agreement: Uniformity
) -> Module:
    """Split the kernel into loops over threads: at barriers, and around strip-mined and
    interchanged loops.

    Four steps are one pass, because the IR between them is not valid (variables are used outside
    of their declarations):

    - ``regions`` cuts the body into parallel regions; ``join_lanes`` joins those of a strip
      (strip mining);
    - what is uniform and is read in a later region becomes a scalar of the block, which may move
      more code out of the loops; both steps repeat until nothing moves;
    - ``privatize`` gives other values that later regions read a context array, or computes them
      again;
    - ``privatize`` also writes the lanes of strips without branches (if-conversion).
    """
    kernel, span = module.kernel, module.kernel.span
    shared, body = _block_arrays(kernel.body)
    turned = {s for s in statements(body) if isinstance(s, For) and s.interchanged}
    fresh = fresh_names(replace(kernel, body=body))
    name = fresh("state")
    state = Var(slots_name(name) if strips else name, Scalar(INT32), span)
    live = Var(fresh("live"), Scalar(INT32), span)
    everywhere = {p.name for p in kernel.parameters} | _arrays(body) | {state.name, live.name}
    wanted: set[str] = set()
    while True:
        masks = Masks(slots(state, facts.threads), live)
        placement = place(body, agreement, wanted, strips, turned)
        cut = join_lanes(regions(body, agreement, placement, masks, span), masks)
        found = crossing(cut, everywhere) - agreement.varying
        if found <= wanted:
            cut = privatize(without_idle_notes(cut, masks), everywhere, masks)
            return _with_body(module, (*shared, *map_stmt(cut, _placed)))
        wanted |= found


def _placed(s: Stmt) -> Body:
    """The loops over threads are inside of an interchanged loop now."""
    return (replace(s, interchanged=False) if isinstance(s, For) and s.interchanged else s,)


def _block_arrays(body: Body) -> tuple[Body, Body]:
    """The arrays of the block, which come first, and the rest of a body."""
    count = next((i for i, s in enumerate(body) if not is_of_block(s)), len(body))
    return body[:count], body[count:]


def _with_body(module: Module, body: Body) -> Module:
    return replace(module, kernel=replace(module.kernel, body=body))


def _arrays(body: Body) -> set[str]:
    """All arrays that a kernel names; where its local ones live is not a scalar's question."""
    named: list[Expr] = [e for e in all_expressions(body) if isinstance(e, Var)]
    named += [s.var for s in statements(body) if isinstance(s, Allocate)]
    return {v.name for v in named if isinstance(v, Var) and isinstance(v.type, Array)}
