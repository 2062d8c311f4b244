"""The IR of barriers and warp operations, from their ``collective=`` declarations.

The ``collective=`` of an intrinsic is a function of a ``Collective``, which stands for the call of
one thread. It says what the thread contributes before the threads wait, and returns the value that
the thread computes from all contributions::

    @_vote(collective=lambda call: call.ballot("holds", call["predicate"]) != 0)
    def any_sync(mask: int, predicate: bool) -> bool: ...

CUDA C texts have the functions of ``compat/cuda_text/headers/synchronization.h``.
The generated IR does not depend on how threads are executed. Lanes that have returned do not
contribute. CUDA leaves undefined what a shuffle reads from such a lane, or from a lane outside the
mask. Here it is the last value that this lane contributed there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from pycu2c.base.dtypes import UINT32
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, WEAK_INT32, Scalar
from pycu2c.ir import builders
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import cast, const, integer, scalar_type, truth
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.reference_thread import WARP
from pycu2c.ops.intrinsics.threads.cpu_block import linear_thread_index, same_bits
from pycu2c.ops.operators import ADD, AND, C_SHL, C_SHR, NE, OR, Operator

Operand: TypeAlias = "Value | int"


def _operator(op: Operator) -> Callable[[Value, Operand], Value]:
    def apply(left: Value, right: Operand) -> Value:
        right = left.literal(right) if isinstance(right, int) else right
        return Value(builders.binary(op, left.expr, right.expr, left.expr.span))

    return apply


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An expression of one thread. Operators return expressions; an int is a literal."""

    expr: ir.Expr

    @property
    def constant(self) -> int | None:
        """The value if it is a literal, else None."""
        return int(self.expr.value) if isinstance(self.expr, ir.Const) else None

    def literal(self, value: int) -> Value:
        """Return a literal of the same type."""
        return Value(const(value, self.expr.span, scalar_type(self.expr)))

    def as_int32(self) -> Value:
        return Value(cast(self.expr, WEAK_INT32))

    def logical_not(self) -> Value:
        return Value(builders.negation(truth(self.expr)))

    def logical_or(self, other: Value) -> Value:
        return Value(builders.logical(ir.LogicalOp.OR, self.expr, other.expr, self.expr.span))

    def select(self, if_true: Operand, if_false: Value) -> Value:
        """Return ``if_true`` where this condition holds, else ``if_false``."""
        then = if_false.literal(if_true) if isinstance(if_true, int) else if_true
        t = scalar_type(if_false.expr)
        return Value(ir.Select(self.expr, then.expr, if_false.expr, t, self.expr.span))

    def wrapping_add(self, other: Value) -> Value:
        """Return the sum, with wraparound instead of overflow."""
        return Value(builders.wrapping_arithmetic(ADD, self.expr, other.expr, self.expr.span))

    __add__ = _operator(ops.ADD)
    __sub__ = _operator(ops.SUB)
    __and__ = _operator(ops.AND)
    __or__ = _operator(ops.OR)
    __xor__ = _operator(ops.XOR)
    __rshift__ = _operator(ops.C_SHR)
    __lt__ = _operator(ops.LT)
    __gt__ = _operator(ops.GT)
    __ge__ = _operator(ops.GE)
    __eq__ = _operator(ops.EQ)  # type: ignore[assignment]
    __ne__ = _operator(ops.NE)  # type: ignore[assignment]

    def __rsub__(self, other: int) -> Value:
        return self.literal(other) - self

    def __rlshift__(self, other: int) -> Value:
        return _operator(ops.C_SHL)(self.literal(other), self)


@dataclass(slots=True)
class Collective:
    """The lowering of one call: the contributions of a thread, and the epilogue after the wait.

    ``new_array`` allocates contribution arrays, ``new_variable`` variables. ``name`` names a
    contribution in generated code.
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
        """Return an argument of the call."""
        return Value(self.arguments[parameter])

    @property
    def thread(self) -> Value:
        """The rank of the thread in its block."""
        return Value(self._thread())

    @property
    def lane(self) -> Value:
        return self.thread & (WARP - 1)

    def count(self, name: str, condition: Value) -> Value:
        """Return the number of threads of the block for which a condition holds."""
        one = cast(truth(condition.expr), WEAK_INT)
        total = self._load(self._contribute(name, ir.Granularity.BLOCK, one), self._integer(0))
        return Value(cast(total, WEAK_INT))

    def ballot(self, name: str, condition: Value | None = None) -> Value:
        """Return the mask of the lanes of the call, or of those for which a condition holds.

        If the operation has a parameter ``mask``, other lanes are left out.
        """
        mask_type = Scalar(UINT32)
        lane = cast(self._binary(AND, self._thread(), WARP - 1), mask_type)
        bit = self._binary(C_SHL, const(1, self.span, mask_type), lane)
        if condition is not None:
            unset = const(0, self.span, mask_type)
            bit = ir.Select(truth(condition.expr), bit, unset, mask_type, self.span)
        warp = self._binary(C_SHR, self._thread(), WARP.bit_length() - 1)
        loaded = self._load(self._contribute(name, ir.Granularity.WARP, bit), warp)
        lanes = cast(loaded, WEAK_INT)
        mask = self.arguments.get("mask")
        return Value(lanes if mask is None else self._binary(AND, lanes, mask))

    def shuffle(
        self, source: Value, is_in_range: Value | None = None, otherwise: Value | None = None
    ) -> Value:
        """Return the argument ``value`` of the thread ``source``.

        If ``source`` is not in range, it is that of the thread ``otherwise``, by default its own.
        """
        sent = self._contribute_value()
        sent_value = self._load(sent, source.expr)
        if is_in_range is None:
            return Value(sent_value)
        other_value = self._load(sent, (otherwise or self.thread).expr)
        t = scalar_type(sent_value)
        return Value(ir.Select(is_in_range.expr, sent_value, other_value, t, self.span))

    @property
    def participants(self) -> Value:
        """The mask of the lanes that take part in a match."""
        if self._participants is None:
            self._participants = self.new_variable("who", WEAK_INT)
            self._assign(self._participants, self.ballot("here").expr)
        return Value(self._participants)

    def matching_lanes(self) -> Value:
        """Return the mask of the participating lanes with the same argument ``value``."""
        participants = self.participants.expr
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
        return Value(same)

    def reduce(self, combine: Callable[[Value, Value], Value], start: int | None = None) -> Value:
        """Combine the arguments ``value`` of the participating lanes, from ``start`` on.

        By default the combination starts with the thread's own value, which it then includes twice.
        """
        result_type = Scalar(self.type.dtype)
        total = self.new_variable("total", result_type)
        own_value = cast(self.arguments["value"], result_type)
        self._assign(total, own_value if start is None else const(start, self.span, result_type))

        def update(value: ir.Load) -> ir.Stmt:
            return ir.Assign(total, combine(Value(total), Value(value)).expr, self.span)

        self._for_each_lane(self.participants.expr, update)
        return Value(total)

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
