"""The state of one pass over a function: names, types, emitted statements and diagnostics."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, TypeAlias

from pycu2c.base.diagnostics import CompileError, Diagnostic
from pycu2c.base.parameters import OverlapRule
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Source, Span
from pycu2c.base.types import WEAK_INT, ParameterType, Scalar, Signature, promote
from pycu2c.frontend.scope.live_ranges import LiveRanges, live_ranges
from pycu2c.frontend.statements.unroll import LoopUnroller
from pycu2c.frontend.value_checks import require_number
from pycu2c.frontend.values import LocalFunction, Value
from pycu2c.ir.nodes import Body, Const, ConstantArray, Expr, Return, Stmt, Var, View

ArgumentTypes: TypeAlias = tuple[ParameterType, ...]

# identifies an array and a view's layout in it, without computed numbers
ViewLayout: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What the front end builds.

    cluster: the number of blocks of a cluster along x, y and z; empty without clusters.
    checked: whether the launch raises the exceptions of the kernel.
    line_marks: whether the functions record the lines that they execute (``line_marks``).
    """

    cluster: tuple[int, ...] = ()
    checked: bool = False
    line_marks: bool = False


class DeviceFunctions(Protocol):
    """The device functions of a module, which are built on demand.

    ``made_functions``: what functions of Python have returned during compilation, by the calls.
    ``constant_parameters``: the parameters of functions that determine shapes of arrays.
    """

    options: BuildOptions
    made_functions: dict[object, object]
    constant_parameters: dict[Source, frozenset[str]]

    def signature(self, source: Source) -> Signature | None:
        """Return the types to which the arguments of calls are converted; None if it is generic."""

    def specialize(
        self, source: Source, types: ArgumentTypes, span: Span
    ) -> tuple[str, ParameterType]:
        """Return the name and the result type of a function for the argument types of a call."""

    def overlap_rules(self, source: Source, types: ArgumentTypes) -> Collection[OverlapRule]:
        """Return the overlap rules of a function that is built."""


Evaluate: TypeAlias = "Callable[[FunctionContext, ast.expr], Value]"
LowerBlock: TypeAlias = "Callable[[FunctionContext, list[ast.stmt]], Body]"


class UnknownType(Exception):
    """The type of an expression is not known yet, or an error in it was reported."""


@dataclass(frozen=True, slots=True)
class EmittedBlock:
    """A context in which statements are emitted to a new block, the last of ``blocks``."""

    blocks: list[list[Stmt]]

    def __enter__(self) -> list[Stmt]:
        self.blocks.append([])
        return self.blocks[-1]

    def __exit__(self, *_: object) -> None:
        self.blocks.pop()


