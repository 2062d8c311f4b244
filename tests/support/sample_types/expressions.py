"""Samples of expressions."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from pycu2c.base.records import replace
from pycu2c.base.source import LAMBDA_NAME, Source
from pycu2c.base.values import scalar_of
from pycu2c.base.vectors import Vector
from pycu2c.frontend.statements.unroll import TripCount
from pycu2c.ops.operators import BINARY_BY_NODE, UNARY_BY_NODE
from support.ast_interpreter import calls as calls
from support.ast_interpreter import elements as elements
from support.ast_interpreter import operators as operators
from support.ast_interpreter.expressions import NOT_STATIC
from support.sample_types.conditions import ConditionSamples
from support.sample_types.samples import (
    NestedFunction,
    NoSample,
    Sample,
    common_sample,
    is_tuple,
    sample_of_array,
)


class ExpressionSamples(ConditionSamples):
    """Evaluates the expressions of a function on samples."""

    # ---- implemented by subclasses ----

    def call(self, node: ast.Call) -> Sample:
        raise NotImplementedError

    # ---- evaluation ----

    def expression(self, node: ast.expr) -> Sample:
        static = self.rewriter.static_object(node)
        if static is not NOT_STATIC:
            value = self.attempt(calls.read, static)
            return sample_of_array(value) if isinstance(value, np.ndarray) else value
        constant = self.rewriter.constants.fold(node)
        if constant is not None:
            return constant
        match node:
            case ast.Name():
                return self.read(node)
            case ast.Attribute(value=owner, attr=attr):
                return self.attempt(calls.attribute, self.expression(owner), attr)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(left, op, right)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                self.condition(operand)
                return True
            case ast.UnaryOp(op=op, operand=operand):
                return self.attempt(UNARY_BY_NODE[type(op)].reference, self.expression(operand))
            case ast.Compare(left=left, comparators=comparators):
                for operand in (left, *comparators):
                    self.evaluate(operand)
                return True
            case ast.BoolOp():
                return self.boolean(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                arms = self.branches(
                    test, lambda: self.expression(body), lambda: self.expression(orelse)
                )
                return self.record_join(node, common_sample(arms)) if len(arms) > 1 else arms[0]
            case ast.Subscript():
                return self.subscript(node)
            case ast.Call():
                return self.call(node)
            case _:
                return self.compound(node)

    def compound(self, node: ast.expr) -> Sample:
        """Evaluate tuples, ``:=``, lambdas, comprehensions and f-strings."""
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self.items_of_display(items))
            case ast.NamedExpr(target=target, value=value):
                self.assign(target, self.expression(value))
                return self.read(target)
            case ast.Lambda(args=arguments, body=body):
                return self.local_function(node, LAMBDA_NAME, arguments, [ast.Return(body)])
            case ast.ListComp(elt=elt, generators=generators):
                return tuple(self.comprehension(elt, generators))
            case ast.GeneratorExp(elt=elt, generators=generators):
                return tuple(self.comprehension(elt, generators))
            case ast.JoinedStr(values=parts):
                for part in parts:
                    self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part)
                return ""
            case _:
                raise NoSample

    def items_of_display(self, nodes: Sequence[ast.expr]) -> Iterator[Sample]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.attempt(tuple, self.expression(node.value))
            else:
                yield self.expression(node)

    def binary(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Sample:
        operation = operators.binary_operation(BINARY_BY_NODE[type(op)])
        exponent = self.rewriter.constants.fold(right)
        if isinstance(op, ast.Pow) and exponent is not None:
            return self.attempt(operators.power_of_constant, self.expression(left), exponent)
        return self.attempt(operation, self.expression(left), self.expression(right))

    def boolean(self, node: ast.BoolOp) -> Sample:
        """Return the common type of the operands; objects and tuples decide when compiled."""
        deciding = isinstance(node.op, ast.Or)
        values: list[Sample] = []
        for position, operand in enumerate(node.values):
            value = self.expression(operand)
            is_object = scalar_of(value) is None
            decides = is_object and bool(value) is deciding
            if decides or not is_object or position + 1 == len(node.values):
                values.append(value)
            if decides:
                break
        return values[0] if len(values) == 1 else self.record_join(node, common_sample(values))

    # ---- subscripts ----

    def subscript(self, node: ast.Subscript) -> Sample:
        owner, index = self.expression(node.value), node.slice
        if is_tuple(owner) or isinstance(owner, range):
            return self.tuple_item(node, owner, index)
        key = None if isinstance(index, ast.Slice | ast.Tuple) else self.static_value(index)
        if isinstance(key, str) or isinstance(owner, np.void | Vector):
            return self.attempt(elements.load, owner, key, "")
        if not isinstance(owner, np.ndarray):
            raise NoSample
        return self.attempt(elements.load, owner, self.indices(index), "")

    def indices(self, node: ast.expr) -> tuple[Any, ...]:
        """Evaluate an index; the samples of arrays have the index 0 alone."""
        result: list[Any] = []
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(part, ast.Slice):
                for bound in (part.lower, part.upper, part.step):
                    self.evaluate(bound)
                result.append(slice(None))
                continue
            value = self.expression(part)
            if value is ...:
                result.append(value)
            else:
                result += [0] * (len(value) if isinstance(value, tuple) else 1)
        return tuple(result)

    def tuple_item(self, node: ast.Subscript, items: Sample, index: ast.expr) -> Sample:
        if isinstance(index, ast.Slice):
            bounds = (index.lower, index.upper, index.step)
            constants = [None if b is None else self.expression(b) for b in bounds]
            return self.attempt(lambda: items[slice(*constants)])
        if isinstance(index, ast.Tuple):
            return self.attempt(elements.load, items, self.expression(index), "")
        position = self.rewriter.constants.fold(index)
        if position is not None:
            return self.attempt(lambda: items[position])
        self.expression(index)
        return self.record_join(node, common_sample(items))

    # ---- iterables ----

    def iterable(self, node: ast.expr) -> tuple[list[Sample], TripCount | None]:
        """Return samples of the items, and the number of iterations of a loop to unroll."""
        function: object = None
        if isinstance(node, ast.Call) and not node.keywords:
            function = self.rewriter.static_object(node.func)
            if function is builtins.range:
                for argument in node.args:
                    self.evaluate(argument)
                return [1], None
            if function in (builtins.enumerate, builtins.zip, builtins.reversed):
                return self.combined_iterable(function, node.args)
        value = self.expression(node)
        if is_tuple(value) or isinstance(value, str):
            return list(value), TripCount(len(value))
        if isinstance(value, range):
            return [1], None
        if isinstance(value, np.flatiter) or (isinstance(value, np.ndarray) and value.ndim):
            return [elements.to_scalar(value[0])], None
        raise NoSample

    def combined_iterable(
        self, function: object, arguments: list[ast.expr]
    ) -> tuple[list[Sample], TripCount | None]:
        """Return the items of ``enumerate``, ``zip`` or ``reversed``."""
        if function is not builtins.zip:
            for start in arguments[1:]:
                self.evaluate(start)
            items, count = self.iterable(arguments[0])
            if function is builtins.reversed:
                return items[::-1], count
            return [(position, item) for position, item in enumerate(items)], count
        parts = [self.iterable(argument) for argument in arguments]
        counts = [count for _, count in parts if count is not None]
        if not counts:
            return [tuple(items[0] for items, _ in parts)], None
        ranges = [*filter(None, map(self.constant_range, arguments))]
        iterations = min(*(count.iterations for count in counts), *map(len, ranges), 1024)
        may_be_skipped = len(counts) + len(ranges) < len(parts)
        may_be_skipped = may_be_skipped or any(count.may_be_skipped for count in counts)
        columns = [items if count else items * iterations for items, count in parts]
        return list(zip(*columns)), TripCount(iterations, may_be_skipped)

    def constant_range(self, node: ast.expr) -> range | None:
        """Return a range of constants, whose length is known."""
        if not isinstance(node, ast.Call) or self.rewriter.static_object(node.func) is not range:
            return None
        bounds = [self.rewriter.constants.fold(argument) for argument in node.args]
        return range(*bounds) if all(type(bound) is int for bound in bounds) else None

    def comprehension(self, elt: ast.expr, generators: Sequence[ast.comprehension]) -> list[Sample]:
        """Return samples of all items; those that conditions exclude are of the same types."""
        results: list[Sample] = []
        generator, *others = generators
        items, count = self.iterable(generator.iter)
        if count is None:
            items = list(self.attempt(tuple, self.expression(generator.iter)))
        names = {n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)}
        for item in items:
            with self.rewriter.inner_scope(names), self.inner_scope(names):
                self.assign(generator.target, item)
                for test in generator.ifs:
                    self.condition(test)
                inner = self.comprehension(elt, others) if others else [self.expression(elt)]
                results += inner
        return results

    # ---- local functions ----

    def local_function(
        self, node: ast.AST, name: str, arguments: ast.arguments, body: list[ast.stmt]
    ) -> NestedFunction:
        """Return a nested function as a value; its defaults are evaluated now."""
        if id(node) not in self.local_functions:
            tree = ast.FunctionDef(name=name, args=arguments, body=body, decorator_list=[])
            self.local_functions[id(node)] = ast.copy_location(tree, node)
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = [*zip_longest(reversed(positional), reversed(arguments.defaults))]
        pairs += [*zip(arguments.kwonlyargs, arguments.kw_defaults)]
        defaults = {
            parameter.arg: self.expression(default)
            for parameter, default in pairs
            if default is not None
        }
        return NestedFunction(self.local_functions[id(node)], defaults, self)

    def nested_source(self, function: NestedFunction) -> Source:
        return replace(self.source, tree=function.tree, signature=None, external_code=None)
