"""Compute the stride of an index between neighbouring threads along x."""

from __future__ import annotations

from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.explain.notes import quoted
from pycu2c.explain.value_origins import ExplainedFunction, Origins, loops_by_counter, origins
from pycu2c.ir.nodes import Apply, Binary, Call, Cast, Const, Expr, For, Var
from pycu2c.ir.walk import expressions
from pycu2c.ops.operators import ADD, MUL, SUB

_ALONG_X = ("cuda.grid.x", "cuda.threadIdx.x")
_DEPTH = 8  # of variables that are traced to their definitions


@dataclass(frozen=True, slots=True)
class UniformStride:
    """An unknown stride that is the same for all threads; ``text`` is its source."""

    text: str


LaneStride: TypeAlias = int | UniformStride | None  # None: unknown


@dataclass(frozen=True, slots=True)
class IndexStrides:
    """The strides of expressions in one function.

    ``given`` are names with unknown values: the parameters of a device function.
    """

    known: Origins
    loops: dict[str, For]
    given: frozenset[str]

    def of(self, e: Expr, depth: int = _DEPTH) -> LaneStride:
        match e:
            case Const():
                return 0
            case Cast():
                return self.of(e.operand, depth)
            case Apply() if e.intrinsic.name in _ALONG_X:
                return 1
            case Apply() if e.intrinsic.name in ("min", "max"):
                return self._clamped(e, depth)
            case Binary(op=op) if op in (ADD, SUB):
                return _sum(self.of(e.left, depth), self.of(e.right, depth), op is SUB)
            case Binary(op=op) if op is MUL:
                return self._product(e, depth)
            case Var() if depth and self._is_simple(e.name):
                return self.of(self.known[e.name][0], depth - 1)
            case _:
                return None if self.varies(e, depth) else 0

    def _is_simple(self, name: str) -> bool:
        """Return whether a variable has one definition, or is an induction variable."""
        loop = self.loops.get(name)
        even = loop is None or self.of(loop.step) == 0
        return name not in self.given and len(self.known.get(name, ())) == 1 and even

    def _clamped(self, e: Apply, depth: int) -> LaneStride:
        """Return the stride of ``min(x, n)``: that of x, away from the border."""
        nonzero = [p for p in (self.of(a, depth) for a in e.arguments) if p != 0]
        return 0 if not nonzero else nonzero[0] if len(nonzero) == 1 else None

    def _product(self, e: Binary, depth: int) -> LaneStride:
        left, right = self.of(e.left, depth), self.of(e.right, depth)
        for factor, other, inner in ((e.left, right, left), (e.right, left, right)):
            if isinstance(factor, Const) and isinstance(other, int):
                return int(factor.value) * other
            if inner == 0 and other == 1:
                return UniformStride(quoted(factor.span))
        return 0 if (left, right) == (0, 0) else None

    def varies(self, e: Expr, depth: int = _DEPTH) -> bool:
        """Return whether an expression may differ between neighbours along x."""
        return any(self._may_differ(part, depth) for part in expressions(e))

    def _may_differ(self, part: Expr, depth: int) -> bool:
        match part:
            case Apply():
                intrinsic = part.intrinsic
                along_x = intrinsic.is_divergent and not intrinsic.name.endswith((".y", ".z"))
                return along_x or not intrinsic.is_pure
            case Call():
                return True
            case Var() if part.name in self.given:
                return True
            case Var():
                values = self.known.get(part.name, ())
                return bool(values) and (
                    not depth or any(self.varies(v, depth - 1) for v in values)
                )
            case _:
                return False

    def runs_along_others(self, e: Expr, depth: int = _DEPTH) -> bool:
        """Return whether an expression depends on the y or z coordinate of the thread."""
        for part in expressions(e):
            if isinstance(part, Apply) and part.intrinsic.is_divergent:
                return part.intrinsic.name.endswith((".y", ".z"))
            if isinstance(part, Var) and depth:
                values = self.known.get(part.name, ())
                if any(self.runs_along_others(v, depth - 1) for v in values):
                    return True
        return False


def lane_strides(subject: ExplainedFunction) -> IndexStrides:
    """Return the strides of a function; the arguments of a kernel are uniform."""
    function = subject.function
    given = () if subject.is_kernel else (p.name for p in function.parameters)
    return IndexStrides(origins(function), loops_by_counter(function), frozenset(given))


def _sum(left: LaneStride, right: LaneStride, is_difference: bool) -> LaneStride:
    if isinstance(left, int) and isinstance(right, int):
        return left - right if is_difference else left + right
    if (
        left is None
        or right is None
        or (isinstance(left, UniformStride) and isinstance(right, UniformStride))
    ):
        return None
    return left if isinstance(left, UniformStride) else right
