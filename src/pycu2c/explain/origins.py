"""Where the values of variables come from: the assignments of each, in one function."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.ir.nodes import Apply, Assign, Binary, Cast, Const, Expr, For, Function, Var
from pycu2c.ir.walk import expressions, statements
from pycu2c.operators import ADD, MUL, SUB

Origins = Mapping[str, tuple[Expr, ...]]

_ALONG_X = ("cuda.grid.x", "cuda.threadIdx.x")


def origins(function: Function) -> Origins:
    """For each variable the values that it is given."""
    found: dict[str, tuple[Expr, ...]] = {}
    for s in statements(function.body):
        if isinstance(s, Assign):
            found[s.var.name] = (*found.get(s.var.name, ()), s.value)
    return found


def counters(function: Function) -> dict[str, For]:
    """The loops that count, by the name of their counters."""
    return {s.var.name: s for s in statements(function.body) if isinstance(s, For)}


def pace(e: Expr, known: Origins, depth: int = 8) -> int | None:
    """How much an index grows from one thread to its neighbour along x; None if that is open."""
    match e:
        case Const():
            return 0
        case Cast():
            return pace(e.operand, known, depth)
        case Apply() if e.intrinsic.name in _ALONG_X:
            return 1
        case Binary(op=op) if op in (ADD, SUB):
            left, right = pace(e.left, known, depth), pace(e.right, known, depth)
            if left is None or right is None:
                return None
            return left + right if op is ADD else left - right
        case Binary(op=op, left=left_side, right=right_side) if op is MUL:
            for factor, other in ((left_side, right_side), (right_side, left_side)):
                inner = pace(other, known, depth)
                if isinstance(factor, Const) and inner is not None:
                    return int(factor.value) * inner
            both = (pace(left_side, known, depth), pace(right_side, known, depth))
            return 0 if both == (0, 0) else None
        case Var() if depth and len(known.get(e.name, ())) == 1:
            return pace(known[e.name][0], known, depth - 1)
        case _:
            return None if depends_on_x(e, known, depth) else 0


def depends_on_x(e: Expr, known: Origins, depth: int = 8) -> bool:
    """Whether an expression may differ between neighbours along x."""
    for part in expressions(e):
        if isinstance(part, Apply) and part.intrinsic.varies:
            return True
        if isinstance(part, Var) and part.name in known:
            if not depth or any(depends_on_x(v, known, depth - 1) for v in known[part.name]):
                return True
    return False
