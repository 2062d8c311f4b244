"""Lower statements: dispatch on the kind, and continue after errors."""

from __future__ import annotations

import ast

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.types import NONE
from pycu2c.frontend.calls import declared_signatures, device_calls
from pycu2c.frontend.evaluation_order import has_effect
from pycu2c.frontend.expressions.composite_values import (
    pack_result,
    reject_arrays,
    result_type,
    type_of,
)
from pycu2c.frontend.expressions.conditional import condition
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.line_marks import LineMark
from pycu2c.frontend.statements import exceptions, loops, match_statement
from pycu2c.frontend.statements.assignments import (
    annotated_assignment,
    assign,
    augmented_assignment,
)
from pycu2c.frontend.statements.returns import parameter_of_return
from pycu2c.frontend.statements.unroll import UnrolledLoop
from pycu2c.frontend.subset.unsupported_syntax import KERNEL_RESULT, UNSUPPORTED
from pycu2c.frontend.values import leaves
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import scalar_type
from pycu2c.ir.walk import children, expressions, never_completes

_EXIT_NODES = (ast.Return, ast.Break, ast.Continue, ast.Raise)
# also the last statement that an ``if`` with a constant condition emits in place of itself
_EXIT_STATEMENTS = (ir.Return, ir.Break, ir.Continue)


def block(context: FunctionContext, nodes: list[ast.stmt]) -> tuple[ir.Stmt, ...]:
    """Lower the statements of a block up to the first that leaves it."""
    with context.block() as out:
        _lower_statements(context, nodes)
    return tuple(out)


def _lower_statements(context: FunctionContext, nodes: list[ast.stmt]) -> None:
    """Lower statements into the current block."""
    out = context.blocks[-1]
    for node in nodes:
        with context.collecting_errors():
            statement(context, node)
        if isinstance(node, _EXIT_NODES) or (out and isinstance(out[-1], _EXIT_STATEMENTS)):
            return


def statement(context: FunctionContext, node: ast.stmt) -> None:
    """Lower one statement."""
    match node:
        case ast.Assign():
            assign(context, node)
        case ast.AugAssign():
            augmented_assignment(context, node)
        case ast.AnnAssign():
            annotated_assignment(context, node)
        case ast.If():
            _if(context, node)
        case ast.While():
            loops.while_loop(context, node)
        case ast.For():
            loops.for_loop(context, node)
        case UnrolledLoop():
            loops.unrolled_loop(context, node)
        case ast.Match():
            match_statement.match_statement(context, node)
        case ast.Break():
            context.emit(ir.Break(context.span(node)))
        case ast.Continue():
            context.emit(ir.Continue(context.span(node)))
        case ast.Return():
            _return(context, node)
        case ast.Raise():
            exceptions.raise_statement(context, node)
        case ast.Assert():
            exceptions.assert_statement(context, node)
        case ast.Delete():
            _delete(context, node)
        case ast.FunctionDef():
            device_calls.define_function(context, node)
        case ast.Expr(value=value):
            _evaluate(context, value)
        case LineMark():
            if not never_completes(tuple(context.blocks[-1])):
                context.emit(node.lowered(context.span(node)))
        case ast.Pass():
            pass
        case _:
            UNSUPPORTED.report(context.span(node))


def _evaluate(context: FunctionContext, node: ast.expr) -> None:
    """Lower an expression statement."""
    if isinstance(node, ast.Constant):  # a docstring, or ...
        return
    for leaf in leaves(context.value(node)):
        context.emit_all(_effects(leaf))


def _effects(e: ir.Expr) -> ir.Body:
    """Return the side effects of an expression as statements."""
    if not any(has_effect(part) for part in expressions(e)):
        return ()
    match e:
        case ir.Select(condition, then, orelse):
            return (ir.If(condition, _effects(then), _effects(orelse), e.span),)
        case ir.Logical(ir.LogicalOp.AND, left, right):
            return (ir.If(left, _effects(right), (), e.span),)
        case ir.Logical(ir.LogicalOp.OR, left, right):
            return (ir.If(left, (), _effects(right), e.span),)
        case ir.Let(name, value, body):
            assignment = ir.Assign(ir.Var(name, scalar_type(value), e.span), value, e.span)
            return (assignment, *_effects(body))
        case _ if has_effect(e):
            return (ir.Evaluate(e, e.span),)
        case _:
            return tuple(s for child in children(e) for s in _effects(child))


def _if(context: FunctionContext, node: ast.If) -> None:
    test = condition(context, node.test)
    if isinstance(test, ir.Const):  # decided at compile time: the other branch is not lowered
        context.constant_tests[node.test] = bool(test.value)
        _lower_statements(context, node.body if test.value else node.orelse)
        return
    then, orelse = block(context, node.body), block(context, node.orelse)
    context.emit(ir.If(test, then, orelse, context.span(node)))


# ---- exits -------------------------------------------------------------------------------------


def _return(context: FunctionContext, node: ast.Return) -> None:
    span = context.span(node)
    is_none = isinstance(node.value, ast.Constant) and node.value.value is None
    if node.value is None or is_none:
        context.returned_types.append((NONE, span))
        context.emit(ir.Return(None, span))
        return
    if context.is_kernel:
        KERNEL_RESULT.report(context.span(node.value))
    array = parameter_of_return(context, node)
    if array is not None:
        context.returned_types.append((array, span))
        context.emit(ir.Return(None, span))
        return
    value = declared_signatures.convert_result(context.value(node.value), context.declared_result)
    reject_arrays(value)
    returned_type = type_of(value)
    context.returned_types.append((returned_type, span))
    context.emit(ir.Return(pack_result(leaves(value), result_type(returned_type), span), span))


def _delete(context: FunctionContext, node: ast.Delete) -> None:
    """Check ``del``; the live ranges guarantee that no later read sees the variable."""
    for name in ast.walk(node):
        if any(name is missing for missing in context.ranges.undefined):
            assert isinstance(name, ast.Name)
            fail(
                "name",
                Label(context.span(name), f"`{name.id}` is deleted before it is assigned"),
                hint="leave the line out",
            )
