"""The verifier: each rule is broken once, and found; what passes make is accepted."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pycu2c.base.dtypes import INT32
from pycu2c.base.external_code import DialectCode
from pycu2c.base.types import VOID, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Scalar, float32, int32, uint8
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    ArgumentPart,
    Assign,
    BarrierWait,
    Binary,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    Contribution,
    Declare,
    Dim,
    ElementOf,
    Evaluate,
    Expr,
    Function,
    Granularity,
    InlineC,
    Let,
    Module,
    NextWorkItem,
    Parameter,
    Return,
    Select,
    Stmt,
    Store,
    SyncScope,
    Unary,
    Var,
    WorkItemLoop,
)
from pycu2c.ir.verifier import InternalError, verified, verify
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.operators import ADD, DIV, LT, NEG, NOT, SHL
from support.random_integer_ir import (
    HERE,
    LINE,
    PLANE,
    Writer,
    a,
    both,
    call,
    count,
    dim,
    function,
    i,
    let,
    load,
    loop,
    op,
    place,
    use,
    v,
    when,
)

SMALL = Scalar(INT32, weak=True)
ONE = Const(1.0, float32, HERE)
X = v("x")
WAIT = BarrierWait(SyncScope.BLOCK, None, (), None, HERE)


def messages(*body: Stmt, devices: tuple[Function, ...] = (), **parameters: object) -> list[str]:
    kernel = function(*body, x=WEAK_INT, **parameters)  # type: ignore[arg-type]
    return [violation.message for violation in verify(Module(kernel, devices))]


def raw(left: Expr, right: Expr, kind: Scalar = WEAK_INT) -> Binary:
    return Binary(ADD, left, right, kind, HERE)


def atomic(*arguments: Expr, kind: Scalar = float32) -> Apply:
    return Apply(REGISTRY["cuda.atomic.add"], arguments, kind, HERE)


ELEMENT = ElementOf(a(), (i(0),), HERE)


@pytest.mark.parametrize(
    ("e", "message"),
    [
        (Const(1, WEAK_FLOAT, HERE), "1 is not a value of float"),
        (Const(1, WEAK_BOOL, HERE), "1 is not a value of bool"),
        (i(300, uint8), "300 does not fit uint8"),
        (raw(X, i(1, SMALL)), "`add` has operands int and int"),
        (raw(X, i(1, int32)), "`add` has operands int and int32"),
        (raw(X, X, int32), "`add` of int is int, not int32"),
        (Binary(DIV, X, X, WEAK_INT, HERE), "`div` has no variant for int"),
        (Binary(SHL, ONE, ONE, float32, HERE), "`shl` has no variant for float32"),
        (raw(a(), a()), "`add` has no variant for float32[::1]"),
        (Binary(LT, X, X, WEAK_INT, HERE), "`lt` of int is bool, not int"),
        (Unary(NOT, X, WEAK_BOOL, HERE), "`not` takes a bool, not int"),
        (Unary(NEG, X, int32, HERE), "`neg` of int is int, not int32"),
        (Unary(NEG, op(LT, X, X), WEAK_INT, HERE), "`neg` has no variant for bool"),
        (both(op(LT, X, X), X), "`and` takes bools, not int"),
        (Select(X, X, X, WEAK_INT, HERE), "a condition is int"),
        (
            Select(op(LT, X, X), X, i(1, int32), WEAK_INT, HERE),
            "an operand of a selection is int32, the result int",
        ),
        (Cast(a(), WEAK_INT, HERE), "a float32[::1] is converted to int"),
        (load(X, X, X, name="m"), "m has 2 axes, but 3 indices"),
        (load(op(LT, X, X)), "an index is bool"),
        (load(ONE), "an index is float32"),
        (Dim(a(), 1, HERE), "a has no axis 1"),
        (Dim(a(), 0, HERE, float32), "a length is float32"),
        (v("missing"), "missing is read but never assigned"),
        (v("x", int32), "x is int, here int32"),
        (Let("x", i(1), i(2), HERE), "x is bound, and is a variable already"),
        (call("min", X), "min takes 2 arguments, not 1"),
        (call("min", X, i(1, int32)), "min has arguments int and int32"),
        (Apply(REGISTRY["min"], (X, X), int32, HERE), "min does not return int32"),
        (Apply(REGISTRY["cuda.grid.x"], (), int32, HERE), "cuda.grid.x does not return int32"),
        (
            Apply(REGISTRY["cuda.grid"], (i(1),), WEAK_INT, HERE),
            "cuda.grid must be lowered by the front end",
        ),
        (call("math.sqrt", X), "math.sqrt has no variant for int"),
        (atomic(ONE, ONE), "cuda.atomic.add takes an element, not float32"),
        (atomic(ELEMENT, i(1)), "cuda.atomic.add has arguments float32 and int"),
        (atomic(ELEMENT, ONE, kind=WEAK_INT), "cuda.atomic.add does not return int"),
        (Call("g", (), WEAK_INT, HERE), "g is called before its definition"),
    ],
)
def test_expression(e: Expr, message: str) -> None:
    assert message in messages(Evaluate(e, HERE))


@pytest.mark.parametrize(
    ("s", "message"),
    [
        (Assign(v("y"), i(1, int32), HERE), "y is int, its value int32"),
        (Assign(v("y", SMALL), i(1), HERE), "y is int, its value int"),
        (Assign(a("b"), X, HERE), "b is assigned, but is not a scalar"),
        (Assign(v("x", int32), i(1, int32), HERE), "x is int elsewhere, here int32"),
        (
            Store(a(), (X,), Const(1.0, WEAK_FLOAT, HERE), HERE),
            "float is stored in a, whose element is float32",
        ),
        (Store(a(), (X, X), ONE, HERE), "a has 1 axes, but 2 indices"),
        (Store(X, (X,), ONE, HERE), "x is indexed, but is not an array"),
        (when(X, []), "a condition is int"),
        (loop(X), "a condition is int"),
        (count("k", i(0), i(9, int32), i(1)), "k is int, its range is of int, int32, int"),
        (Break(HERE), "a jump is outside of every loop"),
        (when(op(LT, X, X), [Continue(HERE)]), "a jump is outside of every loop"),
        (
            loop(op(LT, X, X), WorkItemLoop((Break(HERE),), HERE)),
            "a jump is outside of every loop",
        ),
        (
            loop(op(LT, X, X), WorkItemLoop((WAIT,), HERE)),
            "a barrier is inside of a work-item loop",
        ),
        (replace(WAIT, mask=ONE), "the mask of a barrier is float32"),
        (
            replace(WAIT, contributions=(Contribution(a("b"), Granularity.THREAD, X),)),
            "b is float32[::1], the value int",
        ),
        (NextWorkItem(HERE), "next thread is outside of every work-item loop"),
        (Return(X, HERE), "int is returned, the result type is None"),
        (
            Allocate(Var("t", LINE, HERE), HERE),
            "t is allocated, but is not an array of known shape",
        ),
    ],
)
def test_statement(s: Stmt, message: str) -> None:
    assert message in messages(s)


def test_a_let_binds_one_type() -> None:
    one, other = Let("y", i(1), i(2), HERE), Let("y", ONE, i(2), HERE)
    assert messages(use(one), use(other)) == ["y is bound in two types"]


def test_declarations_precede_uses() -> None:
    start = Declare(v("z"), None, HERE)
    assert messages(start, let("y", i(1))) == ["y is assigned outside of its scope"]
    assert messages(start, start) == ["z is declared twice"]
    inner = when(op(LT, X, X), [Declare(v("y"), i(1), HERE)])
    assert messages(inner, use(v("y"))) == ["y is read outside of its scope"]
    stored = Store(Var("t", LINE, HERE), (i(0),), ONE, HERE)
    assert "t is read but never assigned" in messages(start, stored)
    assert messages(Declare(v("y"), i(1, int32), HERE)) == ["y is int, its value int32"]
    own = count("k", i(0), i(3), i(1), let("z", v("k")))
    assert messages(start, own, inner, inner) == []


def test_a_pointer_has_one_index() -> None:
    flat = Parameter("m", PLANE, 0, ArgumentPart.DATA)
    for indices, expected in (((X, X), ["m has 1 axes, but 2 indices"]), ((X,), [])):
        body = (let("x", i(0)), Store(a("m", PLANE), indices, ONE, HERE))
        kernel = Function("k", "k", (flat,), VOID, body, HERE)
        assert [x.message for x in verify(Module(kernel))] == expected


def test_calls_fit_their_function() -> None:
    n = Parameter("n", int32, 0)
    callee = Function("g", "g", (n,), VOID, (Return(None, HERE),), HERE)

    def called(argument: Expr, result: object) -> list[str]:
        call_of_g = Call("g", (argument,), result, HERE)  # type: ignore[arg-type]
        return messages(Evaluate(call_of_g, HERE), devices=(callee,))

    assert called(i(1, int32), VOID) == []
    assert called(i(1), VOID) == ["g takes (int32), not (int)"]
    assert called(i(1, int32), WEAK_INT) == ["g returns None, not int"]


def test_names_of_functions_and_parameters_are_unique() -> None:
    n = Parameter("n", int32, 0)
    twin = Function("g", "g", (n, n), VOID, (), HERE)
    result = [str(x) for x in verify(Module(function(), (twin, twin)))]
    assert "g: two functions have this name" in result
    assert "g: two parameters are named n" in result


def test_results_have_the_type_of_the_function() -> None:
    device = Function("g", "g", (), float32, (Return(None, HERE),), HERE)
    result = verify(Module(function(), (device,)))
    assert [x.message for x in result] == ["None is returned, the result type is float32"]


def test_a_literal_may_be_too_long_while_it_is_weak() -> None:
    assert messages(use(Cast(i(2**63), uint8, HERE))) == []


def test_ints_of_32_bits_are_weak_ints_too() -> None:
    start = Apply(REGISTRY["cuda.grid.x"], (), SMALL, HERE)
    small = op(ADD, v("y", SMALL), i(1, SMALL))
    assert messages(Assign(v("y", SMALL), start, HERE), use(small)) == []


@pytest.mark.parametrize("seed", range(20))
def test_valid_programs_are_accepted(seed: int) -> None:
    assert verify(Module(Writer(random.Random(seed)).program())) == []


def test_inline_c_is_the_whole_body_and_has_c_types() -> None:
    text = InlineC(DialectCode("c", ()), (), True, HERE)
    assert verify(Module(function(text))) == []
    (whole,) = verify(Module(function(text, text)))[:1]
    assert whole.message == "inline C is not the whole body"
    (typed,) = verify(Module(function(text, n=WEAK_INT)))
    assert typed.message == "inline C takes or returns int"


def test_a_violation_is_an_internal_error_with_its_location() -> None:
    good = Module(function(let("y", place("grid.x")), use(op(ADD, v("y"), dim()))))
    assert verified(good, "build") is good
    bad = Module(function(let("y", raw(i(1), i(1, int32)))))
    with pytest.raises(InternalError) as caught:
        verified(bad, "narrow")
    assert str(caught.value) == (
        "this is a bug in pycu2c: narrow has created invalid IR\n"
        "  f: `add` has operands int and int32\n"
        "\n"
        "kernel f(a: float32[::1], out: float32[::1], m: float32[:, ::1])\n"
        "  y: int = <<add.int(1, 1:int32)>>\n"
    )
