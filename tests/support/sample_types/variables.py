"""Samples of the variables of one function, and the types that its nodes get."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Scalar
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.statements.unroll import LoopUnroller
from support.ast_interpreter.weak_floats import ArgumentKinds, function_maker
from support.sample_types.inferred_types import InferredTypes, merge_types
from support.sample_types.samples import (
    UNKNOWN,
    NoSample,
    NotTyped,
    Sample,
    common_sample,
    sample_of,
    variable_type,
)


class UndeclaredRecursion(Exception):
    """Functions call themselves, so their annotations are signatures; inference starts again."""

    def __init__(self, functions: set[Source]) -> None:
        super().__init__(", ".join(sorted(source.name for source in functions)))
        self.functions = functions


FunctionKey: TypeAlias = "tuple[Source, object]"  # with the types of the arguments


@dataclass(slots=True, eq=False)
class Specializations:
    """The device functions that a kernel calls.

    ``recursive``: functions whose annotations are their signatures. ``active``: the results, so
    far, of the functions that are being inferred. ``keys``: the keys of the calls with arguments of
    the same kinds.
    """

    checked: bool = False  # whether ``assert`` is evaluated
    recursive: frozenset[Source] = frozenset()
    make_function: Callable[..., Any] = field(default_factory=function_maker)
    active: dict[FunctionKey, Sample] = field(default_factory=dict)
    results: dict[FunctionKey, Sample] = field(default_factory=dict)
    types: dict[FunctionKey, InferredTypes] = field(default_factory=dict)
    keys: dict[Source, dict[ArgumentKinds, dict[FunctionKey, None]]] = field(default_factory=dict)

    def forget_recursive_results(self) -> None:
        """Forget the results that follow from an earlier result of a function that calls itself."""
        self.results = {k: r for k, r in self.results.items() if k[0] not in self.recursive}


@dataclass(slots=True, eq=False)
class InferencePass:
    """What one pass over a function has assigned."""

    variables: dict[str, Sample] = field(default_factory=dict)
    stores: dict[ast.AST, str] = field(default_factory=dict)  # a name -> its variable
    joins: dict[ast.AST, ParameterType] = field(default_factory=dict)
    results: list[Sample] = field(default_factory=list)
    returns: list[ast.Return] = field(default_factory=list)
    reached: set[ast.stmt] = field(default_factory=set)
    inner: list[InferredTypes] = field(default_factory=list)  # of local functions


class VariableSamples:
    """The variables of a function during its inference; ``enclosing`` is that of a nested one."""

    def __init__(
        self,
        source: Source,
        specializations: Specializations,
        enclosing: VariableSamples | None = None,
    ) -> None:
        self.source, self.specializations, self.enclosing = source, specializations, enclosing
        self.ranges = live_ranges(source.tree)
        self.unroller = LoopUnroller()
        self.declared: dict[str, Scalar] = {}
        self.declared_result: Sample = UNKNOWN  # UNKNOWN if there is none
        self.mixed: set[ast.AST] = set()
        self.scopes: list[dict[str, Sample]] = []  # of comprehensions
        self.previous, self.current = InferencePass(), InferencePass()

    @contextmanager
    def inner_scope(self, names: Iterable[str]) -> Iterator[None]:
        """Enter the scope of a comprehension, which has these variables."""
        self.scopes.append(dict.fromkeys(names, UNKNOWN))
        try:
            yield
        finally:
            self.scopes.pop()

    def assign_name(self, node: ast.AST, name: str, sample: Sample) -> None:
        """Assign to a variable, which has the common type of its assignments."""
        if self.scopes and name in self.scopes[-1]:
            self.scopes[-1][name] = sample
            return
        variable = self.ranges.names.get(id(node), name)
        if variable in self.declared:
            sample = sample_of(self.declared[variable])
        variables = self.current.variables
        if variable in variables:
            try:
                sample = common_sample([variables[variable], sample])
            except NoSample:
                sample = UNKNOWN
        variables[variable] = sample
        self.current.stores[node] = variable

    def read(self, node: ast.Name) -> Sample:
        for scope in reversed(self.scopes):
            if node.id in scope:
                return scope[node.id]
        name = self.ranges.names.get(id(node))
        if name is not None:
            return self.read_variable(name)
        if self.enclosing is not None and node.id not in self.ranges.locals:
            return self.enclosing.read(node)
        raise NotTyped

    def read_variable(self, name: str) -> Sample:
        for variables in (self.previous.variables, self.current.variables):
            if name in variables:
                if variables[name] is UNKNOWN:
                    raise NoSample
                return variables[name]
        raise NotTyped

    def record_join(self, node: ast.AST, sample: Sample) -> Sample:
        """Record the type of a node that joins values; a comprehension may give it several."""
        joined = variable_type(sample)
        if joined is not None and self.current.joins.setdefault(node, joined) != joined:
            self.mixed.add(node)
        return sample

    def result(self) -> Sample:
        """Return a sample of the result, UNKNOWN if it has none."""
        if self.declared_result is not UNKNOWN:
            return self.declared_result
        try:
            results = self.previous.results
            return common_sample(results) if results else None
        except NoSample:
            return UNKNOWN

    def inferred_types(self) -> InferredTypes:
        """Return the types of the nodes of the function and of its nested functions."""
        variables = self.previous.variables
        types = {key: variable_type(variables[name]) for key, name in self.previous.stores.items()}
        local_types: dict[ast.AST, ParameterType] = {
            key: known for key, known in types.items() if known is not None
        }
        joins = {k: t for k, t in self.previous.joins.items() if k not in self.mixed}
        result = variable_type(self.result())
        if result is not None:
            joins |= dict.fromkeys(self.previous.returns, result)
        own = InferredTypes(self.source.tree, local_types, joins, frozenset(self.mixed))
        return merge_types([own, *self.previous.inner])
