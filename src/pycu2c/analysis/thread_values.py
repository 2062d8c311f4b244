"""Evaluate expressions for every thread of a block, where only the thread index determines them.

``cuda.threadIdx.x // 32`` in blocks of 64 threads -> 32 times 0, then 32 times 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pycu2c.analysis import vectors
from pycu2c.analysis.ranges.interval_arithmetic import is_integral
from pycu2c.analysis.vectors import Vector
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import int64
from pycu2c.base.values import fits
from pycu2c.ir import nodes as ir
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index

_THREAD_INDICES, _BLOCK_SIZES = (
    [COORDINATES[name, axis] for axis in AXES] for name in ("threadIdx", "blockDim")
)

Values: TypeAlias = "npt.NDArray[np.int64]"  # one number per thread, in thread order


@dataclass(slots=True)
class ThreadValues:
    """Integers of expressions for each thread of a block with the shape ``block``.

    ``definitions`` holds the expressions assigned to each variable.
    """

    block: tuple[int, int, int] | None
    definitions: Mapping[str, tuple[ir.Expr, ...]]
    _variable_cache: dict[str, Vector] = field(default_factory=dict)
    _cache: dict[ir.Expr, Vector] = field(default_factory=dict)

    def is_warp_uniform(self, e: ir.Expr) -> bool:
        """Return whether all threads of each warp provably compute the same value."""
        values = self.of(e)
        if values is None:
            return False
        return np.array_equal(values, np.repeat(values[::WARP], WARP)[: len(values)])

    def varies(self, e: ir.Expr) -> bool:
        """Return whether two threads of the block provably compute different values."""
        values = self.of(e)
        return values is not None and bool(np.any(values != values[0]))

    def contiguous_threads(self, e: ir.Expr, threads: range) -> range | None:
        """Return the subrange of ``threads`` for which a condition holds.

        Returns None if the condition is unknown or the threads are not contiguous.
        """
        values = self.of(e)
        if values is None or threads.stop > len(values):
            return None
        result = [t for t in threads if values[t]]
        if not result:
            return range(threads.start, threads.start)
        hull = range(result[0], result[-1] + 1)
        return hull if len(hull) == len(result) else None

    def of(self, e: ir.Expr) -> Values | None:
        """Return the value for each thread, or None if the thread index does not determine it."""
        values = self._vector(e)
        return None if values is None else np.broadcast_to(values, math.prod(self.block or (1,)))

    def _vector(self, e: ir.Expr) -> Vector:
        if e not in self._cache:
            self._cache[e] = self._compute(e)
        return self._cache[e]

    def _compute(self, e: ir.Expr) -> Vector:
        match e:
            case ir.Const(value):
                is_known = is_integral(e.type) and fits(int(value), int64)
                return vectors.of_type(np.asarray(int(value)), e.type) if is_known else None
            case ir.Var():
                return self._variable(e.name)
            case ir.Apply(intrinsic):
                return self._coordinate(intrinsic)
            case ir.Unary():
                return vectors.unary(e.op, self._vector(e.operand), e.type)
            case ir.Cast():
                return vectors.of_type(self._vector(e.operand), e.type)
            case ir.Binary():
                return vectors.binary(e.op, self._vector(e.left), self._vector(e.right), e.type)
            case ir.Logical():
                left, right = self._vector(e.left), self._vector(e.right)
                if left is None or right is None:
                    return None
                return left & right if e.op is ir.LogicalOp.AND else left | right
            case _:
                return None

    def _coordinate(self, intrinsic: object) -> Vector:
        if self.block is None:
            return None
        threads = np.arange(math.prod(self.block))
        if intrinsic is linear_thread_index:
            return threads
        if intrinsic in _THREAD_INDICES:
            found: Vector = vectors.coordinate(
                threads, self.block, _THREAD_INDICES.index(intrinsic)
            )
            return found
        if intrinsic in _BLOCK_SIZES:
            return np.asarray(self.block[_BLOCK_SIZES.index(intrinsic)], np.int64)
        return None

    def _variable(self, name: str) -> Vector:
        if name not in self._variable_cache:
            self._variable_cache[name] = None  # guards against recursive definitions
            values = self.definitions.get(name, ())
            self._variable_cache[name] = self._vector(values[0]) if len(values) == 1 else None
        return self._variable_cache[name]
