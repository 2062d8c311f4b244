"""An expression at a point of a function -> what is known of its value; a condition -> what is
known where it holds. Knows nothing of statements."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import assert_never

from pycu2c.dtypes import Kind
from pycu2c.intrinsics.builtins import OPERATOR_ROWS
from pycu2c.intrinsics.registry import Intrinsic
from pycu2c.intrinsics.threads import GRID, GRIDSIZE
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Const,
    Dim,
    ElementOf,
    Expr,
    Junction,
    Let,
    Load,
    Logical,
    Select,
    Store,
    Stride,
    Unary,
    Var,
)
from pycu2c.operators import (
    ADD,
    AND,
    EQ,
    FLOORDIV,
    GE,
    GT,
    INVERT,
    LE,
    LT,
    MOD,
    MUL,
    NE,
    NEG,
    NOT,
    OR,
    POS,
    SHR,
    SUB,
    Operator,
    truth,
)
from pycu2c.passes.intervals import (
    ANYTHING,
    FAR,
    TRUTH,
    Interval,
    absolute,
    everything,
    exact_result,
    greater,
    held,
    inverted,
    is_whole,
    lesser,
    negated,
)
from pycu2c.passes.knowledge import Form, Knowledge, Term, Value, join
from pycu2c.types import Array, Scalar

_MOST_FORMS = 6
_UNKNOWN = Value(ANYTHING)
_ZERO = Value(Interval(0, 0))
_OPERATOR_OF = {row: op for op, row in OPERATOR_ROWS.items()}
_NEGATED = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}
_LESSER, _GREATER = ("min", "numpy.minimum"), ("max", "numpy.maximum")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the launcher guarantees.

    Always: no array has more than 2**48 elements (axes of length 0 counted as 1).
    ``index32``: none has 2**31 or more, and no axis of the grid has 2**31 threads or more.
    """

    index32: bool = False

    @property
    def most_elements(self) -> int:
        return (1 << 31) - 1 if self.index32 else 1 << 48

    def bounds(self, row: Intrinsic) -> Interval | None:
        """Where the integer that an intrinsic gives lies."""
        if row.bounds is None:
            return None
        low, high = row.bounds
        if self.index32 and row in GRID + GRIDSIZE:
            high = min(high, (1 << 31) - (2 if row in GRID else 1))
        return Interval(low, high)


def is_place(e: Expr) -> bool:
    """Whether an expression is a coordinate of the thread: the same wherever it is read."""
    return isinstance(e, Apply) and not e.arguments and _is_fixed(e.intrinsic)


def _is_fixed(row: Intrinsic) -> bool:
    return row.bounds is not None and (row.is_value or row in GRID + GRIDSIZE)


def variable_term(name: str, scalar: Scalar) -> Term:
    return Term(name, everything(scalar))


