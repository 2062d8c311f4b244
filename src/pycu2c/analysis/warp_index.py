"""CPU: how kernels say in which warp of a block of one row a thread is, and which lane of it."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.launch_assumptions import Facts
from pycu2c.base.types import WEAK_INT
from pycu2c.ir.builders import binary, integer
from pycu2c.ir.nodes import Apply, Binary, Body, Const, Declare, Expr, Load, Store, Var
from pycu2c.ir.walk import all_expressions, children, expressions, statements
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.coordinates import GRID, PLACES
from pycu2c.ops.intrinsics.threads.cpu_block import block_thread
from pycu2c.ops.operators import ADD, AND, C_SHR, MUL, QUOTIENT, REMAINDER

_IN_LINE = (block_thread, PLACES["threadIdx", "x"], GRID[0])
_LANE = ((REMAINDER, WARP), (AND, WARP - 1))
_WARP = ((QUOTIENT, WARP), (C_SHR, WARP.bit_length() - 1))


def has_whole_warps(facts: Facts) -> bool:
    """Whether a block is one row of some warps."""
    block = facts.block
    return block is not None and block[1:] == (1, 1) and block[0] % WARP == 0 and block[0] > WARP


def is_lane(e: Expr) -> bool:
    """``threadIdx.x % 32``, or the same of ``grid.x``."""
    return any(_is(e, *form) for form in _LANE)


def is_warp(e: Expr) -> bool:
    """``threadIdx.x / 32``, or the same of ``grid.x``."""
    return any(_is(e, *form) for form in _WARP)


def _is(e: Expr, op: object, number: int) -> bool:
    match e:
        case Binary(op=own, left=Apply(intrinsic=row), right=Const(value=value)):
            return own is op and value == number and row in _IN_LINE and e.type == WEAK_INT
        case _:
            return False


def standing(e: Expr, warp: Var, lane: Var, facts: Facts) -> Expr:
    """An expression by the places of the thread, if it asks for one of them."""
    if is_lane(e):
        return lane
    if not is_warp(e):
        return e
    assert isinstance(e, Binary)
    assert isinstance(e.left, Apply)
    if e.left.intrinsic is not GRID[0]:
        return warp
    block = Apply(PLACES["blockIdx", "x"], (), WEAK_INT, e.span)
    first = binary(MUL, block, integer(facts.threads // WARP, e.span), e.span)
    return binary(ADD, first, warp, e.span)


def warps_have_rows(body: Body) -> bool:
    """Whether each warp walks over memory of its own, ``a[warp * length + lane]``: only if the
    warp's part is the same for all of its lanes will a compiler see that they are neighbours."""
    if not any(map(is_lane, all_expressions(body))):
        return False
    values = {s.var.name: s.init for s in statements(body) if isinstance(s, Declare) and s.init}
    places = [i for e in all_expressions(body) if isinstance(e, Load) for i in e.indices]
    places += [i for s in statements(body) if isinstance(s, Store) for i in s.indices]
    return any(_has_rows(e, values) for place in places for e in expressions(place))


def _has_rows(e: Expr, values: Mapping[str, Expr]) -> bool:
    match e:
        case Binary(op=op, left=left, right=right) if op is MUL:
            pairs = ((left, right), (right, left))
            return any(_of_warp(a, values) and not isinstance(b, Const) for a, b in pairs)
        case _:
            return False


def _of_warp(e: Expr, values: Mapping[str, Expr]) -> bool:
    if isinstance(e, Var) and e.name in values:
        return _of_warp(values[e.name], values)
    return is_warp(e) or any(_of_warp(inner, values) for inner in children(e))
