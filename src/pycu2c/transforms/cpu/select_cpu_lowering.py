"""Choose how a CPU runs the threads of a block: in work-item loops, or as coroutines.

Loops are fast. They require that all threads that synchronize reach each barrier together;
other kernels are lowered to coroutines, which are right for every kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from pycu2c.analysis import uniformity
from pycu2c.analysis.busy_wait import spins
from pycu2c.analysis.effects import reaches_cluster
from pycu2c.analysis.uniformity import Uniformity
from pycu2c.ir.nodes import Body, Break, Continue, For, If, Meeting, Wait, While
from pycu2c.ir.walk import bodies, operands, statements

_Path: TypeAlias = "tuple[uniformity.Construct, ...]"
_OF_WARPS = (Meeting.WARP, Meeting.SYNCWARP, Meeting.ACTIVE)


def needs_coroutines(
    body: Body, of_block: Callable[[], Uniformity], of_warps: Callable[[], Uniformity]
) -> bool:
    """Return whether threads may wait at different barriers at once, or wait for other blocks.

    ``of_block`` and ``of_warps`` compute the uniformity of the body's values; they are called
    only if constructs around barriers need it.
    """
    if any(isinstance(s, For | While) and spins(s) for s in statements(body)):
        return True
    waits = list(_waits(body, ()))
    whom = {wait.meeting for wait, _ in waits}
    if {Meeting.GRID, Meeting.CLUSTER} & whom or reaches_cluster(body):
        return True
    around = {s for wait, path in waits if wait.meeting is Meeting.BLOCK for s in path}
    if around and _go_apart(around, of_block()):
        return True
    lanes = {s for wait, path in waits if wait.meeting in _OF_WARPS for s in path}
    return bool(lanes and lanes & of_warps().divergent)


def _waits(body: Body, path: _Path) -> Iterator[tuple[Wait, _Path]]:
    """Where threads wait, with the constructs around, outermost first."""
    for s in body:
        if isinstance(s, Wait):
            yield s, path
        elif isinstance(s, If | While | For):
            for inner in bodies(s):
                yield from _waits(inner, (*path, s))


def _go_apart(around: set[uniformity.Construct], agreement: Uniformity) -> bool:
    """Return whether the threads of a block may wait at several barriers at once.

    A condition around a barrier is the same for all threads, or the program is undefined. The
    exceptions are conditions on the coordinates of threads, and those with barriers either way.
    """
    for s in around & agreement.divergent:
        both = isinstance(s, If) and all(any(True for _ in _waits(b, ())) for b in bodies(s))
        jumping = [x for x in statements(bodies(s)[0]) if isinstance(x, If) and _jumps(x)]
        if both or any(agreement.lanes.differ(e) for x in (s, *jumping) for e in operands(x)):
            return True
    return False


def _jumps(s: If) -> bool:
    return any(isinstance(x, Break | Continue) for x in (*s.then, *s.orelse))
