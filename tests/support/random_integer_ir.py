"""Random IR programs on integers, and an interpreter that checks every node."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from pycu2c.base.dtypes import FLOAT32
from pycu2c.base.source import Span
from pycu2c.base.types import VOID, WEAK_BOOL, WEAK_INT, Array, Scalar, int32, uint8
from pycu2c.base.values import Number, convert
from pycu2c.ir.builders import constant_value
from pycu2c.ir.nodes import (
    Apply,
    Assign,
    Binary,
    Body,
    Break,
    Cast,
    Const,
    Continue,
    Dim,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    Logical,
    LogicalOp,
    Parameter,
    Return,
    Select,
    Stmt,
    Store,
    Unary,
    Var,
    While,
)
from pycu2c.ops.intrinsics.all import REGISTRY
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
    POW,
    SHL,
    SHR,
    SUB,
    XOR,
    Operator,
)  # fmt: skip

HERE = Span("test.py", 1, 0, 1, 1)
LINE = Array(FLOAT32, 1, "C")
PLANE = Array(FLOAT32, 2, "C")


# ---- short constructors ------------------------------------------------------------------------


def i(value: int, kind: Scalar = WEAK_INT) -> Const:
    return Const(value, kind, HERE)


def v(name: str, kind: Scalar = WEAK_INT) -> Var:
    return Var(name, kind, HERE)


def a(name: str = "a", kind: Array = LINE) -> Var:
    return Var(name, kind, HERE)


def dim(name: str = "a", axis: int = 0, kind: Array = LINE) -> Dim:
    return Dim(a(name, kind), axis, HERE)


def op(row: Operator, left: Expr, right: Expr) -> Binary:
    assert isinstance(left.type, Scalar)
    return Binary(row, left, right, row.result(left.type), HERE)


def both(left: Expr, right: Expr) -> Logical:
    return Logical(LogicalOp.AND, left, right, HERE)


def either(left: Expr, right: Expr) -> Logical:
    return Logical(LogicalOp.OR, left, right, HERE)


def negate(e: Expr) -> Unary:
    return Unary(NOT, e, WEAK_BOOL, HERE)


def place(name: str) -> Apply:
    return Apply(REGISTRY[f"cuda.{name}"], (), WEAK_INT, HERE)


def call(name: str, *arguments: Expr) -> Apply:
    return Apply(REGISTRY[name], arguments, arguments[0].type, HERE)


def let(name: str, value: Expr) -> Assign:
    assert isinstance(value.type, Scalar)
    return Assign(Var(name, value.type, HERE), value, HERE)


def load(index: Expr, *more: Expr, name: str = "a") -> Load:
    return Load(a(name, PLANE if more else LINE), (index, *more), HERE)


def when(condition: Expr, then: list[Stmt], orelse: list[Stmt] | None = None) -> If:
    return If(condition, tuple(then), tuple(orelse or ()), HERE)


def loop(condition: Expr, *body: Stmt) -> While:
    return While(condition, body, HERE)


def count(name: str, start: Expr, stop: Expr, step: Expr, *body: Stmt) -> For:
    return For(v(name), start, stop, step, body, HERE)


def use(e: Expr) -> Store:
    """A statement that reads ``a[e]``."""
    return Store(a("out"), (i(0),), load(e), HERE)


def leave() -> Return:
    return Return(None, HERE)


def function(*body: Stmt, **parameters: Scalar | Array) -> Function:
    named = {"a": LINE, "out": LINE, "m": PLANE, **parameters}
    listed = tuple(Parameter(name, kind, n) for n, (name, kind) in enumerate(named.items()))
    return Function("f", "f", listed, VOID, body, HERE)


# ---- random programs -----------------------------------------------------------------------------

_CONSTANTS = (0, 0, 1, 1, 1, 2, 3, -1, -2, 5, 7, 8, 31, 32, 63, 64, 100, 255, -128)
_EXTREME = (2**31 - 1, -(2**31), 2**62, 2**63 - 1, -(2**63))
_ARITHMETIC = (ADD,) * 6 + (SUB,) * 6 + (MUL, MUL, FLOORDIV, FLOORDIV, MOD, MOD, SHL, SHR, AND, OR,
                                         XOR, POW)  # fmt: skip
_COMPARISONS = (LT, LE, GT, GE, EQ, NE)
_NAMES = {WEAK_INT: ("p", "q", "r", "s"), int32: ("w",), uint8: ("u",), WEAK_BOOL: ("flag",)}
_PLACES = ("threadIdx.x", "blockDim.x", "grid.x", "gridsize.x")


@dataclass
class Writer:
    """Writes programs; ``rng`` decides."""

    rng: random.Random
    fresh: int = 0
    lets: list[str] = field(default_factory=list)
    loops: int = 0

    def program(self) -> Function:
        """Variables may be read before they are assigned; all are assigned in the end."""
        ends = [Assign(v(n, t), i(0, t), HERE) for t, names in _NAMES.items() for n in names]
        ends[-1] = Assign(v("flag", WEAK_BOOL), Const(False, WEAK_BOOL, HERE), HERE)
        return function(*self.block(3, self.rng.randint(3, 7)), *ends, n=WEAK_INT, w=int32)

    def block(self, depth: int, length: int) -> Body:
        return tuple(self.statement(depth) for _ in range(length))

    def statement(self, depth: int) -> Stmt:
        kind = self.rng.random()
        if depth == 0 or kind < 0.45:
            return self.simple()
        if kind < 0.65:
            orelse = self.block(depth - 1, self.rng.randint(0, 2))
            return If(self.condition(2), self.inner(depth), orelse, HERE)
        self.loops += 1
        try:
            if kind < 0.82:
                return While(self.condition(2), self.inner(depth), HERE)
            step = self.rng.choice([i(1), i(1), i(2), i(-1), self.number(WEAK_INT, 1)])
            start, stop = self.number(WEAK_INT, 1), self.number(WEAK_INT, 1)
            return For(v(self.name(WEAK_INT)), start, stop, step, self.inner(depth), HERE)
        finally:
            self.loops -= 1

    def inner(self, depth: int) -> Body:
        return self.block(depth - 1, self.rng.randint(1, 3))

    def simple(self) -> Stmt:
        kind = self.rng.random()
        if kind < 0.06 and self.loops:
            return Break(HERE) if kind < 0.03 else Continue(HERE)
        if kind < 0.08:
            return leave()
        if kind < 0.25:
            return use(self.number(WEAK_INT, 2))
        if kind < 0.5:  # a step, so that loops get somewhere
            name, row = self.name(WEAK_INT), self.rng.choice([ADD, ADD, ADD, SUB, FLOORDIV, MUL])
            by = i(self.rng.choice([1, 1, 2, 3]))
            far = v(self.name(WEAK_INT)) if self.rng.random() < 0.3 else by
            return let(name, op(row, v(name), far))
        if kind < 0.6:
            return let("flag", self.condition(1))
        scalar = self.rng.choice([WEAK_INT] * 6 + [int32, uint8, WEAK_BOOL])
        return Assign(v(self.name(scalar), scalar), self.number(scalar, 2), HERE)

    def name(self, scalar: Scalar) -> str:
        return self.rng.choice(_NAMES[scalar])

    def number(self, scalar: Scalar, depth: int) -> Expr:
        if scalar == WEAK_BOOL:
            return self.condition(depth)
        if depth == 0 or self.rng.random() < 0.3:
            return self.leaf(scalar)
        kind = self.rng.random()
        if kind < 0.62:
            return self.binary(scalar, depth)
        if kind < 0.7:
            then, orelse = self.number(scalar, depth - 1), self.number(scalar, depth - 1)
            return Select(self.condition(depth - 1), then, orelse, scalar, HERE)
        if kind < 0.76:
            row = self.rng.choice([NEG, POS, INVERT])
            return Unary(row, self.number(scalar, depth - 1), scalar, HERE)
        if kind < 0.82:
            other = self.rng.choice([WEAK_INT, int32, uint8, WEAK_BOOL])
            return Cast(self.number(other, depth - 1), scalar, HERE)
        if kind < 0.92:
            pair = self.number(scalar, depth - 1), self.number(scalar, depth - 1)
            return call(self.rng.choice(["min", "max", "python.mod"]), *pair)
        if kind < 0.95:
            return call("abs", self.number(scalar, depth - 1))
        return self.let(scalar, depth)

    def let(self, scalar: Scalar, depth: int) -> Expr:
        self.fresh += 1
        name = f"let.{self.fresh}"
        value = self.number(WEAK_INT, depth - 1)
        self.lets.append(name)
        body = self.number(scalar, depth - 1)
        self.lets.pop()
        return Let(name, value, body, HERE)

    def binary(self, scalar: Scalar, depth: int) -> Expr:
        row = self.rng.choice(_ARITHMETIC)
        left = self.number(scalar, depth - 1)
        if row is POW:
            return op(row, left, i(self.rng.randint(0, 3), scalar))
        if self.rng.random() < 0.5:
            return op(row, left, i(abs(self.rng.choice(_CONSTANTS)), scalar))
        return op(row, left, self.number(scalar, depth - 1))

    def leaf(self, scalar: Scalar) -> Expr:
        kind = self.rng.random()
        if kind < 0.25:
            constants = _EXTREME if scalar == WEAK_INT and kind < 0.01 else _CONSTANTS
            return i(int(convert(self.rng.choice(constants), scalar)), scalar)
        if scalar != WEAK_INT or kind < 0.65:
            return v(self.name(scalar), scalar)
        if self.lets and kind < 0.8:
            return v(self.rng.choice(self.lets))
        if kind < 0.9:
            return self.rng.choice([v("n"), dim(), dim("m", 0, PLANE), dim("m", 1, PLANE)])
        return place(self.rng.choice(_PLACES))

    def condition(self, depth: int) -> Expr:
        kind = self.rng.random()
        if depth == 0 or kind < 0.6:
            scalar = self.rng.choice([WEAK_INT] * 5 + [int32, uint8])
            row = self.rng.choice(_COMPARISONS)
            left = self.number(scalar, min(depth, 1))
            return op(row, left, self.number(scalar, min(depth, 1)))
        if kind < 0.7:
            return v("flag", WEAK_BOOL)
        if kind < 0.78:
            return negate(self.condition(depth - 1))
        join: Callable[[Expr, Expr], Expr] = self.rng.choice(
            [both, either, lambda x, y: op(AND, x, y), lambda x, y: op(OR, x, y)]
        )
        return join(self.condition(depth - 1), self.condition(depth - 1))


# ---- the interpreter -----------------------------------------------------------------------------


class _Jump(Exception):
    """Break, continue, return, or out of fuel: said by ``kind``."""

    def __init__(self, kind: type) -> None:
        self.kind = kind


@dataclass
class Interpreter:
    """Runs a function; ``saw`` gets every whole number that a node gives, ``set`` what a variable
    is assigned, ``accessed`` every access with its indices."""

    variables: dict[str, int]
    lengths: dict[tuple[str, int], int]
    places: dict[str, int]
    saw: Callable[[Expr, int], None]
    set: Callable[[str, int], None] = lambda name, value: None
    accessed: Callable[[object, tuple[int, ...]], None] = lambda access, indices: None
    fuel: int = 300

    def run(self, program: Function) -> None:
        try:
            self.block(program.body)
        except _Jump as jump:
            if jump.kind not in (Return, Interpreter):
                raise

    def block(self, body: Body) -> None:
        for s in body:
            self.fuel -= 1
            if self.fuel < 0:
                raise _Jump(Interpreter)
            self.statement(s)

    def statement(self, s: Stmt) -> None:
        match s:
            case Assign():
                self.assign(s.var.name, self.whole(s.value))
            case Store():
                self.value(s.value)
                self.accessed(s, tuple(self.whole(e) for e in s.indices))
            case If():
                self.block(s.then if self.value(s.condition) else s.orelse)
            case While():
                while self.value(s.condition) and self.round(s.body):
                    pass
            case For():
                start, stop, step = (self.whole(e) for e in (s.start, s.stop, s.step))
                for value in range(start, stop, step) if step else ():
                    self.assign(s.var.name, value)
                    if not self.round(s.body):
                        break
            case Break() | Continue() | Return():
                raise _Jump(type(s))
            case _:
                raise AssertionError(s)

    def assign(self, name: str, value: int) -> None:
        self.variables[name] = value
        self.set(name, value)

    def round(self, body: Body) -> bool:
        """One round of a loop; False if the loop is left."""
        self.fuel -= 1
        try:
            self.block(body)
        except _Jump as jump:
            if jump.kind not in (Break, Continue):
                raise
            return jump.kind is Continue
        return True

    def whole(self, e: Expr) -> int:
        return int(self.value(e))

    def value(self, e: Expr) -> Number:
        assert isinstance(e.type, Scalar)
        arguments = convert(self._value(e), e.type)
        if not e.type.dtype.is_float:
            self.saw(e, int(arguments))
        return arguments

    def _value(self, e: Expr) -> Number:
        match e:
            case Const():
                return constant_value(e)
            case Var():
                return self.variables.get(e.name, 0)
            case Unary():
                return e.op.reference(self.value(e.operand))
            case Binary():
                return e.op.reference(self.value(e.left), self.value(e.right))
            case Logical():
                decides = e.op is LogicalOp.OR
                return decides if bool(self.value(e.left)) is decides else self.value(e.right)
            case Select():
                return self.value(e.then if self.value(e.condition) else e.orelse)
            case Cast():
                return self.value(e.operand)
            case Load():
                self.accessed(e, tuple(self.whole(index) for index in e.indices))
                return 0.0
            case Dim():
                return self.lengths[e.array.name, e.axis]
            case Let():
                self.assign(e.name, self.whole(e.value))
                return self.value(e.body)
            case Apply() if not e.arguments:
                return self.places[e.intrinsic.name]
            case Apply():
                return e.intrinsic.reference(*(self.value(x) for x in e.arguments))
            case _:
                raise AssertionError(e)
