"""Find loops in which each thread walks down a column of arrays, so that threads share rows.

In ``for i in range(1, n): x[i, s] -= x[i - 1, s]``, where ``s`` is the index of the thread, the
threads of a block access neighbouring elements in each iteration. With the loop over threads
inside, memory is accessed in order.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.uniformity import Uniformity
from pycu2c.analysis.variables import names_in
from pycu2c.base.types import MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import accesses, statements
from pycu2c.ops.intrinsics.threads.coordinates import COORDINATES, GRID
from pycu2c.ops.operators import ADD, SUB

_NEIGHBOURS = (COORDINATES["threadIdx", "x"], GRID[0])  # of which the next thread has the next


def is_row_loop(loop: ir.For, uniformity: Uniformity, values: Mapping[str, ir.Expr]) -> bool:
    """Return whether all threads run the same iterations, and share a row in each.

    No variable keeps a value for the next iteration: it would be an array over the threads.
    ``values``: invariant definitions, by variable.
    """
    if not uniformity.agrees(loop.start, loop.stop, loop.step):
        return False
    body = list(statements(loop.body))
    declared = {s.var.name for s in body if isinstance(s, ir.Declare)}
    if any(isinstance(s, ir.For | ir.While | ir.Allocate) for s in body) or any(
        isinstance(s, ir.Assign) and s.var.name not in declared for s in body
    ):
        return False
    stores = [s for s in body if isinstance(s, ir.Store)]
    found = list(accesses(loop.body))
    if not stores or any(ir.memory_space(a.array) is not MemorySpace.GLOBAL for a in found):
        return False

    def strides(access: ir.Access) -> set[int | None]:
        return {_stride(index, uniformity, values) for index in access.indices}

    return all(strides(a) <= {0, 1} for a in found) and all(
        strides(s) == {1} and loop.var.name in names_in(*s.indices) for s in stores
    )


def _stride(e: ir.Expr, uniformity: Uniformity, values: Mapping[str, ir.Expr]) -> int | None:
    """Return the change of an index from one thread along x to the next; None if unknown."""
    match e:
        case ir.Var(name=name) if name in values:
            return _stride(values[name], uniformity, values)
        case ir.Apply(intrinsic=intrinsic) if intrinsic in _NEIGHBOURS:
            return 1
        case ir.Binary(op=op, left=left, right=right) if op in (ADD, SUB):
            a, b = (_stride(x, uniformity, values) for x in (left, right))
            if a is None or b is None:
                return None
            return a + b if op is ADD else a - b
        case _:
            return 0 if uniformity.agrees(e) else None
