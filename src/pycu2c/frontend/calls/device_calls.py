"""Calls of device functions and of local functions.

A local function or lambda is compiled as a device function with extra parameters for the captured
variables (lambda lifting).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.records import replace
from pycu2c.base.source import LAMBDA_NAME, Source, Span
from pycu2c.base.types import NONE, Array, ParameterType, Scalar
from pycu2c.frontend import hints
from pycu2c.frontend.calls import declared_signatures
from pycu2c.frontend.calls.arguments import (
    CallArgument,
    bind_arguments,
    call_arguments,
    constant_int,
    evaluate_in_call_order,
)
from pycu2c.frontend.calls.constant_parameters import constant_parameters
from pycu2c.frontend.evaluation_order import assign_temporary, evaluate_in_order, materialize
from pycu2c.frontend.expressions.bit_views import check_aligned, reject_reinterpreted
from pycu2c.frontend.expressions.composite_values import result_type, type_of, unpack_result
from pycu2c.frontend.function_context import FunctionContext
from pycu2c.frontend.scope import name_resolution
from pycu2c.frontend.scope.bindings import FunctionLike, free_names, parameters
from pycu2c.frontend.scope.variables import bind
from pycu2c.frontend.statements import branches, exceptions, slice_overlap
from pycu2c.frontend.statements.returns import returned_parameter
from pycu2c.frontend.values import (
    ArraySelect,
    Closure,
    LocalFunction,
    StaticObject,
    TupleValue,
    Value,
    leaves,
)
from pycu2c.ir.nodes import Call, Const, Evaluate, Var, View
from pycu2c.ops.intrinsics import library


def call_function(
    context: FunctionContext,
    callee: StaticObject | Closure,
    node: ast.Call,
    owner: TupleValue | None = None,
) -> Value:
    """Call a ``@device`` function or a local function; a method also takes its ``owner``."""
    span = context.span(node)
    arguments = call_arguments(context, node)
    if owner is not None:
        arguments = [(None, owner, owner.span), *arguments]
    if isinstance(callee, Closure):
        function = callee.function
        defaults = dict(zip(callee.defaults.names, callee.defaults.items))
        arguments = evaluate_in_call_order(context, function.arguments, arguments)
        values = bind_arguments(function.arguments, defaults, function.__name__, arguments, span)
        return _call(context, function.source, [*values, *callee.variables.items], span)
    source = library.device_source(callee.value)
    if source is None:
        text, hint = hints.unsupported_function(callee.value)
        fail("call", Label(context.span(node.func), text), hint=hint)
    arguments = evaluate_in_call_order(context, source.tree.args, arguments)
    return _call(context, source, _bound(source, arguments, span), span)


def call_library_function(
    context: FunctionContext, function: object, values: list[Value], span: Span
) -> Value:
    """Call a device function of ``ops`` with values in the order of its parameters."""
    source = library.device_source(function)
    assert source is not None
    return _call(context, source, _bound(source, [(None, v, span) for v in values], span), span)


def _bound(source: Source, arguments: Sequence[CallArgument], span: Span) -> list[Value]:
    """Return the arguments of a device function for each parameter."""
    return bind_arguments(source.tree.args, _defaults(source), source.name, arguments, span)


def _call(context: FunctionContext, source: Source, values: list[Value], span: Span) -> Value:
    signature = context.devices.signature(source)
    if signature is not None:
        for position, (value, parameter_type) in enumerate(zip(values, signature.parameters)):
            if isinstance(value, ArraySelect) and isinstance(parameter_type, Array):
                return _call_for_each_array(context, source, values, position, span)
        values = [
            declared_signatures.convert_to_declared(v, parameter_type)
            for v, parameter_type in zip(values, signature.parameters)
        ]
    constants = constant_parameters(source, context.devices.constant_parameters)
    if constants:
        names = [node.arg for node in parameters(source.tree.args)]
        values = [
            _specialize_constants(context, v) if n in constants else v
            for n, v in zip(names, values)
        ]
    types = tuple(type_of(value) for value in values)
    name, returned_type = context.devices.specialize(source, types, span)
    result = result_type(returned_type)
    returned = returned_parameter(returned_type)
    if returned is not None:  # the call and the code that uses its result both read the array
        values = [materialize(context, value, "given") for value in values]
    arguments = tuple(leaf for value in values for leaf in leaves(value))
    for argument in arguments:
        reject_reinterpreted(argument, "functions take arrays with the dtype of their memory")
        check_aligned(argument, argument.span, "with align=True, or pass the field's value")
    slice_overlap.check_call(context, context.devices.overlap_rules(source, types), arguments)
    value = _emit_call(context, Call(name, arguments, result, span), returned_type, source.name)
    return value if returned is None else returned.value(context, values, span)


def _emit_call(
    context: FunctionContext, call: Call, returned_type: ParameterType, name: str
) -> Value:
    """Emit a call, unless its result is one number, and return the result."""
    if isinstance(returned_type, Scalar) or returned_type == NONE:
        return call
    if isinstance(call.type, Scalar):
        value = unpack_result(assign_temporary(context, call, name), returned_type, call.span)
        return exceptions.check_exit_flag(context, value, call.span)
    context.emit(Evaluate(call, call.span))
    return unpack_result(call, returned_type, call.span)


def _specialize_constants(context: FunctionContext, value: Value) -> Value:
    """Return a value whose constant integers and bools become compile-time objects."""
    if isinstance(value, TupleValue):
        items = tuple(_specialize_constants(context, item) for item in value.items)
        return TupleValue(items, value.span, value.names)
    if isinstance(value, Const) and isinstance(value.value, bool):
        return StaticObject(value.value, value.span)
    integer = constant_int(context, value)
    return value if integer is None else StaticObject(integer, value.span)


def _call_for_each_array(
    context: FunctionContext, source: Source, values: list[Value], position: int, span: Span
) -> Value:
    """Call a function whose signature takes an array, for each array of a selection."""
    evaluated = [materialize(context, value, "given") for value in values]
    array = evaluated[position]
    assert isinstance(array, ArraySelect)

    def call(one_array: Var | View) -> Value:
        return _call(
            context, source, [*evaluated[:position], one_array, *evaluated[position + 1 :]], span
        )

    return branches.for_each_array(context, array, call)


def _defaults(source: Source) -> dict[str, Value]:
    """Return the defaults of a device function."""
    signature, function = source.tree.args, source.python
    positional = [*signature.posonlyargs, *signature.args]
    values = function.__defaults__ or ()
    defaults = dict(zip((a.arg for a in positional[len(positional) - len(values) :]), values))
    defaults |= function.__kwdefaults__ or {}
    nodes = {a.arg: a for a in parameters(signature)}
    return {
        name: name_resolution.static_value(value, source.span(nodes[name]))
        for name, value in defaults.items()
    }


# ---- local functions ---------------------------------------------------------------------------


def define_function(context: FunctionContext, node: ast.FunctionDef) -> None:
    """Lower a nested ``def``, which binds a name to a closure."""
    name = context.variable_name(node)
    closure = materialize(context, new_closure(context, node, node.name), node.name)
    bind(context, name, closure, closure.span)


def lambda_value(context: FunctionContext, node: ast.Lambda) -> Closure:
    """Lower ``lambda x: …``."""
    closure = new_closure(context, node, LAMBDA_NAME)
    return name_resolution.bind_captures(context, closure, closure.span)


def rebind_closure_captures(context: FunctionContext, value: Value) -> Value:
    """Return a value for a name, with closures that read their variables when they are called."""
    match value:
        case TupleValue():
            items = tuple(rebind_closure_captures(context, item) for item in value.items)
            return TupleValue(items, value.span, value.names)
        case Closure(function=function):
            is_local = any(function is f for f in context.local_functions.values())
            in_comprehension = (
                n.id in s for n in function.captured for s in context.comprehension_scopes
            )
            if is_local and not any(in_comprehension):
                return replace(value, variables=TupleValue((), value.span), is_open=True)
    return value


def new_closure(context: FunctionContext, node: ast.FunctionDef | ast.Lambda, name: str) -> Closure:
    """Return a function as a closure: defaults are evaluated now, captured variables are not."""
    function = context.local_functions.get(id(node))
    if function is None:
        captured = tuple(_captured_reads(context, node))
        function = LocalFunction(_lift(context, node, name, captured), node.args, captured)
        context.local_functions[id(node)] = function
    signature, span = node.args, context.span(node)
    positional = [*signature.posonlyargs, *signature.args]
    pairs = [*zip(positional[len(positional) - len(signature.defaults) :], signature.defaults)]
    pairs += [(a, d) for a, d in zip(signature.kwonlyargs, signature.kw_defaults) if d is not None]
    values = tuple(evaluate_in_order(context, [default for _, default in pairs]))
    defaults = TupleValue(values, span, tuple(parameter.arg for parameter, _ in pairs))
    return Closure(function, defaults, TupleValue((), span), span, is_open=True)


def _captured_reads(context: FunctionContext, node: FunctionLike) -> list[ast.Name]:
    """Return one read of each local that the nested function captures."""
    first_reads: dict[str, ast.Name] = {}
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    in_defaults = {id(n) for default in defaults for n in ast.walk(default)}
    for read in free_names(node):
        is_read = isinstance(read.ctx, ast.Load) and id(read) not in in_defaults
        if is_read and context.is_local(read.id):
            first_reads.setdefault(read.id, read)
    return list(first_reads.values())


def _lift(
    context: FunctionContext,
    node: ast.FunctionDef | ast.Lambda,
    name: str,
    captured: tuple[ast.Name, ...],
) -> Source:
    """Return the nested function as a function without an enclosing scope (lambda lifting)."""
    signature = node.args
    captured_parameters = [ast.copy_location(ast.arg(read.id), read) for read in captured]
    own_parameters = [*signature.posonlyargs, *signature.args, *signature.kwonlyargs]
    own_parameters += [signature.vararg] if signature.vararg else []
    arguments = ast.arguments([], [*own_parameters, *captured_parameters], None, [], [], None, [])
    body: list[ast.stmt] = []
    body += (
        node.body
        if isinstance(node, ast.FunctionDef)
        else [ast.copy_location(ast.Return(node.body), node.body)]
    )
    tree = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
    ast.copy_location(tree, node)
    names = frozenset(read.id for read in captured)
    enclosing = context.source
    return Source(enclosing.python, tree, enclosing.file, enclosing.lines, captured=names)
