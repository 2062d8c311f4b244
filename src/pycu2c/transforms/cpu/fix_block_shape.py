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
from pycu2c.ops.intrinsics.threads.coordinates import AXES, COORDINATES
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import ADD, MUL
from pycu2c.transforms.common.recognize_grid_index import (
    GridIndexRecognizer,
    coordinate_variables,
)


def fix_block(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Replace the coordinates that the block shape determines by constants."""
    if assumptions.block is None:
        return module
    block = dict(zip(AXES, assumptions.block))

    def fix_function(function: ir.Function) -> ir.Function:
        recognizer = GridIndexRecognizer(coordinate_variables(function), block)
        folding = _CoordinateFolding(block, recognizer)
        return with_body(function, map_expr(function.body, folding.expression))

    return map_functions(module, fix_function)


@dataclass(frozen=True, slots=True)
class _CoordinateFolding:
    block: Mapping[str, int]
    recognizer: GridIndexRecognizer

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
        if isinstance(e, ir.Binary) and e.op is ADD and self.block["z"] == 1:
            for row, thread in ((e.left, e.right), (e.right, e.left)):
                if self.recognizer.coordinate(thread) == "cuda.threadIdx.x" and (
                    self.recognizer.is_product(row, "cuda.threadIdx.y", self.block["x"])
                ):
                    return ir.Apply(linear_thread_index, (), e.type, e.span)
        return self.recognizer.recognize(e)


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
