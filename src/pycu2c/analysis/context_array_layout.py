"""Find context arrays that each thread accesses at its own element only, and change their layout.

``total[block.thread()]`` -> ``total[threadIdx.x * 16 + threadIdx.y]`` if y is the innermost axis.
The elements of consecutive iterations are then adjacent in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from pycu2c.base.records import replace
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, map_expr, map_stmt, statements
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread


def thread_private_arrays(body: ir.Body) -> frozenset[str]:
    """Return the context arrays in which each thread accesses only its own element."""
    private: set[str] = set()
    shared: set[str] = set()
    named: list[ir.Var] = []
    for array, indices in _accesses(body):
        assert isinstance(array.type, Array)
        (
            private
            if array.type.space is MemorySpace.BLOCK and _is_thread_index(indices)
            else shared
        ).add(array.name)
        named.append(array)
    access_ids = set(map(id, named))
    shared |= {
        e.name for e in all_expressions(body) if isinstance(e, ir.Var) and id(e) not in access_ids
    }
    shared |= {e.array.name for e in all_expressions(body) if isinstance(e, ir.ElementOf)}
    return frozenset(private - shared)


def uses_index_only_for(arrays: Set[str], body: ir.Body) -> bool:
    """Return whether a body uses the thread index only to index ``arrays``."""
    uses = sum(
        isinstance(e, ir.Apply) and e.intrinsic is block_thread for e in all_expressions(body)
    )
    return uses == sum(array.name in arrays for array, _ in _accesses(body))


def reindex_context_arrays(body: ir.Body, arrays: Set[str], index: ir.Expr) -> ir.Body:
    """Replace the thread index of each access to ``arrays`` with ``index``."""

    def replace_load(e: ir.Expr) -> ir.Expr:
        if isinstance(e, ir.Load) and e.array.name in arrays:
            return replace(e, indices=(index, *e.indices[1:]))
        return e

    def replace_store(s: ir.Stmt) -> ir.Body:
        if isinstance(s, ir.Store) and s.array.name in arrays:
            return (replace(s, indices=(index, *s.indices[1:])),)
        return (s,)

    return map_stmt(map_expr(body, replace_load), replace_store)


def _accesses(body: ir.Body) -> Iterator[tuple[ir.Var, tuple[ir.Expr, ...]]]:
    for e in all_expressions(body):
        if isinstance(e, ir.Load):
            yield e.array, e.indices
    for s in statements(body):
        if isinstance(s, ir.Store):
            yield s.array, s.indices


def _is_thread_index(indices: tuple[ir.Expr, ...]) -> bool:
    first = indices[0]
    return isinstance(first, ir.Apply) and first.intrinsic is block_thread
