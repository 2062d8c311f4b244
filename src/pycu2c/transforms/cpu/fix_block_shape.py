"""Replace block dimensions by constants where the launch has a fixed block shape (CPU).

With blocks of 16 x 16 threads, ``blockDim.x`` -> ``16``, ``threadIdx.z`` -> ``0``, ``blockIdx.x *
16 + threadIdx.x`` -> ``cuda.grid.x()``, and ``threadIdx.y * 16 + threadIdx.x`` ->
``block.thread()``. Requires the form TYPED (``ir/forms.py``). Guarantees that no block dimension
remains.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary
from pycu2c.ir.walk import map_expr, map_functions, with_body
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES, GRID
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import ADD, MUL
from pycu2c.transforms.common.recognize_grid_index import coordinate_variables


def fix_block(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Replace the coordinates that the block shape determines by constants."""
    if assumptions.block is None:
        return module
    block = dict(zip(AXES, assumptions.block))

    def fix_function(function: ir.Function) -> ir.Function:
        folding = _CoordinateFolding(block, coordinate_variables(function))
        return with_body(function, map_expr(function.body, folding.expression))

    return map_functions(module, fix_function)


@dataclass(frozen=True, slots=True)
class _CoordinateFolding:
    block: Mapping[str, int]
    coordinates: Mapping[str, Intrinsic]

    def expression(self, e: ir.Expr) -> ir.Expr:
        match e:
            case ir.Apply(intrinsic=intrinsic, type=Scalar() as t):
                for axis, extent in self.block.items():
                    if intrinsic is COORDINATES["blockDim", axis]:
                        return ir.Const(extent, t, e.span)
                    if intrinsic is COORDINATES["threadIdx", axis] and extent == 1:
                        return ir.Const(0, t, e.span)
                return e
            case ir.Binary():
                return self._fold_sum(_fold_constants(e))
            case _:
                return e

    def _fold_sum(self, e: ir.Expr) -> ir.Expr:
        """Recognize a grid index, or a linear thread index."""
        if not (isinstance(e, ir.Binary) and e.op is ADD):
            return e
        for product, thread in ((e.left, e.right), (e.right, e.left)):
            for axis, grid_index in zip(AXES, GRID):
                if not self._is_multiple(product, "blockIdx", axis, self.block[axis]):
                    continue
                is_only_thread = self.block[axis] == 1 and _is_constant(thread, 0)
                if is_only_thread or self._is_coordinate(thread, "threadIdx", axis):
                    return ir.Apply(grid_index, (), e.type, e.span)
            is_linear = self._is_multiple(product, "threadIdx", "y", self.block["x"])
            if is_linear and self.block["z"] == 1 and self._is_coordinate(thread, "threadIdx", "x"):
                return ir.Apply(linear_thread_index, (), e.type, e.span)
        return e

    def _is_multiple(self, e: ir.Expr, coordinate_name: str, axis: str, extent: int) -> bool:
        """Return whether an expression is a coordinate times a constant."""
        if not (isinstance(e, ir.Binary) and e.op is MUL):
            return False
        pairs = ((e.left, e.right), (e.right, e.left))
        return any(
            self._is_coordinate(x, coordinate_name, axis) and _is_constant(y, extent)
            for x, y in pairs
        )

    def _is_coordinate(self, e: ir.Expr, coordinate_name: str, axis: str) -> bool:
        if isinstance(e, ir.Var):
            return self.coordinates.get(e.name) is COORDINATES[coordinate_name, axis]
        return isinstance(e, ir.Apply) and e.intrinsic is COORDINATES[coordinate_name, axis]


def _is_constant(e: ir.Expr, value: int) -> bool:
    return isinstance(e, ir.Const) and e.value == value


def _fold_constants(e: ir.Binary) -> ir.Expr:
    """Fold constants: ``4 * 8`` -> ``32``, ``x + 0`` -> ``x``."""
    if not (isinstance(e.type, Scalar) and e.type.dtype.is_integer and e.op in (ADD, MUL)):
        return e
    if isinstance(e.left, ir.Const) and isinstance(e.right, ir.Const):
        return binary(e.op, e.left, e.right, e.span)
    neutral = 0 if e.op is ADD else 1
    for constant, operand in ((e.left, e.right), (e.right, e.left)):
        if _is_constant(constant, neutral):
            return operand
    return e
