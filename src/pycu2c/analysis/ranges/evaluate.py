"""An expression at a point of a function -> what is known of its value; a condition -> what is
known where it holds. Knows nothing of statements."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, assert_never

from pycu2c.analysis import induction_variables
from pycu2c.analysis.launch_assumptions import Facts, is_fixed
from pycu2c.analysis.ranges.arithmetic import (
    computed,
    constant,
    converted,
    greatest,
    learned,
    least,
    merged,
    middle,
    read,
    turns,
)
from pycu2c.analysis.ranges.domain import Form, Knowledge, Term, Value, join
from pycu2c.analysis.ranges.intervals import (
    ANYTHING,
    TRUTH,
    Interval,
    absolute,
    everything,
    exact_result,
    given_by_float,
    held,
    inverted,
    is_exact,
    is_whole,
    negated,
)
from pycu2c.base.dtypes import Kind
from pycu2c.base.limits import INDEX32_LIMIT
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, Array, Scalar
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Const,
    Dim,
    ElementOf,
    Expr,
    Item,
    Junction,
    Let,
    Load,
    Logical,
    Member,
    Pack,
    Select,
    Store,
    Stride,
    Unary,
    Var,
    View,
)
from pycu2c.ir.walk import children, expressions, inside
from pycu2c.ops.intrinsics.builtins import OPERATOR_ROWS, rounds
from pycu2c.ops.intrinsics.memory.subscripts import SUBSCRIPTS, from_start, slice_back
from pycu2c.ops.intrinsics.threads import warp
from pycu2c.ops.operators import (
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
    Operator,
    truth,
)

_UNKNOWN = Value(ANYTHING)
_ZERO = constant(0)
_OPERATOR_OF = {row: op for op, row in OPERATOR_ROWS.items()}
_NEGATED = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}
_SWAPPED = {LT: GT, GT: LT, GE: LE, LE: GE, EQ: EQ, NE: NE}
_LESSER, _GREATER = ("min", "numpy.minimum"), ("max", "numpy.maximum")


def variable_term(var: Var) -> Term | None:
    """The term of a variable of whole numbers."""
    return Term(var.name, everything(var.type)) if is_whole(var.type) else None


# of an argument: where a number lies, or the lengths of an array's axes
Argument: TypeAlias = Interval | tuple[Interval, ...]
Results: TypeAlias = Callable[[Call, Sequence[Argument]], Interval]
Lengths: TypeAlias = Mapping[tuple[str, int], Interval]  # of an array's name and axis
Elements: TypeAlias = Mapping[str, Interval]  # of all elements of an array, by its name


def any_result(call: Call, _: Sequence[Argument]) -> Interval:
    """What a device function gives of which nothing is known."""
    return everything(call.type)


@dataclass(slots=True)
class Evaluator:
    """``of_node`` and ``inside`` fill up while ``recording``: once loops have settled.

    ``lengths``: of arrays that the function is given. ``results``: of the calls of others, from
    where their arguments lie. ``elements``: where those of the module's constant arrays lie.
    """

    facts: Facts
    lengths: Lengths
    results: Results = any_result
    elements: Elements = field(default_factory=dict)
    recording: bool = True
    of_node: dict[int, Interval] = field(default_factory=dict)
    inside: dict[tuple[int, int], bool] = field(default_factory=dict)
    of_variable: dict[str, Interval] = field(default_factory=dict)
    turns: dict[int, Interval] = field(default_factory=dict)  # a // b of each ``a % b``

    def assign(self, var: Var, value: Value, known: Knowledge) -> None:
        """A variable of whole numbers has a value from here on."""
        term = variable_term(var)
        if term is None:
            return
        known.assign(term, value)
        if self.recording:
            old = self.of_variable.get(var.name, value.interval)
            self.of_variable[var.name] = old.joined(value.interval)

    def _bind(self, let: Let, known: Knowledge) -> None:
        value = self.value(let.value, known)
        if isinstance(let.value.type, Scalar):
            self.assign(Var(let.name, let.value.type, let.span), value, known)

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
                return _literal(e)
            case Var():
                term = variable_term(e)
                return read(term, known) if term else _UNKNOWN
            case Unary():
                return self._unary(e, known)
            case Binary():
                return self._binary(e, known)
            case Logical():
                return self._truth(e, known)
            case Select():
                return self._select(e, known)
            case Cast():
                return self._cast(e, known)
            case Load() | ElementOf():
                self.access(e, known)
                found = self.elements.get(e.array.name) if isinstance(e, Load) else None
                return Value(found or everything(e.type))
            case Member() | Item() | Pack() | View():
                for child in children(e):
                    self.value(child, known)
                return Value(everything(e.type))
            case Dim():
                return self.length(e.array, e.axis, known)
            case Stride():
                return Value(everything(e.type))
            case Let():
                self._bind(e, known)
                return self.value(e.body, known)
            case Apply():
                return self._apply(e, known)
            case Call():
                given = [self._argument(argument, known) for argument in e.arguments]
                return Value(self.results(e, given) if is_whole(e.type) else ANYTHING)
            case _:
                assert_never(e)

    def _argument(self, e: Expr, known: Knowledge) -> Argument:
        value = self.value(e, known).interval
        match e:
            case View():
                return tuple(self.value(length, known).interval for length in e.lengths)
            case Var(type=Array(ndim=ndim)):
                return tuple(self.length(e, axis, known).interval for axis in range(ndim))
            case _:
                return value

    def access(self, e: Load | ElementOf | Store, known: Knowledge) -> None:
        """Evaluate the indices; note whether each is proved to lie inside its axis."""
        for axis, index in enumerate(e.indices):
            self._recall(index, known)
            value = self.value(index, known)
            assert isinstance(e.array.type, Array)
            if self.recording and len(e.indices) == e.array.type.ndim:
                left = known.difference(self.length(e.array, axis, known), value)
                proved = value.interval.low >= 0 and left.low >= 1
                self.inside[id(e), axis] = proved and self.inside.get((id(e), axis), True)
        for index in () if isinstance(e, Load) else inside(e.path):
            self.value(index, known)

    def _recall(self, index: Expr, known: Knowledge) -> None:
        """``here = y * width + x`` earlier, and a condition since then that says more of them:
        if ``here`` stands in an index that may be negative, ``known`` learns of it."""
        found = [x for x in expressions(index) if isinstance(x, Var) and x.name in known.meanings]
        recording, self.recording = self.recording, False
        if found and self.value(index, known).interval.low < 0:
            for var in found:
                meant = self.value(known.meanings[var.name], known.copy())
                learned(EQ, self.value(var, known), meant, known)
        self.recording = recording

    # ---- values, node by node ----

    def length(self, array: Var, axis: int, known: Knowledge) -> Value:
        """``array.shape[axis]``."""
        assert isinstance(array.type, Array)
        if array.type.shape is not None:
            return constant(array.type.shape[axis])
        length = self.lengths.get((array.name, axis), ANYTHING)
        most = self.facts.lengths
        bounds = Interval(max(length.low, most.low), min(length.high, most.high))
        return read(Term(f"{array.name}.shape[{axis}]", bounds), known)

    def _truth(self, e: Expr, known: Knowledge) -> Value:
        if self.assume(e, known.copy(), True) is None:
            return _ZERO
        if self.assume(e, known.copy(), False) is None:
            return constant(1)
        return Value(TRUTH)

    def _cast(self, e: Cast, known: Knowledge) -> Value:
        operand = self.value(e.operand, known)
        if not (is_whole(e.type) and is_whole(e.operand.type)):
            return Value(given_by_float(e.type))
        is_bool = e.type.dtype.kind is Kind.BOOL
        return self._truth(e, known) if is_bool else converted(operand, e.type)

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
        value = computed(e.op, left, right, e.type, known)
        if e.op is MOD and self.recording and is_whole(e.type):
            found = turns(left, right, known)
            self.turns[id(e)] = found.joined(self.turns.get(id(e), found))
        if _is_size(e):  # whatever the intervals say, there are not more elements
            return Value(Interval(0, min(value.interval.high, self.facts.most_elements)))
        if self.facts.ordinary and _counts_threads(e):
            return Value(Interval(0, min(value.interval.high, INDEX32_LIMIT - 1)))
        if e.op is FLOORDIV and _is_half_of_sum(e, left):
            assert isinstance(e.left, Binary)
            ends = self.value(e.left.left, known), self.value(e.left.right, known)
            return Value(value.interval, merged([*value.forms, *middle(*ends, known)]))
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
            beside = yes.difference(then, read(term, yes))
            hull = beside.joined(no.difference(orelse, read(term, no)))
            forms.append(Form(term, hull.low, hull.high))
        return Value(then.interval.joined(orelse.interval), merged(forms))

    def _apply(self, e: Apply, known: Knowledge) -> Value:
        values = [self.value(a, known) for a in e.arguments]
        row = e.intrinsic
        if not is_whole(e.type):
            return _UNKNOWN
        assert isinstance(e.type, Scalar)
        if row in _OPERATOR_OF:
            return computed(_OPERATOR_OF[row], values[0], values[1], e.type, known)
        if row.name in _LESSER:
            return least(values[0], values[1])
        if row.name in _GREATER:
            return greatest(values[0], values[1])
        if row is from_start:
            reach = values[0].interval
            return replace(values[0], interval=Interval(max(reach.low, 0), max(reach.high, 0)))
        if row in SUBSCRIPTS:  # whatever else it gives is an index outside of the array
            return Value(Interval(-1 if row is slice_back else 0, values[1].interval.high))
        if row is rounds:
            return Value(induction_variables.length_of_range(*(v.interval for v in values)))
        if row.meets and row in warp.CHOOSING:  # what some lane gives that has come there, too
            return Value(values[1].interval)
        if row.name == "round":
            return Value(given_by_float(e.type))
        if row.name == "abs":
            return Value(held(absolute(values[0].interval), e.type))
        bounds = self.facts.bounds(row)
        if bounds is None:
            return Value(everything(e.type))
        return read(Term(row.name, bounds), known) if is_fixed(row) else Value(bounds)

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
                if not learned(op, left, right, known):
                    return None
                rooted = self._root(op, e.left, right, known)
                return known if rooted and self._root(_SWAPPED[op], e.right, left, known) else None
            case Binary() if e.op in (AND, OR) and e.type.dtype.kind is Kind.BOOL:
                self.value(e.right, known)  # evaluated whatever the left one is
                return self._junction(e.left, e.right, e.op is AND, known, wanted)
            case Cast() if e.type.dtype.kind is Kind.BOOL and is_whole(e.operand.type):
                return self.assume(e.operand, known, wanted)
            case Let():
                self._bind(e, known)
                return self.assume(e.body, known, wanted)
            case Select():
                then = self.assume(e.condition, known.copy(), True)
                orelse = self.assume(e.condition, known, False)
                return join(
                    then and self.assume(e.then, then, wanted),
                    orelse and self.assume(e.orelse, orelse, wanted),
                )
            case Var() if e.name in known.meanings:
                return self._meant(e, known, wanted)
            case _:
                return self._nonzero(e, known, wanted)

    def _root(self, op: Operator, e: Expr, bound: Value, known: Knowledge) -> bool:
        """``d * d <= n``: then d is no greater than the root. False if it cannot be."""
        match e:
            case Binary(product, Var() as x, Var(name=same)) if product is MUL and x.name == same:
                d = self.value(x, known)
                exact = exact_result(MUL, d.interval, d.interval, e.type.dtype)
                if op not in (LT, LE, EQ) or not is_exact(exact, e.type):
                    return True
                root = math.isqrt(max(bound.interval.high, 0))
                return known.learn(constant(root), d, 0) and known.learn(d, constant(-root), 0)
            case _:
                return True

    def _meant(self, e: Var, known: Knowledge, wanted: bool) -> Knowledge | None:
        """``inside = i < n`` earlier, and i and n as they were: they say what it says."""
        recording, self.recording = self.recording, False
        meant = self.assume(known.meanings[e.name], known, wanted)
        self.recording = recording
        return meant and self._nonzero(e, meant, wanted)

    def _nonzero(self, e: Expr, known: Knowledge, wanted: bool) -> Knowledge | None:
        if isinstance(e, Binary) and e.op.result is truth:  # of floats
            self.value(e.left, known)
            self.value(e.right, known)
            return known
        value = self.value(e, known)
        return known if learned(NE if wanted else EQ, value, _ZERO, known) else None

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


def _literal(e: Const) -> Value:
    """A literal may be outside its type: it is then on its way to a wider one."""
    if isinstance(e.value, float):
        return _UNKNOWN
    return converted(constant(int(e.value)), e.type)


def _is_half_of_sum(e: Binary, sum_value: Value) -> bool:
    halves = isinstance(e.right, Const) and e.right.value == 2
    return halves and isinstance(e.left, Binary) and e.left.op is ADD and bool(sum_value.forms)


def _is_size(e: Binary) -> bool:
    """``a.shape[0] * a.shape[1]``: different axes of one array, as Python's ints."""
    factors = _factors(e)
    axes = {(f.array.name, f.axis) for f in factors if isinstance(f, Dim)}
    one_array = len({name for name, _ in axes}) == 1 and len(axes) == len(factors)
    return e.op is MUL and one_array and e.type.weak


def _counts_threads(e: Binary) -> bool:
    """``blockIdx.x * blockDim.x`` or ``gridDim.x * blockDim.x``: there are not more threads."""
    names = {
        f.intrinsic.name for f in (e.left, e.right) if isinstance(f, Apply) and not f.arguments
    }
    wholes = ({f"cuda.{block}.{x}", f"cuda.blockDim.{x}"} for x in "xyz" for block in _BLOCKS)
    return e.op is MUL and any(names == whole for whole in wholes)


_BLOCKS = ("blockIdx", "gridDim")


def _factors(e: Expr) -> list[Expr]:
    if isinstance(e, Binary) and e.op is MUL:
        return _factors(e.left) + _factors(e.right)
    if isinstance(e, Cast) and e.type == WEAK_INT and isinstance(e.operand, Dim):
        return [e.operand]
    return [e]
