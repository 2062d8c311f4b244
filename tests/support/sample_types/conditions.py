"""Conditions: those on constants are decided when a kernel is compiled."""

from __future__ import annotations

import ast
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

from pycu2c.base.source import Source
from pycu2c.frontend.scope.bindings import bindings, parameters
from pycu2c.ops.intrinsics.registry import bound_to
from pycu2c.ops.names.dtype_names import scalar_named
from support.ast_interpreter import elements as elements
from support.ast_interpreter import operators as operators
from support.ast_interpreter.expressions import NOT_STATIC, ExpressionRewriter, FunctionProperties
from support.ast_interpreter.rewrite import globals_of
from support.ast_interpreter.weak_floats import ReferenceTypes
from support.sample_types.samples import (
    UNKNOWN,
    NoSample,
    NotTyped,
    Sample,
    is_tuple,
)
from support.sample_types.variables import Specializations, VariableSamples


class ConditionSamples(VariableSamples):
    """Decides conditions, or evaluates them on samples."""

    def __init__(
        self,
        source: Source,
        specializations: Specializations,
        enclosing: ConditionSamples | None = None,
    ) -> None:
        super().__init__(source, specializations, enclosing)
        unused = FunctionProperties(_reject_callee, _is_false, _is_false)
        self.rewriter = ExpressionRewriter(
            source, ReferenceTypes({}, {}), unused, globals_of(source.python)
        )
        self.rewriter.locals |= set(bindings(source.tree))
        self.rewriter.locals |= {a.arg for a in parameters(source.tree.args)}
        if enclosing is not None:
            self.rewriter.locals |= enclosing.rewriter.locals
        self.local_functions: dict[int, ast.FunctionDef] = {}  # by the id of their nodes

    # ---- implemented by subclasses ----

    def assign(self, target: ast.expr, sample: Sample) -> None:
        raise NotImplementedError

    def expression(self, node: ast.expr) -> Sample:
        raise NotImplementedError

    # ---- evaluation ----

    def evaluate(self, node: ast.expr | None) -> Sample:
        """Return the sample of an expression, UNKNOWN if it has none; may raise NotTyped."""
        try:
            return None if node is None else self.expression(node)
        except NoSample:
            return UNKNOWN

    def attempt(self, function: Callable[..., Any], *samples: Sample, **keywords: Sample) -> Sample:
        """Return the result of a function of the oracle on samples."""
        if any(s is UNKNOWN for s in (*samples, *keywords.values())):
            raise NoSample
        try:
            return function(*samples, **keywords)
        except (NoSample, NotTyped):
            raise
        except Exception as error:  # the function needs more than samples
            raise NoSample from error

    # ---- conditions ----

    def condition(self, test: ast.expr) -> None:
        """Evaluate a condition, whose operands do not join."""
        match test:
            case ast.BoolOp(values=values):
                for value in values:
                    self.condition(value)
            case _:
                with suppress(NotTyped):
                    self.evaluate(test)

    def branches(
        self, test: ast.expr, then: Callable[[], Any], orelse: Callable[[], Any]
    ) -> list[Any]:
        """Run the arms that the condition allows; return their values."""
        truth = None
        with suppress(NotTyped):
            truth = self.static_truth(test)
        if truth is None:
            self.condition(test)
            return [then(), orelse()]
        return [then() if truth else orelse()]

    def static_truth(self, node: ast.expr) -> bool | None:
        """Return the truth of a condition on constants, None if it depends on run-time values."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                truth = self.static_truth(operand)
                return None if truth is None else not truth
            case ast.BoolOp(op=op, values=values):
                deciding = isinstance(op, ast.Or)
                truths: list[bool | None] = []
                for value in values:
                    truths.append(self.static_truth(value))
                    if truths[-1] is deciding and None not in truths:
                        return deciding
                return None if None in truths else not deciding
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                operands = [self.static_value(left), self.static_value(right)]
                if isinstance(op, ast.Is | ast.IsNot) and operands[1] is None:
                    sample = self.evaluate(left)
                    return None if sample is UNKNOWN else (sample is None) is isinstance(op, ast.Is)
                if any(value is NOT_STATIC for value in operands):
                    return None
                return bool(operators.comparison(type(op))(*operands))
            case ast.Call(func=ast.Name(id="isinstance"), args=[value, classes]):
                nodes = classes.elts if isinstance(classes, ast.Tuple) else [classes]
                expected = tuple(map(self.rewriter.static_object, nodes))
                sample = self.evaluate(value)
                if sample is UNKNOWN or NOT_STATIC in expected:
                    return None
                return isinstance(sample, expected)
            case _:
                value = self.static_value(node)
                sample = self.evaluate(node) if value is NOT_STATIC else None
                if is_tuple(sample):
                    return bool(sample)
                return None if value is NOT_STATIC else bool(value)

    def static_value(self, node: ast.expr) -> Any:
        """Return a constant number, string, dtype or None; NOT_STATIC for other values."""
        constant = self.rewriter.constants.fold(node)
        if constant is not None:
            return constant
        static = self.rewriter.static_object(node)
        intrinsic = None if static is NOT_STATIC else bound_to(static)
        if static is not NOT_STATIC and (intrinsic is None or not intrinsic.is_special_register):
            return scalar_named(static) or static
        sample = self.evaluate(node)
        if sample is None or isinstance(sample, str):
            return sample
        if isinstance(node, ast.Attribute) and node.attr in ("ndim", "dtype"):
            return scalar_named(sample) or sample
        return NOT_STATIC


def _reject_callee(*_: object) -> NoReturn:
    raise NoSample


def _is_false(_: object) -> bool:
    return False
