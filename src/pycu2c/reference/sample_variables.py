"""Samples of the variables of one function, and the types that its nodes get."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Scalar
from pycu2c.frontend.scope.live_ranges import live_ranges
from pycu2c.frontend.statements.unroll import LoopUnroller
from pycu2c.reference.samples import (
    UNKNOWN,
    NoSample,
    NotTyped,
    Sample,
    common_sample,
    sample_of,
    variable_type,
)
from pycu2c.reference.weak_floats import ArgumentKinds, function_maker


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
    stores: dict[int, str] = field(default_factory=dict)  # id of a name -> its variable
    joins: dict[int, ParameterType] = field(default_factory=dict)
    results: list[Sample] = field(default_factory=list)
    returns: list[int] = field(default_factory=list)
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
        self.mixed: set[int] = set()
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
        self.current.stores[id(node)] = variable

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
        if joined is not None and self.current.joins.setdefault(id(node), joined) != joined:
            self.mixed.add(id(node))
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
        local_types: dict[int, ParameterType] = {
            key: known for key, known in types.items() if known is not None
        }
        joins = dict(self.previous.joins)
        result = variable_type(self.result())
        if result is not None:
            joins |= dict.fromkeys(self.previous.returns, result)
        own = InferredTypes(self.source.tree, local_types, joins, frozenset(self.mixed))
        return merge_types([own, *self.previous.inner])


T = TypeVar("T", bound=ParameterType)


@dataclass(frozen=True, slots=True)
class InferredTypes:
    """The types of syntax nodes in one function.

    ``local_types``: the type of the variable that an ``ast.Name`` or ``ast.arg`` assigns.
    ``join_types``: the type of a node that joins several values: an ``ast.IfExp``, ``ast.BoolOp``,
    ``ast.Return`` or ``ast.Subscript``. ``mixed``: nodes without a single type, which keep the
    types of their values: items of a comprehension or several specializations give them different
    types. ``tree``: the function with unrolled loops over tuples, where each iteration has its own
    nodes.
    """

    tree: ast.FunctionDef
    local_types: Mapping[int, ParameterType] = field(default_factory=dict)
    join_types: Mapping[int, ParameterType] = field(default_factory=dict)
    mixed: frozenset[int] = frozenset()


def merge_types(types: Iterable[InferredTypes]) -> InferredTypes:
    """Merge types of one function; nodes with different types become mixed."""
    all_types = list(types)
    mixed = {key for t in all_types for key in t.mixed}
    local_types = _first_types([t.local_types for t in all_types], mixed)
    join_types = _first_types([t.join_types for t in all_types], mixed)
    return InferredTypes(all_types[0].tree, local_types, join_types, frozenset(mixed))


def _first_types(all_types: Iterable[Mapping[int, T]], mixed: set[int]) -> dict[int, T]:
    """Return the types that all agree on, and add the other nodes to ``mixed``."""
    first_types: dict[int, T] = {}
    pairs = (pair for types in all_types for pair in types.items())
    mixed |= {k for k, node_type in pairs if first_types.setdefault(k, node_type) != node_type}
    return {key: node_type for key, node_type in first_types.items() if key not in mixed}