@dataclass(slots=True)
class FunctionContext:
    """The state of one pass over one function; ``previous_types`` are those of the pass before."""

    source: Source
    ranges: LiveRanges
    previous_types: dict[str, Scalar]
    devices: DeviceFunctions
    evaluate: Evaluate  # these two callbacks avoid cyclic imports of the visitors
    lower_block: LowerBlock
    is_kernel: bool

    # ---- the state of this pass ----
    types: dict[str, Scalar] = field(default_factory=dict)
    origins: dict[str, Span] = field(default_factory=dict)  # the span that gave a variable its type
    bound_values: dict[str, Value] = field(default_factory=dict)  # arrays, tuples, functions
    # the targets of each enclosing comprehension
    comprehension_scopes: list[dict[str, Value]] = field(default_factory=list)
    returned_types: list[tuple[ParameterType, Span]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    blocks: list[list[Stmt]] = field(default_factory=lambda: [[]])
    constant_variables: dict[str, Const] = field(default_factory=dict)
    constant_tests: dict[ast.expr, bool] = field(default_factory=dict)  # of ``if`` statements
    thread_exits: list[Return] = field(default_factory=list)  # in a device function
    arrays_changed: bool = False  # whether this pass has added to ``arrays``
    types_changed: bool = False  # whether it has used a variable before its type was final
    untyped_reads: list[tuple[str, Span]] = field(default_factory=list)  # reads without a type yet
    conflicting_variables: set[str] = field(default_factory=set)  # those with a reported error
    # the variables that expressions are assigned to, which name arrays created there
    target_names: Mapping[ast.expr, str] = field(default_factory=dict)
    temporaries: set[str] = field(default_factory=set)  # variables with one assignment
    array_parameters: dict[str, int] = field(default_factory=dict)  # their positions
    overlap_rules: set[OverlapRule] = field(default_factory=set)
    # where a Python int is first assigned to each variable
    first_weak_int_assignments: dict[str, Span] = field(default_factory=dict)

    # ---- the state of all passes ----
    declared_result: ParameterType | None = None
    # local functions by the id of their nodes
    local_functions: dict[int, LocalFunction] = field(default_factory=dict)
    # by the id of a NumPy array, or by the content of a tuple
    constants: dict[object, ConstantArray] = field(default_factory=dict)
    declared_types: dict[str, Scalar] = field(default_factory=dict)  # from annotations
    unroller: LoopUnroller = field(default_factory=LoopUnroller)
    # the arrays that a name may refer to
    arrays: dict[str, dict[ViewLayout, Var | View]] = field(default_factory=dict)

    def next_pass(self) -> FunctionContext:
        """Return the context of the next pass, which starts with the types of this one."""
        return FunctionContext(
            self.source,
            self.ranges,
            self.types,
            self.devices,
            self.evaluate,
            self.lower_block,
            self.is_kernel,
            declared_result=self.declared_result,
            local_functions=self.local_functions,
            constants=self.constants,
            declared_types=self.declared_types,
            unroller=self.unroller,
            arrays=self.arrays,
        )

    def with_unrolled_loops(self) -> FunctionContext:
        """Return the context of the first pass after loops were unrolled."""
        source = replace(self.source, tree=self.unroller.unroll(self.source.tree))
        context = self.next_pass()
        context.source, context.ranges = source, live_ranges(source.tree)
        context.previous_types, context.declared_types, context.arrays = {}, {}, {}
        return context

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression: IR of a number, or a compile-time object."""
        return self.evaluate(self, node)

    def lower(self, nodes: list[ast.stmt]) -> Body:
        """Return the IR of a block of statements."""
        return self.lower_block(self, nodes)

    def number(self, node: ast.expr) -> Expr:
        """Return the IR of an expression that must be a number."""
        return require_number(self.value(node))

    def variable_name(self, node: ast.AST) -> str:
        """Return the variable that a node binds or reads; raise UnknownType in unreachable code."""
        name = self.ranges.names.get(id(node))
        if name is None:
            raise UnknownType
        return name

    def is_local(self, name: str) -> bool:
        """Return whether a name is bound in the function or in an enclosing comprehension."""
        return name in self.ranges.locals or any(name in s for s in self.comprehension_scopes)

    def emit(self, statement: Stmt) -> None:
        self.blocks[-1].append(statement)

    def emit_all(self, statements: Iterable[Stmt]) -> None:
        self.blocks[-1].extend(statements)

    def block(self) -> EmittedBlock:
        """Collect the statements emitted inside the ``with`` in a block of their own."""
        return EmittedBlock(self.blocks)

    @property
    def is_unconditional(self) -> bool:
        """Return whether the current point is outside all branches and loops."""
        return len(self.blocks) == 2  # an empty list, and the body of the function

    @contextmanager
    def collecting_errors(self) -> Iterator[None]:
        """Collect the diagnostics raised inside the ``with`` and continue after it."""
        try:
            yield
        except CompileError as error:
            self.problems += error.diagnostics
        except UnknownType:
            self.types_changed = True

    def fresh(self, prefix: str) -> str:
        """Return a new variable name, which cannot be a Python identifier."""
        name = f"{prefix}.t{len(self.temporaries) + 1}"
        self.temporaries.add(name)
        for previous in [n for n in self.arrays if n == name or n.startswith(f"{name}.")]:
            del self.arrays[previous]  # the previous pass used the name for other arrays
        return name

    def constant_name(self, name: str) -> str:
        """Return an unused name for a constant array that the program calls ``name``."""
        count = sum(c.var.name.split(".")[0] == name for c in self.constants.values())
        return f"{name}.const{count}" if count else f"{name}.const"

    def name_for(self, node: ast.expr, prefix: str) -> str:
        """Return the variable that ``node`` is assigned to, or a fresh name."""
        return self.target_names.get(node) or self.fresh(prefix)

    def join_type(self, name: str, value_type: Scalar, span: Span) -> Scalar:
        """Join a type into a variable's type; return the variable's type in this pass."""
        old_type = self.types.get(name)
        if name in self.declared_types:
            self.types[name] = self.declared_types[name]
            self.types_changed |= old_type not in (None, self.types[name])
            self.origins.setdefault(name, span)
            return self.declared_types[name]
        if value_type == WEAK_INT:
            self.first_weak_int_assignments.setdefault(name, span)
        self.types[name] = value_type if old_type is None else promote(old_type, value_type)
        if old_type != self.types[name]:
            self.types_changed |= old_type is not None
            self.origins[name] = span
        return self.previous_types.get(name, self.types[name])

    def variable(self, name: str, span: Span) -> Var:
        """Return a read of a scalar variable."""
        variable_type = self.previous_types.get(name) or self.types.get(name)
        if variable_type is None:
            self.untyped_reads.append((name, span))
            raise UnknownType
        return Var(name, variable_type, span)


def is_temporary_name(name: str) -> bool:
    """Return whether a variable was created by ``FunctionContext.fresh``."""
    return ".t" in name
