"""The text form of the IR: each node, and the example of the docs."""

from __future__ import annotations

import pytest

from pycu2c import float32
from pycu2c.base.dtypes import FLOAT32, INT32, INT64
from pycu2c.base.external_code import CodeLine, DialectCode
from pycu2c.base.types import (
    VOID,
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    MemorySpace,
    Scalar,
    boolean,
    int32,
)
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    ArgumentPart,
    BarrierWait,
    Break,
    Call,
    Cast,
    Const,
    Continue,
    Contribution,
    CoroutineLoop,
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
    Stride,
    SyncScope,
    Unary,
    Var,
    While,
    WorkItemLoop,
)
from pycu2c.ir.printer import print_expr, print_function, print_module, print_stmt
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.operators import ADD, LT, NEG, NOT
from support.golden_kernels import kernel_of
from support.paths import ROOT
from support.random_integer_ir import (
    HERE,
    LINE,
    a,
    both,
    call,
    count,
    dim,
    i,
    let,
    load,
    op,
    place,
    v,
    when,
)

DOCS = ROOT / "docs" / "how_it_works" / "ir.md"
SMALL = Scalar(INT32, weak=True)
TILE = Array(FLOAT32, 2, "C", MemorySpace.SHARED, (16, 16))
ONE = Const(1.0, Scalar(FLOAT32), HERE)
BITS = Var("bits", Array(INT64, 1, "C", MemorySpace.BLOCK, (32,)), HERE)


def wait(
    whom: SyncScope = SyncScope.BLOCK, mask: Expr | None = None, *contributions: Contribution
) -> BarrierWait:
    return BarrierWait(whom, mask, contributions, None, HERE)


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (i(2), "2"),
        (i(2, int32), "2:int32"),
        (Const(2.0, WEAK_FLOAT, HERE), "2.0"),
        (Const(True, WEAK_BOOL, HERE), "True"),
        (Const(True, boolean, HERE), "True:bool_"),
        (v("x.1"), "x.1"),
        (op(ADD, v("x", SMALL), i(1, SMALL)), "add.small(x, 1)"),
        (op(LT, v("x", int32), i(1, int32)), "lt.int32(x, 1:int32)"),
        (Unary(NEG, v("x"), WEAK_INT, HERE), "neg.int(x)"),
        (Unary(NOT, v("c", WEAK_BOOL), WEAK_BOOL, HERE), "not.bool(c)"),
        (both(v("c", WEAK_BOOL), v("d", WEAK_BOOL)), "(c and d)"),
        (Select(v("c", WEAK_BOOL), i(1), i(2), WEAK_INT, HERE), "(1 if c else 2)"),
        (Cast(v("x"), int32, HERE), "int32(x)"),
        (Cast(v("x"), SMALL, HERE), "small(x)"),
        (load(v("x"), i(0), name="m"), "m[x, 0]"),
        (ElementOf(a(), (i(0),), HERE), "&a[0]"),
        (dim(), "dim(a, 0)"),
        (Dim(a(), 0, HERE, SMALL), "dim.small(a, 0)"),
        (Stride(a(), 0, HERE), "stride(a, 0)"),
        (Let("x", i(1), v("x"), HERE), "(let x: int = 1 in x)"),
        (place("grid.x"), "cuda.grid.x()"),
        (Apply(REGISTRY["cuda.grid.x"], (), SMALL, HERE), "cuda.grid.x.small()"),
        (call("min", v("x", int32), i(1, int32)), "min.int32(x, 1:int32)"),
        (Call("f", (v("x"), a()), WEAK_INT, HERE), "f(x, a)"),
    ],
)
def test_expression(e: Expr, text: str) -> None:
    assert print_expr(e) == text


@pytest.mark.parametrize(
    ("s", "text"),
    [
        (Allocate(Var("t", TILE, HERE), HERE), "allocate t: shared float32[16, 16]"),
        (Declare(v("x"), None, HERE), "declare x: int"),
        (Declare(v("x"), i(1), HERE), "declare x: int = 1"),
        (let("x", i(1)), "x: int = 1"),
        (Store(a(), (v("x"),), ONE, HERE), "a[x] = 1.0:float32"),
        (Evaluate(Call("f", (), VOID, HERE), HERE), "f()"),
        (Return(None, HERE), "return"),
        (Return(i(1), HERE), "return 1"),
        (While(v("c", WEAK_BOOL), (Break(HERE),), HERE), "while c:\n  break"),
        (count("k", i(0), dim(), i(1)), "for k: int in range(0, dim(a, 0), 1):\n  pass"),
        (WorkItemLoop((NextWorkItem(HERE),), HERE), "for each thread:\n  next thread"),
        (
            InlineC(
                DialectCode("c", (CodeLine("if (x)", HERE), CodeLine("    return y;", HERE))),
                (),
                True,
                HERE,
            ),
            "in c: if (x)\n          return y;",
        ),
        (CoroutineLoop((wait(),), HERE), "for each thread, as a coroutine:\n  barrier block"),
        (
            wait(
                SyncScope.WARP,
                v("m"),
                Contribution(BITS, Granularity.WARP, v("x")),
                Contribution(BITS, Granularity.THREAD, i(1)),
            ),
            "barrier warp m, contributing bits[warp] += x; bits[thread] = 1",
        ),
        (when(v("c", WEAK_BOOL), [let("x", i(1)), let("x", i(2))]), "if c:\n  x: int = 1\n  x = 2"),
        (
            when(v("c", WEAK_BOOL), [], [when(v("d", WEAK_BOOL), [], [Continue(HERE)])]),
            "if c:\n  pass\nelif d:\n  pass\nelse:\n  continue",
        ),
    ],
)
def test_statement(s: Stmt, text: str) -> None:
    assert print_stmt(s) == text


def test_functions_precede_their_callers() -> None:
    x = Parameter("x", WEAK_INT, 0)
    body = (Return(op(ADD, v("x"), v("x")), HERE),)
    twice = Function("twice", "twice", (x,), WEAK_INT, body, HERE)
    data = Parameter("a", LINE, 0, ArgumentPart.DATA)
    caller = Function(
        "k", "k", (data,), VOID, (let("y", Call("twice", (i(1),), WEAK_INT, HERE)),), HERE
    )
    device = "device twice(x: int) -> int\n  return add.int(x, x)\n"
    kernel = "kernel k(a: pointer float32[::1])\n  y: int = twice(1)\n"
    assert print_module(Module(caller, (twice,))) == f"{device}\n{kernel}"
    assert device in DOCS.read_text()


def test_marked_nodes_can_be_seen() -> None:
    wrong = i(1)
    statement = let("y", op(ADD, wrong, i(2)))
    function = Function("k", "k", (), VOID, (statement,), HERE)
    shown = print_function(function, marked={id(wrong), id(statement)})
    assert shown.splitlines()[1] == "  y: int = add.int(<<1>>, 2)  <-- here"


def test_the_example_of_the_docs() -> None:
    text = kernel_of("reduce_sum").inspect("ir", (float32[::1], float32[::1]))
    assert f"```text\n{text}```" in DOCS.read_text()
