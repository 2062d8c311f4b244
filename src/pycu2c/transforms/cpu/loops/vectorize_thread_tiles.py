"""Vectorize the loops over the tile of a thread, in place of the loop over threads (CPU).

Before: ``for thread in lockstep: for k: for m in 0..8: for n in 0..8: total[thread, m, n] += a[k,
m] * b[k, n]``. After: ``for thread: copy total[thread] to tile; for k: for m in 0..8: for n in
lockstep: tile[m, n] += a[k, m] * b[k, n]; copy tile back``. The C compiler then keeps the tile in
registers. Requires the form AXIS_LOOPS (``ir/forms.py``). Guarantees the same order of operations
for each thread. Loops that load adjacent elements in adjacent threads are left as they are. Uses
``analysis.simd_legality``.
"""

from __future__ import annotations

import math

from pycu2c.analysis.simd_legality import LaneStrides
from pycu2c.analysis.variables import defined_names, names_in, single_definitions
from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import integer
from pycu2c.ir.printer import print_expr, print_indices
from pycu2c.transforms.cpu.loops.register_tiling import trip_count

MIN_LANES = 4  # of a vector
MAX_TILE_BYTES = 1024  # larger tiles exceed the registers
_THREAD_SPACES = MemorySpace.BLOCK, MemorySpace.LOCAL


def vectorize_thread_tiles(module: ir.Module) -> ir.Module:
    """Vectorize the loops over tiles in the kernel's loops over threads."""
    return walk.with_kernel_body(module, _block(module.kernel.body))


def _block(body: ir.Body) -> ir.Body:
    return tuple(
        _vectorized(s) if isinstance(s, ir.AxisLoop) else walk.map_bodies(s, _block) for s in body
    )


def _vectorized(threads: ir.AxisLoop) -> ir.AxisLoop:
    """Return a loop over threads whose first long loop is a loop over tiles, if it has one."""
    if walk.contains(threads.body, ir.AxisLoop):
        return replace(threads, body=_block(threads.body))
    for position, loop in enumerate(threads.body):
        others = (*threads.body[:position], *threads.body[position + 1 :])
        if not isinstance(loop, ir.For) or not all(map(_is_short, others)):
            continue
        tiles = _tiles(loop)
        if tiles and not _loads_adjacent_elements(threads, loop):
            body = (*threads.body[:position], *_lowered(loop, tiles), *threads.body[position + 1 :])
            return replace(threads, body=body, lockstep=False)
    return threads


def _is_short(s: ir.Stmt) -> bool:
    """Return whether the loops of a statement have constant trip counts."""
    loops = [x for x in walk.statements((s,)) if isinstance(x, ir.For | ir.While)]
    return all(isinstance(x, ir.For) and trip_count(x) is not None for x in loops)


def _tiles(loop: ir.For) -> dict[str, ir.Store]:
    """Map the arrays of a thread that the vectorized loops change, to one of their stores.

    Empty if the loop contains other statements than arithmetic and stores, or does not access the
    same elements in all iterations.
    """
    simple = ir.Declare | ir.Store | ir.For
    if not all(isinstance(s, simple) for s in walk.statements(loop.body)):
        return {}
    if any(isinstance(e, ir.ElementOf | ir.Call) for e in walk.all_expressions(loop.body)):
        return {}
    tiles = {
        s.array.name: s
        for x in walk.statements(loop.body)
        if isinstance(x, ir.For) and _is_vector(x)
        for s in x.body
        if isinstance(s, ir.Store)
    }
    changed = _dependent_names(loop)
    threads: dict[str, str] = {}
    for access in walk.accesses(loop.body):
        if access.array.name not in tiles:
            continue
        thread = access.indices[0] if _is_context(access.array) else integer(0, access.span)
        text = print_expr(thread)
        if threads.setdefault(access.array.name, text) != text:
            return {}
        if _is_linear(access) or changed & set(names_in(*access.indices)):
            return {}
    return tiles if all(map(_fits_registers, tiles.values())) else {}


def _dependent_names(loop: ir.For) -> set[str]:
    """Return the variables that change from one iteration to the next, save inner counters."""
    counters = {s.var.name for s in walk.statements(loop.body) if isinstance(s, ir.For)}
    return (defined_names(loop.body) - counters) | {loop.var.name}


