"""What each thread of a block computes, where that follows from its place in the block alone.

``cuda.threadIdx.x // 32`` of blocks of 64 threads -> 32 times 0, 32 times 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from itertools import product

from pycu2c.intrinsics.block import block_thread
from pycu2c.intrinsics.machine import MACHINE, WARP, Thread
from pycu2c.intrinsics.threads import AXES, PLACES
from pycu2c.ir.construct import number_of
from pycu2c.ir.nodes import Apply, Binary, Cast, Const, Expr, Junction, Logical, Unary, Var
from pycu2c.operators import folded, folded_unary
from pycu2c.records import dataclass
from pycu2c.values import Number, convert

_KNOWN = (block_thread, *(PLACES[v, axis] for v in ("threadIdx", "blockDim") for axis in AXES))

Values = tuple[Number, ...]  # of each thread, in their order


@dataclass(slots=True)
class LaneValues:
    """``definitions``: what is assigned to each variable."""

    block: tuple[int, int, int] | None
    definitions: Mapping[str, tuple[Expr, ...]]
    _of_variables: dict[str, Values | None] = field(default_factory=dict)
    _found: dict[Expr, Values | None] = field(default_factory=dict)

    def same_in_warps(self, e: Expr) -> bool:
        """Whether the lanes of each warp provably compute the same."""
        values = self.of(e)
        if values is None:
            return False
        return all(len(set(values[i : i + WARP])) == 1 for i in range(0, len(values), WARP))

    def differ(self, e: Expr) -> bool:
        """Whether some threads of a block provably compute something else than others."""
        values = self.of(e)
        return values is not None and len(set(values)) > 1

    def run(self, e: Expr, among: range) -> range | None:
        """The threads of these, by their numbers in the block, for which a condition holds, if
        it is known and they follow each other."""
        values = self.of(e)
        if values is None or among.stop > len(values):
            return None
        found = [t for t in among if values[t]]
        if not found:
            return range(among.start, among.start)
        run = range(found[0], found[-1] + 1)
        return run if len(run) == len(found) else None

    def of(self, e: Expr) -> Values | None:
        """What each thread computes; None where that does not follow."""
        if e not in self._found:
            self._found[e] = self._computed(e)
        return self._found[e]

    def _computed(self, e: Expr) -> Values | None:
        match e:
            case Const():
                return (number_of(e),) * (math.prod(self.block) if self.block else 1)
            case Var():
                return self._variable(e.name)
            case Apply(intrinsic=row) if row in _KNOWN:
                return self._place(e)
            case Unary():
                inner = self.of(e.operand)
                return inner and tuple(folded_unary(e.op, v) for v in inner)
            case Cast():
                inner = self.of(e.operand)
                return inner and tuple(convert(v, e.type) for v in inner)
            case Binary():
                left = self.of(e.left)
                right = self.of(e.right) if left else None
                return right and tuple(folded(e.op, a, b) for a, b in zip(left or (), right))
            case Logical():
                return self._logical(e)
            case _:
                return None

    def _variable(self, name: str) -> Values | None:
        if name not in self._of_variables:
            self._of_variables[name] = None  # for one that follows from itself
            values = self.definitions.get(name, ())
            self._of_variables[name] = self.of(values[0]) if len(values) == 1 else None
        return self._of_variables[name]

    def _place(self, e: Apply) -> Values | None:
        if self.block is None:
            return None
        width, height, depth = self.block
        found: list[Number] = []
        for z, y, x in product(range(depth), range(height), range(width)):
            MACHINE.thread = Thread((x, y, z), (0, 0, 0), self.block, (1, 1, 1))
            found.append(e.intrinsic.reference())
        MACHINE.thread = None
        return tuple(found)

    def _logical(self, e: Logical) -> Values | None:
        left = self.of(e.left)
        right = self.of(e.right) if left else None
        if left is None or right is None:
            return None
        joined = all if e.op is Junction.AND else any
        return tuple(joined(pair) for pair in zip(left, right))
