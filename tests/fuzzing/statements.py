"""Statements: the choice among ways to write one, and those that assign names and elements.

A production writes its lines and keeps the program well defined: a thread writes elements of its
own, loops end, barriers stand where every thread of the block comes. Others are in ``control``,
``together`` and ``constructs``; each is registered by ``@writes``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from fuzzing.expressions import any_expression, expression, index_below, literal
from fuzzing.functions import conversion, library_call
from fuzzing.operations import condition
from fuzzing.writing import SMALL, ArrayName, Made, Variable, Writer, holds
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_INT, Scalar, promote
from pycu2c.ops.operators import OPERATORS, POW, SHL, SHR, Operator, bool_result

Write: TypeAlias = "Callable[[Writer], None]"

DEPTH = 3  # of expressions
NESTING = 3  # of blocks


@dataclass(frozen=True, slots=True)
class Production:
    """A way to write a statement, where ``applies`` says that it may stand."""

    weight: float
    applies: Callable[[Writer], bool]
    write: Write


STATEMENTS: list[Production] = []  # the modules that write statements add to it


def writes(weight: float, *conditions: Callable[[Writer], bool]) -> Callable[[Write], Write]:
    """Register a function as a way to write a statement, where all conditions hold."""

    def register(write: Write) -> Write:
        STATEMENTS.append(Production(weight, lambda w: all(c(w) for c in conditions), write))
        return write

    return register


# ---- where statements may stand ------------------------------------------------------------------


def nests(w: Writer) -> bool:
    return w.place.depth < NESTING and w.budget > 0


def loops(w: Writer) -> bool:
    return nests(w) and w.place.loops < 2


def together(w: Writer) -> bool:
    """All threads of the block come here."""
    return w.place.uniform and not w.place.in_device and w.place.depth < NESTING


def has_variable(w: Writer) -> bool:
    return bool(assignable(w))


def has_output(w: Writer) -> bool:
    return bool(w.written())


def statements(w: Writer, most: int) -> None:
    """Up to ``most`` statements, while the budget lasts."""
    for _ in range(w.rng.randint(1, most)):
        if w.budget <= 0:
            return
        w.budget -= 1
        rows = [(row.weight, row) for row in STATEMENTS if row.applies(w)]
        w.weighted(rows).write(w)


def value(w: Writer, kind: Scalar) -> str:
    """An expression for a variable or element of a type; a weak int stays small."""
    made = expression(w, kind, w.rng.randint(1, DEPTH))
    return small(w, made)


def small(w: Writer, made: Made) -> str:
    if made.type != WEAK_INT or made.bits <= SMALL:
        return made.text
    return f"{made.operand} {w.pick(('% 1009', '% -1009', '& 4095'))}"


def storable(w: Writer, kind: Scalar) -> str:
    """A value of any type that an element of ``kind`` takes."""
    if w.chance(0.6):
        return value(w, kind)
    made = any_expression(w, w.rng.randint(1, DEPTH))
    if made.constant or not holds(kind, made.type):
        converted = conversion(w, kind, 2) or literal(w, kind)
        return converted.text
    return made.text


# ---- names -----------------------------------------------------------------------------------


@writes(4)
def declare(w: Writer) -> None:
    """A new variable, or an old name for something else."""
    kind = w.scalar()
    text = value(w, kind)
    name = w.fresh()
    w.line(f"{name} = {text}")
    w.declare(name, kind)


@writes(1)
def redeclare(w: Writer) -> None:
    """A name of this block gets a value of another type: another live range."""
    here = [v for v in w.scopes[-1] if not v.fixed and v.name[0] in "vp"]
    if not here:
        return declare(w)
    variable = w.pick(here)
    kind = w.scalar()
    w.line(f"{variable.name} = {value(w, kind)}")
    variable.type, variable.uniform = kind, False


@writes(4, has_variable)
def assign(w: Writer) -> None:
    variable = w.pick(assignable(w))
    if w.chance(0.5):
        text = f"{variable.name} = {value(w, variable.type)}"
    else:
        text = augmented(w, variable.name, variable.type)
    w.line(text)
    variable.uniform = False


def assignable(w: Writer) -> list[Variable]:
    return w.variables(lambda v: not v.fixed)


def augmented(w: Writer, target: str, kind: Scalar) -> str:
    """``target op= value`` that leaves the type as it is."""
    if kind == WEAK_INT:
        return f"{target} = ({target} {w.pick('+-*^&|')} ({value(w, kind)})) % 1009"
    rows = [o for o in OPERATORS if o is not POW and _keeps(o, kind)]
    if not rows:
        return f"{target} = {value(w, kind)}"
    operator = w.pick(rows)
    partners = [kind, *(t for t in (WEAK_INT, kind) if operator.operands(kind, t) == kind)]
    partner = w.pick(partners)
    if operator in (SHL, SHR):
        return f"{target} {operator.symbol}= {w.rng.randrange(kind.dtype.bits + 2)}"
    return f"{target} {operator.symbol}= {value(w, partner)}"


def _keeps(operator: Operator, kind: Scalar) -> bool:
    common = operator.operands(kind, kind)
    return operator.result is not bool_result and common == kind and operator.result(common) == kind


@writes(1, nests)
def join_after_if(w: Writer) -> None:
    """Assign a variable in two branches with two types, which are joined afterwards."""
    first, second = w.scalar(), w.scalar()
    if DTypeKind.BOOL in (first.dtype.kind, second.dtype.kind):
        second = first
    texts = value(w, first), value(w, second)
    name = w.fresh("j")
    w.line(f"if {condition(w, 1)}:")
    w.line(f"    {name} = {texts[0]}")
    w.line("else:")
    w.line(f"    {name} = {texts[1]}")
    w.declare(name, promote(first, second), fixed=True)


@writes(1, loops)
def join_in_loop(w: Writer) -> None:
    """``s = 0`` and ``s = s + x`` in a loop: the type of both, from the start."""
    kind = w.pick([v.type for v in w.variables(lambda v: not v.type.weak)] or [w.scalar()])
    if kind.dtype.kind is DTypeKind.BOOL or kind.weak:
        return declare(w)
    name, counter = w.fresh("s"), w.fresh("n")
    w.line(f"{name} = {w.pick(('0', '1', '2' if kind.dtype.is_integer else '0.0'))}")
    with w.block_of(f"for {counter} in range({w.rng.randint(0, 4)}):", uniform=False):
        w.declare(counter, WEAK_INT, fixed=True, bits=3)
        w.line(f"{name} = {name} {w.pick('+-*')} {Made(value(w, kind), kind).operand}")
    w.declare(name, kind, fixed=True)


@writes(0.4, nests)
def maybe_assigned(w: Writer) -> None:
    """A variable that only one path assigns reads 0 on the other."""
    kind = w.scalar()
    text = value(w, kind)
    w.counter += 1
    name = f"u{w.counter}"
    # the compiler refuses what no path assigns: the condition must be no constant
    w.line(f"if ({condition(w, 1)}) or cuda.gridDim.x == 9:")
    w.line(f"    {name} = {text}")
    w.declare(name, kind, fixed=True)


@writes(1)
def unpack(w: Writer) -> None:
    """``a, b = x, y``, also through a tuple in a variable."""
    kinds = [w.scalar() for _ in range(w.rng.randint(2, 3))]
    texts = [value(w, k) for k in kinds]
    names: list[str] = []
    for _ in kinds:
        names.append(another(w, names))
    packed = ", ".join(f"({t})" for t in texts)
    if w.chance(0.4):
        whole = w.fresh("t")
        w.line(f"{whole} = ({packed})")
        packed = w.pick((whole, ", ".join(f"{whole}[{i}]" for i in range(len(kinds)))))
    w.line(f"{', '.join(names)} = {packed}")
    for name, kind in zip(names, kinds, strict=True):
        w.declare(name, kind)


def another(w: Writer, taken: Sequence[str]) -> str:
    name = w.fresh()
    return name if name not in taken else w.fresh("w")


@writes(0.7, has_variable)
def swap(w: Writer) -> None:
    """Variables of one type change places."""
    first = w.pick(assignable(w))
    same = w.variables(lambda v: not v.fixed and v.type == first.type and v.name != first.name)
    if not same:
        return assign(w)
    second = w.pick(same)
    w.line(f"{first.name}, {second.name} = {second.name}, {first.name}")
    first.uniform = second.uniform = False


@writes(0.4)
def chained(w: Writer) -> None:
    kind = w.scalar()
    text = value(w, kind)
    first = w.fresh()
    second = another(w, [first])
    w.line(f"{first} = {second} = {text}")
    w.declare(first, kind)
    w.declare(second, kind)


# ---- elements --------------------------------------------------------------------------------


@writes(5, has_output)
def store(w: Writer) -> None:
    """To an element of the thread, plain or augmented."""
    array = w.pick(w.written())
    target = f"{array.name}[{w.pick(array.own)}]{array.field}"
    if w.chance(0.7):
        w.line(f"{target} = {storable(w, array.type)}")
    else:
        w.line(augmented(w, target, array.type))


@writes(1, lambda w: bool(w.approximate))
def store_approximate(w: Writer) -> None:
    array = w.pick(w.approximate)
    kind = w.pick((array.type, array.type, array.type))
    w.line(f"{array.name}[{w.pick(array.own)}] = {library_call(w, kind, 1)}")


@writes(0.8, lambda w: bool(w.accumulators))
def count(w: Writer) -> None:
    """An atomic operation of the array's kind."""
    update(w, w.pick(w.accumulators))


def update(w: Writer, array: ArrayName) -> None:
    """What the old element was depends on the order of threads, and is not used; the last one does
    not, since each array has operations of one kind."""
    index = ", ".join(index_below(w, n) for n in array.shape)
    index = f"({index})" if len(array.shape) > 1 else index
    row = w.pick(w.updates.setdefault(array.name, w.pick(ALIKE)))
    w.line(f"cuda.atomic.{row}({array.name}, {index}, {value(w, array.type)})")


ALIKE = (("add", "sub"), ("add",), ("and_",), ("or_",), ("xor",), ("max",), ("min",))
