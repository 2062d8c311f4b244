"""Compute the stride of an index between neighbouring threads along x."""

from __future__ import annotations

from typing import TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.explain.notes import quoted
from pycu2c.explain.value_origins import ExplainedFunction, Origins, loops_by_counter, origins
from pycu2c.ir.nodes import Apply, Binary, Call, Cast, Const, Expr, For, Var
from pycu2c.ir.walk import expressions
from pycu2c.ops.operators import ADD, MUL, SUB

_X_COORDINATES = ("cuda.grid.x", "cuda.threadIdx.x")
_MAX_DEPTH = 8  # of variables that are traced to their definitions


@dataclass(frozen=True, slots=True)
class UniformStride:
    """An unknown stride that is the same for all threads; ``text`` is its source."""

    text: str


LaneStride: TypeAlias = int | UniformStride | None  # None: unknown


@dataclass(frozen=True, slots=True)
class IndexStrides:
    """The strides of expressions in one function.

    ``unknown``: names with unknown values, the parameters of a device function.
    """

    definitions: Origins
    loops: dict[str, For]
    unknown: frozenset[str]

    def stride_of(self, e: Expr, depth: int = _MAX_DEPTH) -> LaneStride:
        match e:
            case Const():
                return 0
            case Cast():
                return self.stride_of(e.operand, depth)
            case Apply() if e.intrinsic.name in _X_COORDINATES:
                return 1
            case Apply() if e.intrinsic.name in ("min", "max"):
                return self._min_max_stride(e, depth)
            case Binary(op=op) if op in (ADD, SUB):
                return _sum_stride(
                    self.stride_of(e.left, depth), self.stride_of(e.right, depth), op is SUB
                )
            case Binary(op=op) if op is MUL:
                return self._product_stride(e, depth)
            case Var() if depth and self._is_simple(e.name):
                return self.stride_of(self.definitions[e.name][0], depth - 1)
            case _:
                return None if self.varies(e, depth) else 0

    def _is_simple(self, name: str) -> bool:
        """Return whether a variable has one definition, or is an induction variable."""
        loop = self.loops.get(name)
        has_uniform_step = loop is None or self.stride_of(loop.step) == 0
        return (
            name not in self.unknown
            and len(self.definitions.get(name, ())) == 1
            and has_uniform_step
        )

    def _min_max_stride(self, e: Apply, depth: int) -> LaneStride:
        """Return the stride of ``min(x, n)``: that of x, away from the border."""
        nonzero = [
            stride for stride in (self.stride_of(a, depth) for a in e.arguments) if stride != 0
        ]
        return 0 if not nonzero else nonzero[0] if len(nonzero) == 1 else None

    def _product_stride(self, e: Binary, depth: int) -> LaneStride:
        left, right = self.stride_of(e.left, depth), self.stride_of(e.right, depth)
        for factor, other_stride, factor_stride in ((e.left, right, left), (e.right, left, right)):
            if isinstance(factor, Const) and isinstance(other_stride, int):
                return int(factor.value) * other_stride
            if factor_stride == 0 and other_stride == 1:
                return UniformStride(quoted(factor.span))
        return 0 if (left, right) == (0, 0) else None

    def varies(self, e: Expr, depth: int = _MAX_DEPTH) -> bool:
        """Return whether an expression may differ between neighbours along x."""
        return any(self._may_differ(subexpression, depth) for subexpression in expressions(e))

    def _may_differ(self, subexpression: Expr, depth: int) -> bool:
        match subexpression:
            case Apply():
                intrinsic = subexpression.intrinsic
                along_x = intrinsic.is_divergent and not intrinsic.name.endswith((".y", ".z"))
                return along_x or not intrinsic.is_pure
            case Call():
                return True
            case Var() if subexpression.name in self.unknown:
                return True
            case Var():
                values = self.definitions.get(subexpression.name, ())
                return bool(values) and (
                    not depth or any(self.varies(v, depth - 1) for v in values)
                )
            case _:
                return False

    def depends_on_y_or_z(self, e: Expr, depth: int = _MAX_DEPTH) -> bool:
        """Return whether an expression depends on the y or z coordinate of the thread."""
        for subexpression in expressions(e):
            if isinstance(subexpression, Apply) and subexpression.intrinsic.is_divergent:
                return subexpression.intrinsic.name.endswith((".y", ".z"))
            if isinstance(subexpression, Var) and depth:
                values = self.definitions.get(subexpression.name, ())
                if any(self.depends_on_y_or_z(v, depth - 1) for v in values):
                    return True
        return False


def lane_strides(subject: ExplainedFunction) -> IndexStrides:
    """Return the strides of a function; the arguments of a kernel are uniform."""
    function = subject.function
    unknown = () if subject.is_kernel else (p.name for p in function.parameters)
    return IndexStrides(origins(function), loops_by_counter(function), frozenset(unknown))


def _sum_stride(left: LaneStride, right: LaneStride, is_difference: bool) -> LaneStride:
    if isinstance(left, int) and isinstance(right, int):
        return left - right if is_difference else left + right
    if (
        left is None
        or right is None
        or (isinstance(left, UniformStride) and isinstance(right, UniformStride))
    ):
        return None
    return left if isinstance(left, UniformStride) else right
