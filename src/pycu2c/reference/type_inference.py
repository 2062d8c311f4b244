"""Types of the reference interpreter's variables and joins, inferred without the compiler.

The inference runs a function once on *samples*: numbers of the types of its arguments, arrays with
one element. Operators and intrinsics compute samples of their results, so NumPy's own promotion
gives the types. Both arms of a branch run, and the run repeats until the types of all variables
settle. The law of ``docs/semantics.md`` is written here a second time: a variable has the common
type of its assignments, and a conditional expression that of its arms.

It shares with the compiler only what is not typing: the syntax tree, in which loops over tuples are
unrolled, and the live ranges. Where a construct has no samples, such as a call of a local function,
the compiler's types are used.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeAlias

import numpy as np

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Source
from pycu2c.base.types import (
    WEAK_BOOL,
    WEAK_FLOAT,
    WEAK_INT,
    ParameterType,
    Scalar,
)
from pycu2c.base.values import scalar_of
from pycu2c.base.vectors import Vector
from pycu2c.frontend.scope.bindings import bindings, parameters
from pycu2c.frontend.scope.inferred_types import InferredTypes
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.statements.unroll import UnrolledIteration, UnrolledLoop
from pycu2c.ops.intrinsics import library
from pycu2c.ops.intrinsics.kinds import FIXED
from pycu2c.ops.intrinsics.memory import allocation
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, bound_to
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import BINARY_BY_NODE, UNARY_BY_NODE
from pycu2c.reference import calls as calls
from pycu2c.reference import elements as elements
from pycu2c.reference.expressions import NOT_STATIC, ExpressionRewriter, FunctionProperties
from pycu2c.reference.rewrite import globals_of
from pycu2c.reference.samples import (
    UNKNOWN,
    NoSample,
    NotTyped,
    Sample,
    common_sample,
    number_type,
    sample_of,
    sample_or_unknown,
    sample_thread,
    type_key,
    types_of,
    variable_type,
)
from pycu2c.reference.weak_floats import ReferenceTypes

FunctionKey: TypeAlias = "tuple[Source, tuple[ParameterType, ...]]"

_MAX_PASSES = 50
_ANNOTATED = {int: WEAK_INT, float: WEAK_FLOAT, bool: WEAK_BOOL}


def infer_all(compiled: Mapping[FunctionKey, InferredTypes]) -> dict[FunctionKey, InferredTypes]:
    """Return the types of all functions; those of the compiler for nodes without a sample."""
    results: dict[object, Sample] = {}
    return {key: _infer_or_keep(key, types, results) for key, types in compiled.items()}


def _infer_or_keep(
    key: FunctionKey, compiled: InferredTypes, results: dict[object, Sample]
) -> InferredTypes:
    own = infer(key, compiled.tree, results)
    local_types = {**compiled.local_types, **own.local_types}
    join_types = {**compiled.join_types, **own.join_types}
    typed = own.local_types.keys() | own.join_types.keys()
    return replace(
        compiled,
        local_types={k: t for k, t in local_types.items() if k not in own.mixed},
        join_types={k: t for k, t in join_types.items() if k not in own.mixed},
        mixed=(compiled.mixed - typed) | own.mixed,
    )


def infer(
    key: FunctionKey, tree: ast.FunctionDef, results: dict[object, Sample] | None = None
) -> InferredTypes:
    """Return the types of the nodes of a function that have samples.

    ``results`` are samples of the results of device functions, which the inference adds to.
    """
    source, types = key
    run = _FunctionRun(replace(source, tree=tree), frozenset(), {} if results is None else results)
    with sample_thread():
        run.to_fixed_point([sample_or_unknown(parameter_type) for parameter_type in types])
    return InferredTypes(tree, run.local_types(), run.join_types(), frozenset(run.mixed))


@dataclass(slots=True, eq=False)
class _Pass:
    """What one pass over a function has assigned."""

    variables: dict[str, Sample] = field(default_factory=dict)
    stores: dict[int, str] = field(default_factory=dict)  # id of a name -> its variable
    joins: dict[int, Scalar] = field(default_factory=dict)
    results: list[Sample] = field(default_factory=list)
    returns: list[int] = field(default_factory=list)


class _FunctionRun:
    """The inference of one function for one combination of argument types."""

    def __init__(
        self, source: Source, active: frozenset[Source], results: dict[object, Sample]
    ) -> None:
        self.source, self.active, self.known_results = source, active | {source}, results
        self.ranges = live_ranges(source.tree)
        unused = FunctionProperties(_reject_callee, _is_false, _is_false)
        self.rewriter = ExpressionRewriter(
            source, ReferenceTypes({}, {}), unused, globals_of(source.python)
        )
        self.rewriter.locals |= set(bindings(source.tree))
        self.rewriter.locals |= {a.arg for a in parameters(source.tree.args)}
        self.declared: dict[str, Scalar] = {}
        self.mixed: set[int] = set()
        self.scopes: list[dict[str, Sample]] = []  # of comprehensions
        self.previous, self.current = _Pass(), _Pass()

    def to_fixed_point(self, samples: Sequence[Sample]) -> None:
        """Run the function until its types settle."""
        for _ in range(_MAX_PASSES):
            self.current = _Pass()
            for node, sample in zip(parameters(self.source.tree.args), samples, strict=True):
                self.assign_name(node, node.arg, sample)
            self.block(self.source.tree.body)
            before, self.previous = self.previous, self.current
            if types_of(before.variables) == types_of(self.previous.variables):
                return
        self.previous = _Pass()

    def local_types(self) -> dict[int, ParameterType]:
        """Return the types of the variables that hold numbers, or tuples with numbers."""
        variables = self.previous.variables
        types = {key: variable_type(variables[name]) for key, name in self.previous.stores.items()}
        return {key: known for key, known in types.items() if known is not None}

    def join_types(self) -> dict[int, Scalar]:
        """Return the types of conditional expressions, items of tuples, and returns."""
        joins = dict(self.previous.joins)
        scalar = number_type(self.result())
        if scalar is not None:
            joins |= dict.fromkeys(self.previous.returns, scalar)
        return joins

    def result(self) -> Sample:
        """Return a sample of the result."""
        results = self.previous.results
        if not results:
            return None
        if any(result is UNKNOWN for result in results):
            return UNKNOWN
        try:
            return common_sample(results)
        except NoSample:
            return UNKNOWN

    # ---- variables ----

    def assign_name(self, node: ast.AST, name: str, sample: Sample) -> None:
        variable = self.ranges.names.get(id(node), name)
        if variable in self.declared:
            sample = sample_of(self.declared[variable])
        variables = self.current.variables
        if variable in variables and variables[variable] is not UNKNOWN:
            try:
                sample = common_sample([variables[variable], sample])
            except NoSample:
                sample = UNKNOWN
        elif variable in variables:
            sample = UNKNOWN
        variables[variable] = sample
        self.current.stores[id(node)] = variable

    def read(self, node: ast.Name) -> Sample:
        for scope in reversed(self.scopes):
            if node.id in scope:
                return scope[node.id]
        name = self.ranges.names.get(id(node))
        if name is None:
            raise NotTyped
        return self.read_variable(name)

    def read_variable(self, name: str) -> Sample:
        sources = (self.previous.variables, self.current.variables)
        for variables in sources:
            if name in variables:
                if variables[name] is UNKNOWN:
                    raise NoSample
                return variables[name]
        raise NotTyped

    def record_join(self, node: ast.AST, sample: Sample) -> Sample:
        scalar = number_type(sample)
        if scalar is not None and self.current.joins.setdefault(id(node), scalar) != scalar:
            self.mixed.add(id(node))
        return sample

    # ---- statements ----

    def block(self, body: Sequence[ast.stmt]) -> None:
        for node in body:
            self.statement(node)

    def evaluate(self, node: ast.expr | None) -> Sample:
        """Return the sample of an expression, UNKNOWN if it has none, or None if not typed."""
        if node is None:
            return None
        try:
            return self.expression(node)
        except NotTyped:
            return NotTyped
        except NoSample:
            return UNKNOWN

    def statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                sample = self.evaluate(value)
                for target in targets:
                    self.assign(target, sample)
            case ast.AnnAssign(target=ast.Name() as target, annotation=annotation, value=value):
                self.declare(target, annotation)
                if value is not None:
                    self.assign(target, self.evaluate(value))
            case ast.AugAssign(target=target, op=op, value=value):
                sample = self.evaluate(value)
                if isinstance(target, ast.Name):
                    self.assign(target, self.augmented(target, op, sample))
            case ast.If(test=test, body=body, orelse=orelse):
                self.branches(test, lambda: self.block(body), lambda: self.block(orelse))
            case ast.While(test=test, body=body, orelse=orelse):
                self.condition(test)
                self.block(body)
                self.block(orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.assign(target, self.item_of(iterable))
                self.block(body)
                self.block(orelse)
            case UnrolledLoop(iter=iterable, iterations=iterations, orelse=orelse):
                self.unrolled(iterable, iterations)
                self.block(orelse)
            case ast.Return(value=value) if value is not None:
                sample = self.evaluate(value)
                if sample is not NotTyped:
                    self.current.results.append(sample)
                    self.current.returns.append(id(node))
            case ast.Expr(value=value):
                self.evaluate(value)
            case ast.FunctionDef() | ast.Match():
                self.assign_unknown(node)
            case _:
                pass

    def assign_unknown(self, node: ast.stmt) -> None:
        """Make all variables unknown that a statement without samples assigns."""
        for inner in ast.walk(node):
            name = self.ranges.names.get(id(inner))
            is_read = isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)
            if name is not None and not is_read:
                self.current.variables[name] = UNKNOWN
            if isinstance(inner, ast.Return):
                self.current.results.append(UNKNOWN)

    def declare(self, target: ast.Name, annotation: ast.expr) -> None:
        named = self.rewriter.static_object(annotation)
        scalar = scalar_named(named) or _ANNOTATED.get(named)
        if scalar is not None:
            self.declared[self.ranges.names.get(id(target), target.id)] = scalar

    def augmented(self, target: ast.Name, op: ast.operator, right: Sample) -> Sample:
        if right is UNKNOWN or right is NotTyped:
            return right
        try:
            old = self.read_variable(self.ranges.names.get(id(target), target.id))
            return self.attempt(calls.binary_operation(BINARY_BY_NODE[type(op)]), old, right)
        except NotTyped:
            return NotTyped
        except NoSample:
            return UNKNOWN

    def condition(self, test: ast.expr) -> None:
        """Evaluate a condition, whose operands do not join."""
        match test:
            case ast.BoolOp(values=values):
                for value in values:
                    self.condition(value)
            case _:
                self.evaluate(test)

    def branches(
        self, test: ast.expr, then: Callable[[], Any], orelse: Callable[[], Any]
    ) -> list[Any]:
        """Run the arms that the condition allows; return their values."""
        truth = self.static_truth(test)
        if truth is None:
            self.condition(test)
            return [then(), orelse()]
        return [then() if truth else orelse()]

    def assign(self, target: ast.expr, sample: Sample) -> None:
        if sample is NotTyped:
            return
        match target:
            case ast.Name(id=name):
                self.assign_name(target, name, sample)
            case ast.Starred(value=inner):
                self.assign(inner, sample)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for inner, item in zip(targets, self.unpacked(targets, sample)):
                    self.assign(inner, item)
            case _:
                pass

    def unpacked(self, targets: list[ast.expr], sample: Sample) -> list[Sample]:
        if isinstance(sample, np.ndarray) and sample.ndim:
            return [elements.to_scalar(sample[0])] * len(targets)
        items: list[Sample] = [*sample] if isinstance(sample, tuple) else []
        if isinstance(sample, np.void):
            items = [*sample.item()]
        starred = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
        for i in starred:
            end = i + len(items) - len(targets) + 1
            items[i:end] = [tuple(items[i:end])]
        return items if len(items) == len(targets) else [UNKNOWN] * len(targets)

    def item_of(self, iterable: ast.expr) -> Sample:
        """Return a sample of the items of an iterable."""
        try:
            return self.item_sample(iterable)
        except NotTyped:
            return NotTyped
        except NoSample:
            return UNKNOWN

    def item_sample(self, iterable: ast.expr) -> Sample:
        if isinstance(iterable, ast.Call) and not iterable.keywords:
            function = self.rewriter.static_object(iterable.func)
            if function is builtins.range:
                return 1
            if function is builtins.enumerate:
                return 1, self.item_sample(iterable.args[0])
            if function is builtins.zip:
                return tuple(map(self.item_sample, iterable.args))
            if function is builtins.reversed:
                return self.item_sample(iterable.args[0])
        value = self.expression(iterable)
        if isinstance(value, np.flatiter) or (isinstance(value, np.ndarray) and value.ndim):
            return elements.to_scalar(value[0])
        raise NoSample

    def unrolled(self, iterable: ast.expr, iterations: list[UnrolledIteration]) -> None:
        items = self.evaluate(iterable)
        if not isinstance(items, tuple | zip | enumerate | range | list):
            items = [items if items is NotTyped else UNKNOWN] * len(iterations)
        for iteration, item in zip(iterations, items):
            self.assign(iteration.target, item)
            self.block(iteration.body)

    # ---- conditions that the compiler decides ----

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
                    is_known = sample is not NotTyped and sample is not UNKNOWN
                    return (sample is None) is isinstance(op, ast.Is) if is_known else None
                if any(value is NOT_STATIC for value in operands):
                    return None
                return bool(calls.comparison(type(op))(*operands))
            case _:
                value = self.static_value(node)
                sample = self.evaluate(node) if value is NOT_STATIC else None
                if isinstance(sample, tuple) and not isinstance(sample, Vector):
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

    # ---- expressions ----

    def expression(self, node: ast.expr) -> Sample:
        static = self.rewriter.static_object(node)
        if static is not NOT_STATIC:
            return self.attempt(calls.read, static)
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
            case ast.Subscript(value=owner, slice=index):
                return self.subscript(node, self.expression(owner), index)
            case ast.Call():
                return self.call(node)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                if any(isinstance(item, ast.Starred) for item in items):
                    raise NoSample
                return tuple(map(self.expression, items))
            case ast.NamedExpr(target=target, value=value):
                self.assign(target, self.expression(value))
                return self.read(target)
            case (
                ast.ListComp(elt=elt, generators=[generator])
                | ast.GeneratorExp(elt=elt, generators=[generator])
            ):
                return self.comprehension(elt, generator)
            case _:
                raise NoSample

    def attempt(self, function: Callable[..., Any], *samples: Sample, **keywords: Sample) -> Sample:
        """Return the result of a function of the reference interpreter on samples."""
        try:
            return function(*samples, **keywords)
        except (NoSample, NotTyped):
            raise
        except Exception as error:  # the function needs more than samples
            raise NoSample from error

    def binary(self, left: ast.expr, op: ast.operator, right: ast.expr) -> Sample:
        operation = calls.binary_operation(BINARY_BY_NODE[type(op)])
        exponent = self.rewriter.constants.fold(right)
        if isinstance(op, ast.Pow) and exponent is not None:
            return self.attempt(calls.power_of_constant, self.expression(left), exponent)
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

    def subscript(self, node: ast.Subscript, owner: Sample, index: ast.expr) -> Sample:
        if isinstance(owner, tuple) and not isinstance(owner, Vector):
            return self.tuple_item(node, owner, index)
        key = self.static_value(index)
        if isinstance(key, str) or isinstance(owner, np.void | Vector):
            return self.attempt(elements.load, owner, key, "")
        if not isinstance(owner, np.ndarray):
            raise NoSample
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        indices: list[Any] = []
        for part in parts:
            if isinstance(part, ast.Slice):
                indices.append(slice(None))
                continue
            value = self.expression(part)
            if value is ...:
                indices.append(value)
            elif isinstance(value, tuple):
                indices += [0] * len(value)
            else:
                indices.append(0)
        return self.attempt(elements.load, owner, tuple(indices), "")

    def tuple_item(self, node: ast.Subscript, items: Sample, index: ast.expr) -> Sample:
        position = self.rewriter.constants.fold(index)
        if position is not None:
            return self.attempt(lambda: items[position])
        if isinstance(index, ast.Slice | ast.Tuple):
            raise NoSample
        self.expression(index)
        return self.record_join(node, common_sample(items))

    def comprehension(self, elt: ast.expr, generator: ast.comprehension) -> Sample:
        items = self.evaluate(generator.iter)
        if isinstance(items, np.ndarray):
            items = [elements.to_scalar(items[0])]
        if not isinstance(items, tuple | zip | enumerate | range | list):
            raise NoSample
        target = generator.target
        if not isinstance(target, ast.Name):
            raise NoSample
        results: list[Sample] = []
        for item in items:
            self.scopes.append({target.id: item})
            try:
                for test in generator.ifs:
                    self.condition(test)
                results.append(self.expression(elt))
            finally:
                self.scopes.pop()
        return tuple(results)

    # ---- calls ----

    def call(self, node: ast.Call) -> Sample:
        target = self.rewriter.static_object(node.func)
        if power := self.rewriter.constants.power(node):
            return self.binary(power.left, power.op, power.right)
        if any(isinstance(a, ast.Starred) for a in node.args) or target is NOT_STATIC:
            raise NoSample
        if target in (allocation.shared_array, allocation.local_array):
            return self.allocated(node)
        arguments = [self.expression(a) for a in node.args]
        keywords = {str(k.arg): self.expression(k.value) for k in node.keywords}
        if target is print:  # the inference has no output
            return None
        intrinsic = bound_to(target)
        if intrinsic is not None and (intrinsic.synchronizes or intrinsic.effect is Effect.MEMORY):
            return self.effect_result(intrinsic, arguments, keywords)
        source = library.device_source(target)
        if source is not None:
            return self.device_result(source, arguments, keywords)
        items = arguments[0] if len(arguments) == 1 else arguments
        if target in (min, max) and all(isinstance(item, tuple) for item in items):
            return common_sample(items)  # their order would depend on the samples
        function = calls.operation(target, "")
        if function is None:
            raise NoSample
        return self.attempt(function, *arguments, **keywords)

    def allocated(self, node: ast.Call) -> Sample:
        if len(node.args) != 2:  # a keyword
            raise NoSample
        shape, scalar = node.args[0], scalar_named(self.expression(node.args[1]))
        if scalar is None:
            raise NoSample
        ndim = len(shape.elts) if isinstance(shape, ast.Tuple) else 1
        if ndim == 1 and isinstance(self.evaluate(shape), tuple):
            ndim = len(self.evaluate(shape))
        return np.ones((1,) * ndim, scalar.dtype.numpy)

    def effect_result(
        self, intrinsic: Intrinsic, arguments: list[Sample], keywords: dict[str, Sample]
    ) -> Sample:
        """Return the result of an operation on memory or on other threads, by its declaration."""
        values = dict(zip((name for name, _ in intrinsic.parameters), arguments)) | keywords
        match intrinsic.result:
            case "None":
                return None
            case "int":
                return 1
            case "bool":
                return True
            case "T" if not any(map(calls.is_data, values.values())):
                return sample_of(calls.common_type(self.numbers(intrinsic, values)))
            case "T":
                array = next((v for v in values.values() if isinstance(v, np.ndarray)), None)
                if array is not None:
                    return elements.to_scalar(array.ravel()[0])
                return sample_of(calls.common_type(self.numbers(intrinsic, values)))
            case result if result in FIXED:
                return sample_of(Scalar(FIXED[result]))
            case _:
                raise NoSample

    def numbers(self, intrinsic: Intrinsic, values: dict[str, Sample]) -> list[Sample]:
        numbers = [values[n] for n, kind in intrinsic.parameters if kind == "T" and n in values]
        if not numbers or any(scalar_of(n) in (None, WEAK_BOOL) for n in numbers):
            raise NoSample
        return numbers

    def device_result(
        self, source: Source, arguments: list[Sample], keywords: dict[str, Sample]
    ) -> Sample:
        """Return the result of a device function, inferred for these arguments."""
        has_signature = source.signature or source.external_code is not None
        if has_signature or source in self.active:
            raise NoSample
        names = [p.arg for p in parameters(source.tree.args)]
        if source.tree.args.vararg or source.tree.args.kwarg:
            raise NoSample
        defaults = _defaults(source)
        values = {**defaults, **dict(zip(names, arguments)), **keywords}
        if set(values) != set(names) or len(arguments) > len(names):
            raise NoSample
        samples = [values[name] for name in names]
        key = source, tuple(map(type_key, samples))
        if key not in self.known_results:
            run = _FunctionRun(source, self.active, self.known_results)
            run.to_fixed_point(samples)
            self.known_results[key] = run.result()
        if self.known_results[key] is UNKNOWN:
            raise NoSample
        return self.known_results[key]


def _defaults(source: Source) -> dict[str, Any]:
    function, arguments = source.python, source.tree.args
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    values = function.__defaults__ or ()
    defaults = dict(zip(positional[len(positional) - len(values) :], values))
    return defaults | (function.__kwdefaults__ or {})


def _reject_callee(*_: object) -> NoReturn:
    raise NoSample


def _is_false(_: object) -> bool:
    return False
