"""ast.stmt -> ir.Stmt: which room each statement goes to, and the walk over a block that survives
mistakes."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.types import NONE
from pycu2c.frontend.calls import declared_signatures, device_calls
from pycu2c.frontend.evaluation_order import has_effect
from pycu2c.frontend.expressions.composite_values import (
    leaves,
    no_array_inside,
    packed,
    result_type,
    type_of,
)
from pycu2c.frontend.expressions.expression_visitor import condition
from pycu2c.frontend.function_context import Frame, Items, Value
from pycu2c.frontend.statements import loops, match_statement, raise_assert
from pycu2c.frontend.statements.assignments import annotated, assign, augmented
from pycu2c.frontend.statements.unroll import Rounds
from pycu2c.frontend.subset.unsupported_syntax import UNKNOWN
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.nodes import (
    Assign,
    Body,
    Break,
    Const,
    Continue,
    Evaluate,
    Expr,
    If,
    Junction,
    Let,
    Logical,
    Return,
    Select,
    Stmt,
    Var,
)
from pycu2c.ir.walk import children, expressions

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Raise)
_JUMPS = (Return, Break, Continue)  # of a branch that was decided while compiling


def block(frame: Frame, nodes: list[ast.stmt]) -> tuple[Stmt, ...]:
    """The statements of a block, up to one that leaves it."""
    with frame.block() as out:
        _straight(frame, nodes)
    return tuple(out)


def _straight(frame: Frame, nodes: list[ast.stmt]) -> None:
    """Statements into the block that is open."""
    out = frame.blocks[-1]
    for node in nodes:
        with frame.recovering():
            statement(frame, node)
        if isinstance(node, _LEAVING) or (out and isinstance(out[-1], _JUMPS)):
            return


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
            loops.while_loop(frame, node, block)
        case ast.For():
            loops.for_loop(frame, node, block)
        case Rounds():
            loops.rounds(frame, node, block)
        case ast.Match():
            match_statement.match_statement(frame, node, block)
        case ast.Break():
            frame.emit(Break(frame.span(node)))
        case ast.Continue():
            frame.emit(Continue(frame.span(node)))
        case ast.Return():
            _return(frame, node)
        case ast.Raise():
            raise_assert.raised(frame, node)
        case ast.Assert():
            raise_assert.asserted(frame, node)
        case ast.Delete():
            _delete(frame, node)
        case ast.FunctionDef():
            device_calls.define_function(frame, node)
        case ast.Expr(value=value):
            _evaluate(frame, value)
        case ast.Pass():
            pass
        case _:
            fail(UNKNOWN.code, Label(frame.span(node), UNKNOWN.text), help=UNKNOWN.help)


def _evaluate(frame: Frame, node: ast.expr) -> None:
    """An expression for its effect."""
    if isinstance(node, ast.Constant):  # a docstring, or ...
        return
    _emit_effects(frame, frame.value(node))


def _emit_effects(frame: Frame, value: Value) -> None:
    match value:
        case Items():
            for item in value.items:
                _emit_effects(frame, item)
        case _:
            for leaf in leaves(value):
                frame.emit_all(_effects(leaf))


def _effects(e: Expr) -> Body:
    """The parts of an expression that do something, as statements."""
    if not any(has_effect(part) for part in expressions(e)):
        return ()
    match e:
        case Select(condition, then, orelse):
            return (If(condition, _effects(then), _effects(orelse), e.span),)
        case Logical(Junction.AND, left, right):
            return (If(left, _effects(right), (), e.span),)
        case Logical(Junction.OR, left, right):
            return (If(left, (), _effects(right), e.span),)
        case Let(name, value, body):
            kept = Assign(Var(name, scalar_type(value), e.span), value, e.span)
            return (kept, *_effects(body))
        case _ if has_effect(e):
            return (Evaluate(e, e.span),)
        case _:
            return tuple(s for child in children(e) for s in _effects(child))


def _if(frame: Frame, node: ast.If) -> None:
    test = condition(frame, node.test)
    if isinstance(test, Const):  # decided while compiling: the other branch need not compile
        _straight(frame, node.body if test.value else node.orelse)
        return
    then, orelse = block(frame, node.body), block(frame, node.orelse)
    frame.emit(If(test, then, orelse, frame.span(node)))


# ---- leaving -----------------------------------------------------------------------------------


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
    value = declared_signatures.result_as_declared(frame.value(node.value), frame.result)
    no_array_inside(value)
    kind = type_of(value)
    frame.results.append((kind, span))
    frame.returns.append(id(node))
    frame.emit(Return(packed(leaves(value), result_type(kind), span), span))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _delete(frame: Frame, node: ast.Delete) -> None:
    """Nothing happens; that no later read sees the variable, live ranges know."""
    for name in ast.walk(node):
        if any(name is missing for missing in frame.ranges.undefined):
            assert isinstance(name, ast.Name)
            fail(
                "name",
                Label(frame.span(name), f"`{name.id}` is deleted before it is assigned"),
                help="leave the line out",
            )
