"""CPU: where in an array of slots each thread has its own: as threads are walked.

``total[block.thread()]`` -> ``total[threadIdx.x * 16 + threadIdx.y]``, if y is innermost. Only
where nobody else comes to it: each access is a thread's own. Knows no loops.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from pycu2c.base.records import replace
from pycu2c.base.types import Array, Space
from pycu2c.ir.nodes import Apply, Body, ElementOf, Expr, Load, Stmt, Store, Var
from pycu2c.ir.walk import all_expressions, map_expr, map_stmt, statements
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread


def own_slots(body: Body) -> frozenset[str]:
    """The arrays of slots in which each thread asks for its own alone."""
    found: set[str] = set()
    shared: set[str] = set()
    named: list[Var] = []
    for array, indices in _accesses(body):
        assert isinstance(array.type, Array)
        (found if array.type.space is Space.BLOCK and _is_own(indices) else shared).add(array.name)
        named.append(array)
    known = set(map(id, named))
    shared |= {e.name for e in all_expressions(body) if isinstance(e, Var) and id(e) not in known}
    shared |= {e.array.name for e in all_expressions(body) if isinstance(e, ElementOf)}
    return frozenset(found - shared)


def asks_only_for(slots: Set[str], body: Body) -> bool:
    """Whether threads ask for their number only to find their slots."""
    asked = sum(isinstance(e, Apply) and e.intrinsic is block_thread for e in all_expressions(body))
    return asked == sum(array.name in slots for array, _ in _accesses(body))


def renumbered(body: Body, slots: Set[str], number: Expr) -> Body:
    """A body whose threads have their slots at another place."""

    def loaded(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array.name in slots:
            return replace(e, indices=(number, *e.indices[1:]))
        return e

    def stored(s: Stmt) -> Body:
        if isinstance(s, Store) and s.array.name in slots:
            return (replace(s, indices=(number, *s.indices[1:])),)
        return (s,)

    return map_stmt(map_expr(body, loaded), stored)


def _accesses(body: Body) -> Iterator[tuple[Var, tuple[Expr, ...]]]:
    for e in all_expressions(body):
        if isinstance(e, Load):
            yield e.array, e.indices
    for s in statements(body):
        if isinstance(s, Store):
            yield s.array, s.indices


def _is_own(indices: tuple[Expr, ...]) -> bool:
    first = indices[0]
    return isinstance(first, Apply) and first.intrinsic is block_thread
