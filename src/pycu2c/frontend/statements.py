"""ast.stmt -> ir.Stmt: control flow, and the walk over a block that survives mistakes."""

from __future__ import annotations

import ast

from pycu2c.diagnostics import Label, fail
from pycu2c.frontend.assignments import annotated, assign, augmented, set_variable
from pycu2c.frontend.calls import is_range
from pycu2c.frontend.expressions import condition, expression, numeric
from pycu2c.frontend.frame import Frame, Unknown
from pycu2c.frontend.functions import define_function
from pycu2c.frontend.structured import leaves, no_array_inside, packed, result_type, type_of
from pycu2c.ir.construct import cast, integer, scalar_type
from pycu2c.ir.nodes import (
    Apply,
    Break,
    Call,
    Const,
    Continue,
    Evaluate,
    Expr,
    For,
    If,
    Return,
    Stmt,
    Var,
    While,
)
from pycu2c.types import NONE, WEAK_INT


def block(frame: Frame, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
    """The statements of a block, up to one that leaves it."""
    with frame.block() as out:
        for node in nodes:
            with frame.recovering():
                statement(frame, node)
            if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
                break
    return tuple(out)


def statement(frame: Frame, node: ast.stmt) -> None:
    """Emit what one statement means."""
    match node:
        case ast.Assign():
            assign(frame, node)
        case ast.AugAssign():
            augmented(frame, node)
        case ast.AnnAssign():
            annotated(frame, node)
        case ast.If():
            _if(frame, node)
        case ast.While():
            _while(frame, node)
        case ast.For():
            _for(frame, node)
        case ast.Break():
            frame.emit(Break(frame.span(node)))
        case ast.Continue():
            frame.emit(Continue(frame.span(node)))
        case ast.Return():
            _return(frame, node)
        case ast.Expr():
            _evaluate(frame, node)
        case ast.FunctionDef():
            define_function(frame, node)
        case ast.Pass():
            pass
        case _:
            fail("subset", Label(frame.span(node), f"{type(node).__name__} is not supported"))


def _evaluate(frame: Frame, node: ast.Expr) -> None:
    value = expression(frame, node.value)
    if (isinstance(value, Apply) and value.intrinsic.has_effect) or isinstance(value, Call):
        frame.emit(Evaluate(value, frame.span(node)))


def _if(frame: Frame, node: ast.If) -> None:
    test = condition(frame, node.test)
    if isinstance(test, Const):  # decided while compiling: the other branch need not compile
        for inner in block(frame, node.body if test.value else node.orelse):
            frame.emit(inner)
        return
    then, orelse = block(frame, node.body), block(frame, node.orelse)
    frame.emit(If(test, then, orelse, frame.span(node)))


def _while(frame: Frame, node: ast.While) -> None:
    test = condition(frame, node.test)
    if isinstance(test, Const) and not test.value:
        return
    frame.emit(While(test, block(frame, node.body), frame.span(node)))


def _for(frame: Frame, node: ast.For) -> None:
    if not is_range(frame, node.iter):
        fail(
            "subset",
            Label(frame.span(node.iter), "a for loop in a kernel runs over range(...)"),
            help="write: for i in range(len(a)): x = a[i]",
        )
    assert isinstance(node.iter, ast.Call)
    assert isinstance(node.target, ast.Name)
    start, stop, step = _bounds(frame, node.iter)
    name = frame.ranges.names.get(id(node.target))
    if name is None:
        raise Unknown
    span = frame.span(node.target)
    joined = frame.assigned(name, WEAK_INT, span)
    counter = Var(name, joined, span)
    copies: tuple[Stmt, ...] = ()
    if joined != WEAK_INT:  # the name is a float elsewhere: count in a variable of the loop's own
        counter = Var(frame.fresh(name), WEAK_INT, span)
        with frame.block() as assigned:
            set_variable(frame, name, counter, span)
        copies = tuple(assigned)
    frame.store_types[id(node.target)] = name
    inside = copies + block(frame, node.body)
    frame.emit(For(counter, start, stop, step, inside, frame.span(node)))


def _bounds(frame: Frame, node: ast.Call) -> tuple[Expr, Expr, Expr]:
    if node.keywords or not 1 <= len(node.args) <= 3:
        fail(
            "argument-count",
            Label(frame.span(node), "range takes 1 to 3 numbers"),
            help="write range(stop), range(start, stop) or range(start, stop, step)",
        )
    given = [_whole(numeric(frame, e)) for e in node.args]
    span = frame.span(node)
    start = given[0] if len(given) > 1 else integer(0, span)
    step = given[2] if len(given) > 2 else integer(1, span)
    if isinstance(step, Const) and step.value == 0:
        fail("argument-type", Label(step.span, "the step of a range is not 0"))
    return start, given[0] if len(given) == 1 else given[1], step


def _whole(e: Expr) -> Expr:
    if scalar_type(e).dtype.is_float:
        fail(
            "argument-type",
            Label(e.span, f"range counts in integers, this is `{e.type}`"),
            help="convert it with int(...)",
        )
    return cast(e, WEAK_INT)


def _return(frame: Frame, node: ast.Return) -> None:
    span = frame.span(node)
    if node.value is None or _is_none(node.value):
        frame.results.append((NONE, span))
        frame.emit(Return(None, span))
        return
    if frame.is_kernel:
        fail(
            "return-type",
            Label(frame.span(node.value), "a kernel gives its results in arrays"),
            help="pass an array for the result and write out[i] = …",
        )
    value = frame.value(node.value)
    no_array_inside(value)
    kind = type_of(value)
    frame.results.append((kind, span))
    frame.returns.append(id(node))
    frame.emit(Return(packed(leaves(value), result_type(kind), span), span))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