def _is_vector(loop: ir.For) -> bool:
    """Return whether the iterations of a loop are independent, and store to adjacent elements."""
    if (trip_count(loop) or 0) < MIN_LANES or walk.contains(loop.body, ir.For):
        return False
    stores = {s.array.name: s for s in loop.body if isinstance(s, ir.Store)}
    for s in stores.values():
        if ir.memory_space(s.array) not in _THREAD_SPACES or s.path:
            return False
        last = s.indices[-1]
        if not isinstance(last, ir.Var) or last.name != loop.var.name:
            return False
    texts = {name: print_indices(s) for name, s in stores.items()}
    accesses = [a for a in walk.accesses(loop.body) if a.array.name in stores]
    return bool(stores) and all(print_indices(a) == texts[a.array.name] for a in accesses)


def _is_linear(access: ir.Access) -> bool:
    """Return whether one index counts the elements of several axes."""
    return isinstance(access.array.type, Array) and len(access.indices) < access.array.type.ndim


def _is_context(array: ir.Var) -> bool:
    return ir.memory_space(array) is MemorySpace.BLOCK


def _fits_registers(s: ir.Store) -> bool:
    assert isinstance(s.array.type, Array)
    assert s.array.type.shape is not None
    shape = s.array.type.shape[_is_context(s.array) :]
    return math.prod(shape) * s.array.type.dtype.size <= MAX_TILE_BYTES


def _loads_adjacent_elements(threads: ir.AxisLoop, loop: ir.For) -> bool:
    """Return whether adjacent threads load adjacent elements."""
    strides = LaneStrides(threads.var.name, single_definitions(threads.body), set())
    return any(
        isinstance(e, ir.Load) and strides.of(e.indices[-1]) == 1
        for e in walk.all_expressions(loop.body)
    )


def _lowered(loop: ir.For, tiles: dict[str, ir.Store]) -> ir.Body:
    """Return the loop on local tiles, between the copies of context arrays to and from these."""
    contexts = {name: s for name, s in tiles.items() if _is_context(s.array)}
    local = {name: _local_tile(s.array) for name, s in contexts.items()}

    def load(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.array.name in local:
            return ir.Load(local[e.array.name], e.indices[1:], e.span)
        return e

    def store(s: ir.Stmt) -> ir.Body:
        match s:
            case ir.Store() if s.array.name in local:
                return (ir.Store(local[s.array.name], s.indices[1:], s.value, s.span),)
            case ir.For() if _is_vector(s):
                return (ir.AxisLoop(s.var, s.start, s.stop, s.step, s.body, True, s.span),)
            case _:
                return (s,)

    out: list[ir.Stmt] = []
    for name, s in contexts.items():
        out += [ir.Allocate(local[name], loop.span), _copy(s, local[name], loop, is_back=False)]
    out += walk.map_expr(walk.map_stmt((loop,), store), load)
    out += [_copy(s, local[name], loop, is_back=True) for name, s in contexts.items()]
    return tuple(out)


def _local_tile(array: ir.Var) -> ir.Var:
    t = array.type
    assert isinstance(t, Array)
    assert t.shape is not None
    local = Array(t.dtype, t.ndim - 1, "C", MemorySpace.LOCAL, t.shape[1:])
    return ir.Var(f"{array.name}.of_thread", local, array.span)


def _copy(s: ir.Store, tile: ir.Var, loop: ir.For, *, is_back: bool) -> ir.Stmt:
    """Return the loops that copy the element of a thread in a context array to its tile or back."""
    span = loop.span
    assert isinstance(tile.type, Array)
    assert tile.type.shape is not None
    indices = tuple(
        replace(loop.var, name=f"{tile.name}.{axis}") for axis in range(len(tile.type.shape))
    )
    in_context = s.indices[0], *indices
    if is_back:
        copy: ir.Stmt = ir.Store(s.array, in_context, ir.Load(tile, indices, span), span)
    else:
        copy = ir.Store(tile, indices, ir.Load(s.array, in_context, span), span)
    zero, one = integer(0, span), integer(1, span)
    for index, extent in reversed(list(zip(indices, tile.type.shape))):
        stop = integer(extent, span)
        if isinstance(copy, ir.Store):
            copy = ir.AxisLoop(index, zero, stop, one, (copy,), True, span)
        else:
            copy = ir.For(index, zero, stop, one, (copy,), span)
    return copy