@dataclass(slots=True)
class Evaluator:
    """``of_node`` and ``inside`` fill up while ``recording``: once loops have settled."""

    facts: Facts
    recording: bool = True
    of_node: dict[int, Interval] = field(default_factory=dict)
    inside: dict[tuple[int, int], bool] = field(default_factory=dict)
    of_variable: dict[str, Interval] = field(default_factory=dict)

    def assign(self, var: Var | Let, value: Value, known: Knowledge) -> None:
        """Note that a variable of whole numbers has a value from here on."""
        if not is_whole(var.type if isinstance(var, Var) else var.value.type):
            return
        scalar = var.type if isinstance(var, Var) else var.value.type
        assert isinstance(scalar, Scalar)
        known.assign(variable_term(var.name, scalar), value)
        if self.recording:
            old = self.of_variable.get(var.name, value.interval)
            self.of_variable[var.name] = old.joined(value.interval)

    def value(self, e: Expr, known: Knowledge) -> Value:
        """What an expression gives; ``known`` learns what a Let in it binds."""
        value = self._value(e, known)
        if self.recording and is_whole(e.type):
            old = self.of_node.get(id(e), value.interval)
            self.of_node[id(e)] = old.joined(value.interval)
        return value

    def _value(self, e: Expr, known: Knowledge) -> Value:
        match e:
            case Const():
                return _constant(e)
            case Var():
                return (
                    _term_value(variable_term(e.name, e.type), known) if _is_number(e) else _UNKNOWN
                )
            case Unary():
                return self._unary(e, known)
            case Binary():
                return self._binary(e, known)
            case Logical():
                return self._truth(e, known)
            case Select():
                return self._select(e, known)
            case Cast():
                return _converted(self.value(e.operand, known), e)
            case Load() | ElementOf():
                self.access(e, known)
                return Value(everything(e.type))
            case Dim():
                return self._dim(e.array, e.axis, known)
            case Stride():
                return Value(everything(e.type))
            case Let():
                self.assign(e, self.value(e.value, known), known)
                return self.value(e.body, known)
            case Apply():
                return self._apply(e, known)
            case Call():
                for argument in e.arguments:
                    self.value(argument, known)
                return Value(everything(e.type))
            case _:
                assert_never(e)

    def access(self, e: Load | ElementOf | Store, known: Knowledge) -> None:
        """Evaluate the indices; note whether each is proved to lie inside its axis."""
        for axis, index in enumerate(e.indices):
            value = self.value(index, known)
            if self.recording:
                left = known.difference(self._dim(e.array, axis, known), value)
                proved = value.interval.low >= 0 and left.low >= 1
                self.inside[id(e), axis] = proved and self.inside.get((id(e), axis), True)

    # ---- values, node by node ----

    def _dim(self, array: Var, axis: int, known: Knowledge) -> Value:
        assert isinstance(array.type, Array)
        if array.type.shape is not None:
            length = array.type.shape[axis]
            return Value(Interval(length, length))
        bounds = Interval(0, self.facts.most_elements)
        return _term_value(Term(f"{array.name}.shape[{axis}]", bounds), known)

    def _truth(self, e: Expr, known: Knowledge) -> Value:
        if self.assume(e, known.copy(), True) is None:
            return _ZERO
        if self.assume(e, known.copy(), False) is None:
            return Value(Interval(1, 1))
        return Value(TRUTH)

    def _unary(self, e: Unary, known: Knowledge) -> Value:
        if e.op is NOT:
            return self._truth(e, known)
        operand = self.value(e.operand, known)
        if not is_whole(e.type) or e.type.dtype.kind is Kind.BOOL:
            return Value(everything(e.type))
        if e.op is POS:
            return operand
        if e.op is NEG:
            return Value(held(negated(operand.interval), e.type))
        assert e.op is INVERT
        return Value(held(inverted(operand.interval, e.type.dtype), e.type))

    def _binary(self, e: Binary, known: Knowledge) -> Value:
        if e.op.result is truth:
            return self._truth(e, known)
        left, right = self.value(e.left, known), self.value(e.right, known)
        value = _computed(e.op, left, right, e.type, known)
        if _is_size(e):  # the exact product is the number of elements, or less
            return Value(Interval(0, min(value.interval.high, self.facts.most_elements)))
        if e.op is FLOORDIV and _is_half_of_sum(e):
            assert isinstance(e.left, Binary)
            ends = self.value(e.left.left, known), self.value(e.left.right, known)
            return Value(value.interval, _merged([*value.forms, *_middle(*ends, left, known)]))
        return value

    def _select(self, e: Select, known: Knowledge) -> Value:
        yes = self.assume(e.condition, known.copy(), True)
        no = self.assume(e.condition, known.copy(), False)
        then = self.value(e.then, yes) if yes else None
        orelse = self.value(e.orelse, no) if no else None
        if then is None or orelse is None or yes is None or no is None:
            return then or orelse or Value(everything(e.type))
        terms = {f.term for f in (*then.forms, *orelse.forms)}
        forms = []
        for term in sorted(terms, key=lambda t: t.name):
            one, other = (
                yes.difference(then, _bare(term, yes)),
                no.difference(orelse, _bare(term, no)),
            )
            hull = one.joined(other)
            forms.append(Form(term, hull.low, hull.high))
        return Value(then.interval.joined(orelse.interval), _merged(forms))

    def _apply(self, e: Apply, known: Knowledge) -> Value:
        values = [self.value(a, known) for a in e.arguments]
        row = e.intrinsic
        if not is_whole(e.type):
            return _UNKNOWN
        assert isinstance(e.type, Scalar)
        if row in _OPERATOR_OF:
            return _computed(_OPERATOR_OF[row], values[0], values[1], e.type, known)
        if row.name in _LESSER:
            return _lesser(values[0], values[1])
        if row.name in _GREATER:
            return _greater(values[0], values[1])
        if row.name == "abs":
            return Value(held(absolute(values[0].interval), e.type))
        bounds = self.facts.bounds(row)
        if bounds is None:
            return Value(everything(e.type))
        return _term_value(Term(row.name, bounds), known) if _is_fixed(row) else Value(bounds)

    # ---- conditions ----

    def assume(self, e: Expr, known: Knowledge, wanted: bool) -> Knowledge | None:
        """What is known where a condition is ``wanted``; None if it never is. ``known`` is used
        up."""
        match e:
            case Unary() if e.op is NOT:
                return self.assume(e.operand, known, not wanted)
            case Logical():
                return self._junction(e.left, e.right, e.op is Junction.AND, known, wanted)
            case Binary() if e.op.result is truth and is_whole(e.left.type):
                left, right = self.value(e.left, known), self.value(e.right, known)
                op = e.op if wanted else _NEGATED[e.op]
                return known if _learned(op, left, right, known) else None
            case Binary() if e.op in (AND, OR) and e.type.dtype.kind is Kind.BOOL:
                self.value(e.right, known)  # evaluated whatever the left one is
                return self._junction(e.left, e.right, e.op is AND, known, wanted)
            case Cast() if e.type.dtype.kind is Kind.BOOL and is_whole(e.operand.type):
                return self.assume(e.operand, known, wanted)
            case Let():
                self.assign(e, self.value(e.value, known), known)
                return self.assume(e.body, known, wanted)
            case Select():
                then = self.assume(e.condition, known.copy(), True)
                orelse = self.assume(e.condition, known, False)
                return join(
                    then and self.assume(e.then, then, wanted),
                    orelse and self.assume(e.orelse, orelse, wanted),
                )
            case _:
                return self._nonzero(e, known, wanted)

    def _nonzero(self, e: Expr, known: Knowledge, wanted: bool) -> Knowledge | None:
        if isinstance(e, Binary) and e.op.result is truth:  # of floats
            self.value(e.left, known)
            self.value(e.right, known)
            return known
        value = self.value(e, known)
        return known if _learned(NE if wanted else EQ, value, _ZERO, known) else None

    def _junction(
        self, left: Expr, right: Expr, both: bool, known: Knowledge, wanted: bool
    ) -> Knowledge | None:
        """Of an ``and`` that holds both hold; one that does not fails at the left or after."""
        if both == wanted:
            first = self.assume(left, known, wanted)
            return first and self.assume(right, first, wanted)
        decided = self.assume(left, known.copy(), wanted)
        first = self.assume(left, known, not wanted)
        return join(decided, first and self.assume(right, first, wanted))


# ---- the parts that need no evaluator ----------------------------------------------------------


def _is_number(e: Var) -> bool:
    return is_whole(e.type)
