"""An expression at a point of a function -> what is known of its value; a condition -> what is
known where it holds. Knows nothing of statements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from pycu2c.dtypes import Kind
from pycu2c.intrinsics.builtins import OPERATOR_ROWS
from pycu2c.intrinsics.registry import Intrinsic
from pycu2c.intrinsics.subscripts import SUBSCRIPTS, from_start, slice_back
from pycu2c.intrinsics.threads import BLOCK_NUMBERS, GRID, GRIDSIZE
from pycu2c.ir.nodes import (
    Apply,
    Binary,
    Call,
    Cast,
    Const,
    Dim,
    ElementOf,
    Expr,
    Function,
    Junction,
    Let,
    Load,
    Logical,
    Member,
    Module,
    Pack,
    Select,
    Store,
    Stride,
    Unary,
    Var,
    View,
)
from pycu2c.ir.walk import children
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
    MUL,
    NE,
    NEG,
    NOT,
    OR,
    POS,
    truth,
)
from pycu2c.passes.intervals import (
    ANYTHING,
    TRUTH,
    Interval,
    absolute,
    everything,
    held,
    inverted,
    is_whole,
    negated,
)
from pycu2c.passes.knowledge import Form, Knowledge, Term, Value, join
from pycu2c.passes.value_arithmetic import (
    computed,
    constant,
    converted,
    greatest,
    learned,
    least,
    merged,
    middle,
    read,
)
from pycu2c.types import WEAK_INT, Array, Scalar

_UNKNOWN = Value(ANYTHING)
_ZERO = constant(0)
_OPERATOR_OF = {row: op for op, row in OPERATOR_ROWS.items()}
_NEGATED = {LT: GE, GE: LT, GT: LE, LE: GT, EQ: NE, NE: EQ}
_LESSER, _GREATER = ("min", "numpy.minimum"), ("max", "numpy.maximum")


INDEX32_LIMIT = 1 << 30
BLOCKS32_LIMIT = 1 << 22


@dataclass(frozen=True, slots=True)
class Facts:
    """What the launcher guarantees.

    Always: no array has more than 2**48 elements (axes of length 0 counted as 1).
    ``index32``: none has 2**30 or more, and no axis of the grid has 2**30 threads or more, so
    that an index plus a stride fits 32 bits too, and loops over the data can count in them.
    No axis has over 2**22 blocks, so that a block's number times a tile's width fits, too, and
    Python ints that the kernel is given lie between -(2**30) and 2**30.
    ``wraparound``: an index that is not a constant may be negative. False is the user's word.
    ``fastmath``: the user does not ask which of two numbers is the lesser if one is NaN.
    """

    index32: bool = False
    wraparound: bool = True
    fastmath: bool = False
    in_kernel: bool = False  # the function at hand is the kernel: its parameters are arguments

    def of(self, function: Function, module: Module) -> Facts:
        """What is known inside one function."""
        return replace(self, in_kernel=function is module.kernel)

    @property
    def most_elements(self) -> int:
        return INDEX32_LIMIT - 1 if self.index32 else 1 << 48

    def argument(self, scalar: Scalar) -> Interval:
        """Where a number that the kernel is given lies."""
        if self.index32 and self.in_kernel and scalar.weak and scalar.dtype.is_integer:
            return Interval(1 - INDEX32_LIMIT, INDEX32_LIMIT - 1)
        return everything(scalar)

    def bounds(self, row: Intrinsic) -> Interval | None:
        """Where the integer that an intrinsic gives lies."""
        if row.bounds is None:
            return None
        low, high = row.bounds
        if self.index32 and row in GRID + GRIDSIZE:
            high = min(high, INDEX32_LIMIT - (2 if row in GRID else 1))
        if self.index32 and row in BLOCK_NUMBERS:
            high = min(high, BLOCKS32_LIMIT - (1 if row.bounds[0] == 0 else 0))
        return Interval(low, high)


def _is_fixed(row: Intrinsic) -> bool:
    """Whether it is a coordinate of the thread: the same wherever it is read."""
    return row.bounds is not None and (row.is_value or row in GRID + GRIDSIZE)


def variable_term(var: Var) -> Term | None:
    """The term of a variable of whole numbers."""
    return Term(var.name, everything(var.type)) if is_whole(var.type) else None


@dataclass(slots=True)
class Evaluator:
    """``of_node`` and ``inside`` fill up while ``recording``: once loops have settled."""

    facts: Facts
    recording: bool = True
    of_node: dict[int, Interval] = field(default_factory=dict)
    inside: dict[tuple[int, int], bool] = field(default_factory=dict)
    of_variable: dict[str, Interval] = field(default_factory=dict)

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
                return Value(everything(e.type))
            case Member() | Pack() | View():
                for child in children(e):
                    self.value(child, known)
                return Value(everything(e.type))
            case Dim():
                return self._dim(e.array, e.axis, known)
            case Stride():
                return Value(everything(e.type))
            case Let():
                self._bind(e, known)
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
            return constant(length)
        bounds = Interval(0, self.facts.most_elements)
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
            return Value(everything(e.type))
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
        if _is_size(e):  # whatever the intervals say, there are not more elements
            return Value(Interval(0, min(value.interval.high, self.facts.most_elements)))
        if self.facts.index32 and _counts_threads(e):
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
        if row.name == "abs":
            return Value(held(absolute(values[0].interval), e.type))
        bounds = self.facts.bounds(row)
        if bounds is None:
            return Value(everything(e.type))
        return read(Term(row.name, bounds), known) if _is_fixed(row) else Value(bounds)

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
                return known if learned(op, left, right, known) else None
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
