"""What each thread of a block computes, where that follows from its place in the block alone.

``cuda.threadIdx.x // 32`` of blocks of 64 threads -> 32 times 0, 32 times 1.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import numpy as np

from pycu2c.analysis.ranges.intervals import is_whole
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.base.values import Number, convert
from pycu2c.ir.builders import number_of, scalar_type
from pycu2c.ir.nodes import Apply, Binary, Cast, Const, Expr, Junction, Logical, Unary, Var
from pycu2c.ops.intrinsics.reference_thread import MACHINE, WARP, Thread
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.ops.operators import (
    ADD,
    AND,
    C_SHR,
    EQ,
    GE,
    GT,
    LE,
    LT,
    MUL,
    NE,
    OR,
    QUOTIENT,
    REMAINDER,
    SUB,
    XOR,
    Operator,
    folded,
    folded_unary,
)

_KNOWN = (block_thread, *(PLACES[v, axis] for v in ("threadIdx", "blockDim") for axis in AXES))

# what whole numbers give that are not cut to a type; some, if they are no less than 0
_EXACT: Mapping[Operator, Callable[[Any, Any], Any]] = {
    op: op.compute for op in (ADD, SUB, MUL, AND, OR, XOR, LT, LE, GT, GE, EQ, NE)
} | {QUOTIENT: operator.floordiv, REMAINDER: operator.mod, C_SHR: operator.rshift}
_OF_COUNTS = (QUOTIENT, REMAINDER, C_SHR)

Values = tuple[Any, ...]  # a number of each thread, in their order


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
                return (_plain(number_of(e)),) * (math.prod(self.block) if self.block else 1)
            case Var():
                return self._variable(e.name)
            case Apply(intrinsic=row) if row in _KNOWN:
                return None if self.block is None else _places(row, self.block)
            case Unary():
                inner = self.of(e.operand)
                own = scalar_type(e.operand)
                return inner and tuple(_plain(folded_unary(e.op, _typed(v, own))) for v in inner)
            case Cast():
                inner = self.of(e.operand)
                return inner and _converted(inner, scalar_type(e.operand), e.type)
            case Binary():
                left = self.of(e.left)
                right = self.of(e.right) if left else None
                return right and _joined(e, left or (), right)
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

    def _logical(self, e: Logical) -> Values | None:
        left = self.of(e.left)
        right = self.of(e.right) if left else None
        if left is None or right is None:
            return None
        joined = all if e.op is Junction.AND else any
        return tuple(joined(pair) for pair in zip(left, right))


# ---- of all threads at once: whole numbers as Python's, which is fast, others as numpy's ---------


def _plain(value: Number) -> Number:
    return int(value) if isinstance(value, np.integer | np.bool_ | bool) else value


def _typed(value: Number, kind: Scalar) -> Number:
    """A number as folding takes it."""
    return value if kind == WEAK_INT else convert(value, kind)


def _converted(values: Values, own: Scalar, kind: Scalar) -> Values:
    if is_whole(own) and is_whole(kind) and _all_fit(values, kind):
        return values
    return tuple(_plain(convert(_typed(v, own), kind)) for v in values)


def _joined(e: Binary, left: Values, right: Values) -> Values:
    own = scalar_type(e.left)
    exact = _EXACT.get(e.op) if is_whole(own) else None
    if exact is not None and (e.op not in _OF_COUNTS or (min(left) >= 0 and min(right) > 0)):
        values = tuple(map(exact, left, right))
        if _all_fit(values, e.type):
            return values
    pairs = zip(left, right)
    return tuple(_plain(folded(e.op, _typed(a, own), _typed(b, own))) for a, b in pairs)


def _all_fit(values: Values, kind: Scalar) -> bool:
    return bool(kind.dtype.minimum <= min(values) and max(values) <= kind.dtype.maximum)


@functools.lru_cache(maxsize=64)
def _places(row: Intrinsic, block: tuple[int, int, int]) -> Values:
    """A coordinate of each thread."""
    if row is block_thread:
        return tuple(range(math.prod(block)))
    width, height, depth = block
    found: list[Number] = []
    for z, y, x in product(range(depth), range(height), range(width)):
        MACHINE.thread = Thread((x, y, z), (0, 0, 0), block, (1, 1, 1))
        found.append(row.reference())
    MACHINE.thread = None
    return tuple(found)
