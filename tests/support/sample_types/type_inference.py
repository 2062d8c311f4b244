"""Types of the oracle's variables and joins, inferred without the compiler.

The inference runs a function once on *samples*: numbers of the types of its arguments, arrays with
one element. Operators and intrinsics compute samples of their results, so NumPy's own promotion
gives the types. Both arms of a branch run, and the run repeats until the types of all variables
settle. The law of ``docs/reference/semantics.md`` is written here a second time: a variable has the
common type of its assignments, and a conditional expression that of its arms.

It shares with the compiler only what is not typing: live ranges, and the copies of the bodies of
loops over tuples. A value without a sample keeps its own type.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

import numpy as np

from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, ParameterType
from pycu2c.frontend.scope.bindings import bound_name, parameters
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.statements.unroll import UnrolledLoop
from pycu2c.ops.names.dtype_names import scalar_named
from pycu2c.ops.operators import BINARY_BY_NODE
from support.ast_interpreter import elements as elements
from support.ast_interpreter import operators as operators
from support.ast_interpreter.weak_floats import ReferenceTypes
from support.sample_types.calls import CallSamples
from support.sample_types.inferred_types import InferredTypes, merge_types
from support.sample_types.patterns import matches
from support.sample_types.samples import (
    UNKNOWN,
    NestedFunction,
    NoSample,
    NotTyped,
    Sample,
    sample_of,
    sample_thread,
    type_key,
    types_of,
)
from support.sample_types.variables import (
    FunctionKey,
    InferencePass,
    Specializations,
    UndeclaredRecursion,
)

_MAX_PASSES = 50
_ANNOTATED = {int: WEAK_INT, float: WEAK_FLOAT, bool: WEAK_BOOL}


def inferred_from(
    source: Source, types: Sequence[ParameterType], is_single: bool = False, checked: bool = False
) -> ReferenceTypes:
    """Return the types of a kernel and of the device functions that it calls.

    ``is_single``: Python floats are float32. ``checked``: ``assert`` is evaluated.
    """
    own, found = infer(source, types, checked)
    variants = {
        function: {
            kinds: replace(
                _reference_types([found.types[k] for k in keys if k in found.types], is_single),
                make_function=found.make_function,
            )
            for kinds, keys in group.items()
            if any(key in found.types for key in keys)
        }
        for function, group in found.keys.items()
    }
    kernel = _reference_types([own], is_single)
    return replace(kernel, variants=variants, make_function=found.make_function)


def _reference_types(types: Sequence[InferredTypes], is_single: bool) -> ReferenceTypes:
    merged = merge_types(types)
    return ReferenceTypes(merged.local_types, merged.join_types, is_single, tree=merged.tree)


def infer(
    source: Source, types: Sequence[ParameterType], checked: bool = False
) -> tuple[InferredTypes, Specializations]:
    """Return the types of a kernel, and its calls of device functions."""
    recursive: frozenset[Source] = frozenset()
    while True:
        found = Specializations(checked, recursive)
        run = _FunctionRun(source, found)
        try:
            with sample_thread():
                run.to_fixed_point([sample_of(parameter_type) for parameter_type in types])
        except UndeclaredRecursion as recursion:
            if recursion.functions <= recursive:
                raise  # it would start again for ever
            recursive |= recursion.functions
            continue
        return run.inferred_types(), found


class _FunctionRun(CallSamples):
    """The inference of one function for one combination of argument types."""

    def to_fixed_point(self, samples: Sequence[Sample], key: FunctionKey | None = None) -> None:
        """Run the function until its types settle; ``key``: its result is that of recursion."""
        for _ in range(_MAX_PASSES):
            self.current = InferencePass()
            for node, sample in zip(parameters(self.source.tree.args), samples, strict=True):
                self.assign_name(node, node.arg, sample)
            self.block(self.source.tree.body)
            before, self.previous = self.previous, self.current
            if self.unroller.pending:
                self.unroll_loops()
                continue
            if types_of(before.variables) == types_of(self.previous.variables) and (
                key is None or type_key(self.specializations.active[key]) == type_key(self.result())
            ):
                return
            if key is not None:
                self.specializations.active[key] = self.result()
                self.specializations.forget_recursive_results()
        self.previous = InferencePass()

    def unroll_loops(self) -> None:
        """Copy the bodies of loops over tuples, whose iterations have their own variables."""
        self.source = replace(self.source, tree=self.unroller.unroll(self.source.tree))
        self.ranges, self.previous, self.declared = (
            live_ranges(self.source.tree),
            InferencePass(),
            {},
        )

    # ---- functions ----

    def run_nested(self, function: NestedFunction, samples: list[Sample]) -> Sample:
        assert isinstance(function.enclosing, _FunctionRun)
        enclosing = function.enclosing
        run = _FunctionRun(enclosing.nested_source(function), self.specializations, enclosing)
        run.to_fixed_point(samples)
        enclosing.current.inner.append(run.inferred_types())
        result = run.result()
        if result is UNKNOWN:
            raise NoSample
        return result

    def run_device(
        self, key: FunctionKey, samples: list[Sample], result: ParameterType | None
    ) -> Sample:
        found = self.specializations
        run = _FunctionRun(key[0], found)
        if result is not None:
            run.declared_result = sample_of(result)
        found.active[key] = UNKNOWN
        run.to_fixed_point(samples, key)
        del found.active[key]
        found.types[key] = run.inferred_types()
        return run.result()

    # ---- statements ----

    def block(self, body: Sequence[ast.stmt]) -> bool:
        """Run the statements up to one that none follows; return whether there is one."""
        for node in body:
            try:
                if self.statement(node):
                    return True
            except NotTyped:  # a variable that it reads gets its type in a later pass
                continue
        return False

    def statement(self, node: ast.stmt) -> bool:
        """Run a statement, and return whether no statement follows it."""
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
                self.assign(target, self.augmented(target, op, value))
            case ast.If(test=test, body=body, orelse=orelse):
                return all(
                    self.branches(test, lambda: self.block(body), lambda: self.block(orelse))
                )
            case ast.While(test=test, body=body, orelse=orelse):
                self.condition(test)
                self.block(body)
                self.block(orelse)
            case ast.For() | UnrolledLoop():
                if self.loop(node):  # an iteration ends it
                    return not self.reaches(node, ast.Break)
                self.block(node.orelse)
            case ast.Match(subject=subject, cases=cases):
                return self.match(self.evaluate(subject), cases)
            case ast.FunctionDef(name=name, args=arguments, body=body):
                self.assign_name(node, name, self.local_function(node, name, arguments, body))
            case ast.Return(value=value) if value is not None:
                self.current.results.append(self.evaluate(value))
                self.current.returns.append(node)
            case ast.Expr(value=value):
                self.evaluate(value)
            case ast.Assert(test=test, msg=message) if self.specializations.checked:
                self.condition(test)
                self.evaluate(message)
            case ast.Raise(exc=ast.Call(args=arguments)) if self.specializations.checked:
                for argument in arguments:
                    self.evaluate(argument)
            case _:
                pass
        self.current.reached.add(node)
        return isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise)

    def reaches(self, node: ast.AST, kind: type[ast.stmt]) -> bool:
        """Return whether a statement of a kind inside of a node has been run."""
        return any(isinstance(n, kind) and n in self.current.reached for n in ast.walk(node))

    def declare(self, target: ast.Name, annotation: ast.expr) -> None:
        named = self.rewriter.static_object(annotation)
        scalar = scalar_named(named) or _ANNOTATED.get(named)
        if scalar is not None:
            self.declared[self.ranges.names.get(id(target), target.id)] = scalar

    def augmented(self, target: ast.expr, op: ast.operator, value: ast.expr) -> Sample:
        right = self.evaluate(value)
        if not isinstance(target, ast.Name):
            return right
        try:
            old = self.read_variable(self.ranges.names.get(id(target), target.id))
            return self.attempt(operators.binary_operation(BINARY_BY_NODE[type(op)]), old, right)
        except NoSample:
            return UNKNOWN

    def loop(self, node: ast.For | UnrolledLoop) -> bool:
        """Run the iterations, and return whether one of them always ends an unrolled loop."""
        try:
            items, count = self.iterable(node.iter)
        except NoSample:
            items, count = [UNKNOWN], None
        if isinstance(node, UnrolledLoop):
            items = items if count else items * len(node.iterations)
            for iteration, item in zip(node.iterations, items):
                self.assign(iteration.target, item)
                if self.block(iteration.body) and not self.reaches(iteration, ast.Continue):
                    return True
        elif count is not None:
            self.unroller.pending[node] = count
        else:
            self.assign(node.target, items[0])
            self.block(node.body)
        return False

    def match(self, subject: Sample, cases: Sequence[ast.match_case]) -> bool:
        all_end = True
        for case in cases:
            captures: list[tuple[ast.AST, Sample]] = []
            truth = matches(self.static_value, case.pattern, subject, captures)
            if truth is False:
                continue
            for node, sample in captures:
                self.assign_name(node, bound_name(node) or "", sample)
            if case.guard is None:
                all_end &= self.block(case.body)
                if truth:
                    return all_end
            else:
                body = partial(self.block, case.body)
                all_end &= all(self.branches(case.guard, body, lambda: True))
        return False

    # ---- targets ----

    def assign(self, target: ast.expr, sample: Sample) -> None:
        match target:
            case ast.Name(id=name):
                self.assign_name(target, name, sample)
            case ast.Starred(value=inner):
                self.assign(inner, sample)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for inner, item in zip(targets, _unpacked(targets, sample)):
                    self.assign(inner, item)
            case ast.Subscript(value=owner, slice=index):
                self.evaluate(owner)
                self.indices(index)
            case _:
                pass


def _unpacked(targets: list[ast.expr], sample: Sample) -> list[Sample]:
    """Return one sample for each target; a starred target takes the remaining items."""
    if isinstance(sample, np.ndarray) and sample.ndim:
        return [elements.to_scalar(sample[0])] * len(targets)
    items: list[Sample] = [*sample] if isinstance(sample, tuple) else []
    if isinstance(sample, np.void):
        items = [elements.to_scalar(sample[name]) for name in sample.dtype.names or ()]
    starred = [i for i, t in enumerate(targets) if isinstance(t, ast.Starred)]
    for i in starred:
        end = i + len(items) - len(targets) + 1
        items[i:end] = [tuple(items[i:end])]
    return items if len(items) == len(targets) else [UNKNOWN] * len(targets)
