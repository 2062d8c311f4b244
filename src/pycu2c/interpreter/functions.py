"""Translate functions of typed IR to Python functions, which Python then runs.

A function that may wait for other threads becomes a generator function, which yields its waits.
Its frame has the variables of the thread, by which the scheduler detects deadlocks.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from pycu2c.analysis.busy_wait import may_busy_wait, polling_functions
from pycu2c.base.errors import Error
from pycu2c.base.types import Array, Scalar
from pycu2c.interpreter import memory, operations
from pycu2c.interpreter.expressions import (
    ExpressionTranslator,
    file_line,
    function_name,
    load_name,
    located,
    store_name,
)
from pycu2c.interpreter.observation import Observer
from pycu2c.interpreter.scheduler import Coroutine, Wait
from pycu2c.interpreter.synchronization import is_busy_wait
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import callees, functions_that
from pycu2c.ir.print_format import PrintFormat, RaisedException, scalar_types
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.runtime import print_log


class UnsupportedByReferenceError(Error, TypeError):
    """A kernel uses what the reference interpreter does not support."""


def python_kernel(module: ir.Module, observer: Observer | None = None) -> Callable[..., Coroutine]:
    """Return the kernel of a module as a generator function, which runs one thread."""
    polling = polling_functions(module)
    waiting = _waiting_functions(module, polling)
    translator = ExpressionTranslator(waiting, observer)
    namespace = translator.namespace
    for constant in module.constants:
        namespace[constant.var.name] = _constant_array(constant)
    for function in module.functions:
        if function.external_code is not None and not function.external_code.has_python_body:
            namespace[function_name(function.name)] = _unsupported(function)
            continue
        tree = _FunctionTranslator(translator, function, polling).function()
        if function.name in waiting:
            tree.body += [ast.Return(ast.Constant(None)), ast.Expr(ast.Yield(None))]
        code = ast.fix_missing_locations(ast.Module([tree], type_ignores=[]))
        exec(compile(code, function.span.file, "exec"), namespace)
    kernel: Callable[..., Coroutine] = namespace[function_name(module.kernel.name)]
    return kernel


def _constant_array(constant: ir.ConstantArray) -> np.ndarray[Any, Any]:
    array_type = constant.var.type
    assert isinstance(array_type, Array)
    assert array_type.shape is not None
    values = [_constant_value(e) for e in constant.values]
    array = np.empty(len(values), array_type.dtype.numpy)
    for position, value in enumerate(values):
        array[position] = value
    return array.reshape(array_type.shape)


def _constant_value(e: ir.Expr) -> Any:
    match e:
        case ir.Const(value, scalar):
            return operations.converter(scalar)(value)
        case ir.Pack(parts, scalar):
            return operations.pack(scalar)(*map(_constant_value, parts))
        case _:
            raise AssertionError(f"{e} is not a constant")


def _unsupported(function: ir.Function) -> Any:
    def reject(*_: Any) -> NoReturn:
        raise UnsupportedByReferenceError(
            f"{function.python_name} is C alone: give it a Python body, which says what it computes"
        )

    return reject


# ---- functions that wait -------------------------------------------------------------------------


def _waiting_functions(module: ir.Module, polling: frozenset[str]) -> frozenset[str]:
    """Return the functions that may wait for other threads, and the kernel."""

    def waits(function: ir.Function, waiting: frozenset[str]) -> bool:
        return (
            any(
                isinstance(e, ir.Apply) and e.intrinsic.synchronizes
                for e in all_expressions(function.body)
            )
            or any(may_busy_wait(s, polling) for s in statements(function.body))
            or not waiting.isdisjoint(callees(function))
        )

    return functions_that(module.functions, waits) | {module.kernel.name}


# ---- statements ----------------------------------------------------------------------------------


class _FunctionTranslator:
    """Translates the statements of one function."""

    def __init__(
        self, translator: ExpressionTranslator, function: ir.Function, polling: frozenset[str]
    ) -> None:
        self.translator, self._function, self._polling = translator, function, polling
        self._call, self._expression = translator.call, translator.expression

    def function(self) -> ast.FunctionDef:
        function = self._function
        names = [ast.arg(p.name) for p in function.parameters]
        arguments = ast.arguments([], names, None, [], [], None, [])
        body = [*self._zeros(), *self._block(function.body)]
        return located(
            ast.FunctionDef(function_name(function.name), arguments, body, []), function.span
        )

    def _zeros(self) -> Iterator[ast.stmt]:
        """Yield assignments of 0 to the variables: one without a value reads 0."""
        assigned = {
            s.var.name: s.var.type
            for s in statements(self._function.body)
            if isinstance(s, ir.Assign | ir.For)
        }
        parameters = {p.name for p in self._function.parameters}
        for name, scalar in assigned.items():
            if name not in parameters and isinstance(scalar, Scalar):
                zero = self.translator.constant(operations.zero(scalar))
                yield ast.Assign([store_name(name)], zero)

    def _block(self, body: ir.Body) -> list[ast.stmt]:
        translated = [located(self._statement(s), s.span) for s in body] or [ast.Pass()]
        if self.translator.observer is None:
            return translated
        return [
            s for pair in zip(map(self._observation, body), translated) for s in pair
        ] or translated

    def _observation(self, s: ir.Stmt) -> ast.stmt:
        """Return the call that notifies the observer of a statement."""
        assert self.translator.observer is not None
        observe, span = self.translator.observer.statement, self.translator.constant(s.span)
        return located(ast.Expr(self._call(observe, span)), s.span)

    def _condition(self, s: ir.If) -> ast.expr:
        condition = self._expression(s.condition)
        if self.translator.observer is None:
            return condition
        span = self.translator.constant(s.span)
        return self._call(self.translator.observer.branch, span, condition)

    def _statement(self, s: ir.Stmt) -> ast.stmt:
        match s:
            case ir.Allocate(var):
                assert isinstance(var.type, Array)
                key = self.translator.constant((self._function.name, var.name))
                array = self._call(memory.allocate, key, self.translator.constant(var.type))
                return ast.Assign([store_name(var.name)], array)
            case ir.Assign(var, value):
                return ast.Assign([store_name(var.name)], self._expression(value))
            case ir.Store(array, indices, value, span, path):
                store = memory.storer(self.translator.location(span, array))
                stored = self._expression(value)
                element = self.translator.element(array, indices, path)
                store = self.translator.observed(store, span, array, "store")
                return ast.Expr(self._call(store, stored, *element))
            case ir.Evaluate(value):
                return ast.Expr(self._expression(value))
            case ir.Print(text, values):
                write = _raise if text and isinstance(text[0], RaisedException) else _print
                arguments = self.translator.expressions(values)
                return ast.Expr(self._call(write, self.translator.constant(text), *arguments))
            case ir.If(_, then, orelse):
                otherwise = self._block(orelse) if orelse else []
                return ast.If(self._condition(s), self._block(then), otherwise)
            case ir.While(condition):
                return ast.While(self._expression(condition), self._loop_body(s), [])
            case ir.For():
                return self._for(s)
            case ir.Break():
                return ast.Break()
            case ir.Continue():
                return ast.Continue()
            case ir.Return(value):
                return ast.Return(None if value is None else self._expression(value))
            case _:
                raise AssertionError(f"{type(s).__name__} is not in typed IR")

    def _for(self, s: ir.For) -> ast.stmt:
        bounds = self.translator.expressions((s.start, s.stop, s.step))
        counter, conversion = load_name("<counter>"), operations.converter(s.var.type)
        first = ast.Assign([store_name(s.var.name)], self._call(conversion, counter))
        body = [first, *self._loop_body(s)]
        return ast.For(store_name("<counter>"), self._call(range, *bounds), body, [])

    def _loop_body(self, s: ir.For | ir.While) -> list[ast.stmt]:
        """Translate the body; in a loop that may busy-wait, other threads run now and then."""
        body = self._block(s.body)
        if not may_busy_wait(s, self._polling):
            return body
        wait = self.translator.constant(Wait(file_line(s.span)))
        return [ast.If(self._call(is_busy_wait), [ast.Expr(ast.Yield(wait))], []), *body]


def _print(text: PrintFormat, *values: Any) -> None:
    print(print_log.format_values(text, _python_numbers(text, values)), end="")


def _raise(text: PrintFormat, *values: Any) -> NoReturn:
    (raised,) = text
    assert isinstance(raised, RaisedException)
    error, _ = print_log.raised_exception(raised, _python_numbers(text, values))
    raise error


def _python_numbers(text: PrintFormat, values: Sequence[Any]) -> Iterator[Any]:
    """Yield the values of weak types as Python numbers."""
    for scalar, value in zip(scalar_types(text), values, strict=True):
        yield value.item() if scalar.weak and isinstance(value, np.generic) else value
