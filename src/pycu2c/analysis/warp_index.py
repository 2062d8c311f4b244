"""Recognize warp and lane indices in one-dimensional blocks (CPU)."""

from __future__ import annotations

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import WEAK_INT
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, integer
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.coordinates import COORDINATES, GRID
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index
from pycu2c.ops.operators import ADD, AND, C_DIV, C_REM, C_SHR, MUL

_LINEAR_INDICES = (linear_thread_index, COORDINATES["threadIdx", "x"], GRID[0])
_LANE_OPERATIONS = ((C_REM, WARP), (AND, WARP - 1))
_WARP_OPERATIONS = ((C_DIV, WARP), (C_SHR, WARP.bit_length() - 1))


def has_several_full_warps(assumptions: LaunchAssumptions) -> bool:
    """Return whether a block is one-dimensional and consists of two or more full warps."""
    block = assumptions.block
    return block is not None and block[1:] == (1, 1) and block[0] % WARP == 0 and block[0] > WARP


def is_lane(e: ir.Expr) -> bool:
    """Return whether an expression is ``threadIdx.x % 32`` or ``cuda.grid(1) % 32``."""
    return any(_is_index_operation(e, *operation) for operation in _LANE_OPERATIONS)


def is_warp(e: ir.Expr) -> bool:
    """Return whether an expression is ``threadIdx.x // 32`` or ``cuda.grid(1) // 32``."""
    return any(_is_index_operation(e, *operation) for operation in _WARP_OPERATIONS)


def _is_index_operation(e: ir.Expr, op: object, constant: int) -> bool:
    """Return whether an expression is an operator on a linear thread index and a constant."""
    match e:
        case ir.Binary(
            op=operator, left=ir.Apply(intrinsic=intrinsic), right=ir.Const(value=value)
        ):
            return (
                operator is op
                and value == constant
                and intrinsic in _LINEAR_INDICES
                and e.type == WEAK_INT
            )
        case _:
            return False


def replace_warp_and_lane(
    e: ir.Expr, warp: ir.Var, lane: ir.Var, assumptions: LaunchAssumptions
) -> ir.Expr:
    """Replace a warp or lane index with the variables of the loops over them."""
    if is_lane(e):
        return lane
    if not is_warp(e):
        return e
    assert isinstance(e, ir.Binary)
    assert isinstance(e.left, ir.Apply)
    if e.left.intrinsic is not GRID[0]:
        return warp
    block = ir.Apply(COORDINATES["blockIdx", "x"], (), WEAK_INT, e.span)
    first_warp = binary(MUL, block, integer(assumptions.max_threads // WARP, e.span), e.span)
    return binary(ADD, first_warp, warp, e.span)
