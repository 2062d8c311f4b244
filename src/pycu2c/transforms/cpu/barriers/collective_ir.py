"""Build the IR of the ``collective=`` declarations of barriers and warp operations.

The generated IR does not depend on how threads are executed. Lanes that have returned do not
contribute. CUDA leaves undefined what a shuffle reads from such a lane, or from a lane outside the
mask. Here it is the last value that this lane contributed there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pycu2c.base.dtypes import UINT32
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, WEAK_INT32, Scalar
from pycu2c.ir import builders
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, const, integer, scalar_type, truth
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.collective import Collective, Operand, Value
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index, same_bits
from pycu2c.ops.operators import ADD, AND, C_SHL, C_SHR, NE, OR, Operator


@dataclass(frozen=True, slots=True, eq=False)
class IrValue(Value):
    """A value as an expression of the IR."""

    expr: ir.Expr

    @property
    def constant(self) -> int | None:
        return int(self.expr.value) if isinstance(self.expr, ir.Const) else None

    def literal(self, value: int) -> Value:
        return IrValue(const(value, self.expr.span, scalar_type(self.expr)))

    def binary(self, op: Operator, other: Value) -> Value:
        return IrValue(builders.binary(op, self.expr, expr_of(other), self.expr.span))

    def as_int32(self) -> Value:
        return IrValue(cast(self.expr, WEAK_INT32))

    def logical_not(self) -> Value:
        return IrValue(builders.negation(truth(self.expr)))

    def logical_or(self, other: Value) -> Value:
        span = self.expr.span
        return IrValue(builders.logical(ir.LogicalOp.OR, self.expr, expr_of(other), span))

    def select(self, if_true: Operand, if_false: Value) -> Value:
        then = if_false.literal(if_true) if isinstance(if_true, int) else if_true
        t = scalar_type(expr_of(if_false))
        return IrValue(ir.Select(self.expr, expr_of(then), expr_of(if_false), t, self.expr.span))

    def wrapping_add(self, other: Value) -> Value:
        span = self.expr.span
        return IrValue(builders.wrapping_arithmetic(ADD, self.expr, expr_of(other), span))


def expr_of(value: Value) -> ir.Expr:
    assert isinstance(value, IrValue)
    return value.expr


@dataclass(slots=True)
class IrCollective(Collective):
    """The lowering of one call: the contributions of a thread, and the epilogue after the wait.

    ``new_array`` allocates contribution arrays, ``new_variable`` variables.
    """

    arguments: Mapping[str, ir.Expr]
    type: Scalar
    span: Span
    new_array: Callable[[str, ir.Granularity, Scalar], ir.Var]
    new_variable: Callable[[str, Scalar], ir.Var]
    contributions: list[ir.Contribution] = field(default_factory=list)
    epilogue: list[ir.Stmt] = field(default_factory=list)
    _participants: ir.Var | None = None

    def __getitem__(self, parameter: str) -> Value:
        return IrValue(self.arguments[parameter])

    @property
    def thread(self) -> Value:
        return IrValue(self._thread())

    def count(self, name: str, condition: Value) -> Value:
        one = cast(truth(expr_of(condition)), WEAK_INT)
        total = self._load(self._contribute(name, ir.Granularity.BLOCK, one), self._integer(0))
        return IrValue(cast(total, WEAK_INT))

    def ballot(self, name: str, condition: Value | None = None) -> Value:
        mask_type = Scalar(UINT32)
        lane = cast(self._binary(AND, self._thread(), WARP - 1), mask_type)
        bit = self._binary(C_SHL, const(1, self.span, mask_type), lane)
        if condition is not None:
            unset = const(0, self.span, mask_type)
            bit = ir.Select(truth(expr_of(condition)), bit, unset, mask_type, self.span)
        warp = self._binary(C_SHR, self._thread(), WARP.bit_length() - 1)
        loaded = self._load(self._contribute(name, ir.Granularity.WARP, bit), warp)
        lanes = cast(loaded, WEAK_INT)
        mask = self.arguments.get("mask")
        return IrValue(lanes if mask is None else self._binary(AND, lanes, mask))

    def shuffle(
        self, source: Value, is_in_range: Value | None = None, otherwise: Value | None = None
    ) -> Value:
        sent = self._contribute_value()
        sent_value = self._load(sent, expr_of(source))
        if is_in_range is None:
            return IrValue(sent_value)
        other_value = self._load(sent, expr_of(otherwise or self.thread))
        t = scalar_type(sent_value)
        return IrValue(ir.Select(expr_of(is_in_range), sent_value, other_value, t, self.span))

    @property
    def participants(self) -> Value:
        if self._participants is None:
            self._participants = self.new_variable("who", WEAK_INT)
            self._assign(self._participants, expr_of(self.ballot("here")))
        return IrValue(self._participants)

    def matching_lanes(self) -> Value:
        participants = expr_of(self.participants)
        same = self.new_variable("same", WEAK_INT)
        self._assign(same, self._integer(0))
        value = self.arguments["value"]
        strong_type = Scalar(scalar_type(value).dtype)
        own_value = self.new_variable("own", strong_type)
        self._assign(own_value, cast(value, strong_type))

        def update(value: ir.Load) -> ir.Stmt:
            equal = ir.Apply(same_bits, (value, own_value), WEAK_BOOL, self.span)
            lane = self._binary(AND, value.indices[0], WARP - 1)
            bit = self._binary(C_SHL, self._integer(1), lane)
            with_lane = self._binary(OR, same, bit)
            return ir.Assign(
                same, ir.Select(equal, with_lane, same, WEAK_INT, self.span), self.span
            )

        self._for_each_lane(participants, update)
        return IrValue(same)

    def reduce(self, combine: Callable[[Value, Value], Value], start: int | None = None) -> Value:
        result_type = Scalar(self.type.dtype)
        total = self.new_variable("total", result_type)
        own_value = cast(self.arguments["value"], result_type)
        self._assign(total, own_value if start is None else const(start, self.span, result_type))

        def update(value: ir.Load) -> ir.Stmt:
            return ir.Assign(total, expr_of(combine(IrValue(total), IrValue(value))), self.span)

        self._for_each_lane(expr_of(self.participants), update)
        return IrValue(total)

    def _for_each_lane(self, lanes: ir.Expr, update: Callable[[ir.Load], ir.Stmt]) -> None:
        """Loop over the lanes of a mask; ``update`` takes the value of each lane."""
        sent = self._contribute_value()
        lane = self.new_variable("lane", WEAK_INT)
        first_thread = self._binary(AND, self._thread(), -WARP)
        lane_value = self._load(sent, self._binary(OR, first_thread, lane))
        bit = self._binary(AND, self._binary(C_SHR, lanes, lane), 1)
        step = ir.If(self._binary(NE, bit, 0), (update(lane_value),), (), self.span)
        bounds = (self._integer(0), self._integer(WARP), self._integer(1))
        self.epilogue.append(ir.For(lane, *bounds, (step,), self.span))

    def _contribute_value(self) -> ir.Var:
        return self._contribute("sent", ir.Granularity.THREAD, self.arguments["value"])

    def _contribute(self, name: str, granularity: ir.Granularity, value: ir.Expr) -> ir.Var:
        """Contribute ``value`` to the thread's own element, or to the sum of its warp or block."""
        element = Scalar(scalar_type(value).dtype)
        array = self.new_array(name, granularity, element)
        self.contributions.append(ir.Contribution(array, granularity, cast(value, element)))
        return array

    def _assign(self, var: ir.Var, value: ir.Expr) -> None:
        self.epilogue.append(ir.Assign(var, value, self.span))

    def _load(self, array: ir.Var, index: ir.Expr) -> ir.Load:
        return ir.Load(array, (index,), self.span)

    def _thread(self) -> ir.Expr:
        return ir.Apply(linear_thread_index, (), WEAK_INT, self.span)

    def _integer(self, value: int) -> ir.Expr:
        return integer(value, self.span)

    def _binary(self, op: Operator, left: ir.Expr, right: ir.Expr | int) -> ir.Expr:
        right = self._integer(right) if isinstance(right, int) else right
        return builders.binary(op, left, right, self.span)
