"""The state of one pass over a function: names, types, emitted statements and diagnostics."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeAlias, TypeGuard

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label, fail
from pycu2c.base.records import Protocol, dataclass, field, replace
from pycu2c.base.source import LAMBDA_NAME, Source, Span
from pycu2c.base.types import Array, ParameterType, Scalar, Signature, promote
from pycu2c.frontend import hints
from pycu2c.frontend.scope.live_ranges import LiveRanges, live_ranges
from pycu2c.frontend.statements.unroll import LoopUnroller
from pycu2c.ir.nodes import Const, ConstantArray, Expr, Return, Stmt, Var, View
from pycu2c.ops.intrinsics.threads import coalesced_groups


@dataclass(frozen=True, slots=True, eq=False)
class StaticObject:
    """A Python object that is a compile-time constant: a function, a dtype, a module."""

    value: object
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TupleValue:
    """A tuple of values, at compile time only; ``names`` are the fields of a named tuple."""

    items: tuple[Value, ...]
    span: Span
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A function defined inside another one.

    ``source`` receives the variables that it reads there, ``captured``, as parameters after its
    own, ``arguments``.
    """

    source: Source
    arguments: ast.arguments
    captured: tuple[ast.Name, ...]

    @property
    def __name__(self) -> str:
        """Return the name that errors show."""
        return "lambda" if self.source.name == LAMBDA_NAME else self.source.name


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A local function as a value: with its default arguments and its captured variables.

    While ``is_open``, in the enclosing function, the variables are read at each use.
    """

    function: LocalFunction
    defaults: TupleValue
    variables: TupleValue
    span: Span
    is_open: bool = False

    @property
    def operands(self) -> TupleValue:
        """Return the values of which the closure consists."""
        return TupleValue((self.defaults, self.variables), self.span)


@dataclass(frozen=True, slots=True, eq=False)
class ArraySelect:
    """One of ``arrays``, which have one dtype and rank; ``selector`` is its index."""

    selector: Expr
    arrays: tuple[Var | View, ...]
    span: Span

    @property
    def type(self) -> Array:
        found = self.arrays[0].type
        assert isinstance(found, Array)
        return found

    @property
    def operands(self) -> TupleValue:
        """Return the values of which the selection consists."""
        return TupleValue((self.selector, *self.arrays), self.span)


Value: TypeAlias = Expr | StaticObject | TupleValue | Closure | ArraySelect
ArgumentTypes: TypeAlias = tuple[ParameterType, ...]

# identifies an array and a view's layout in it, without computed numbers
ViewLayout: TypeAlias = tuple[object, ...]


class DeviceFunctions(Protocol):
    """The device functions of a module, which are built on demand.

    ``cluster``: the number of blocks of a cluster along x, y and z; empty without clusters.
    ``checked``: whether the launch raises the exceptions of the kernel.
    """

    cluster: tuple[int, ...]
    checked: bool

    def signature(self, source: Source) -> Signature | None:
        """Return the types to which the arguments of calls are converted; None if it is generic."""

    def specialize(
        self, source: Source, types: ArgumentTypes, span: Span
    ) -> tuple[str, ParameterType]:
        """Return the name and the result type of a function for the argument types of a call."""


Evaluate: TypeAlias = "Callable[[FunctionContext, ast.expr], Value]"


class UnknownType(Exception):
    """The type of an expression is not known yet, or an error in it was reported."""


@dataclass(slots=True)
class FunctionContext:
    """The state of one pass over one function; ``previous_types`` are those of the pass before."""

    source: Source
    ranges: LiveRanges
    previous_types: dict[str, Scalar]
    devices: DeviceFunctions
    evaluate: Evaluate  # breaks the import cycle between kinds of expressions
    is_kernel: bool
    types: dict[str, Scalar] = field(default_factory=dict)
    origins: dict[str, Span] = field(default_factory=dict)  # the span that gave a variable its type
    bound: dict[str, Value] = field(default_factory=dict)  # arrays, tuples, functions
    comprehension_scopes: list[dict[str, Value]] = field(
        default_factory=list
    )  # the targets of each
    result: ParameterType | None = None  # the declared one
    results: list[tuple[ParameterType, Span]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    blocks: list[list[Stmt]] = field(default_factory=lambda: [[]])
    store_types: dict[int, str] = field(default_factory=dict)  # id(ast.Name) -> variable
    nodes_without_variable: list[int] = field(default_factory=list)  # id(ast.Name)
    join_types: dict[int, Scalar] = field(default_factory=dict)  # id(ast.IfExp) -> type
    mixed_joins: list[int] = field(default_factory=list)  # those with more than one type
    returns: list[int] = field(default_factory=list)  # id(ast.Return), with a value
    # local functions by the id of their nodes, shared by all passes
    local_functions: dict[int, LocalFunction] = field(default_factory=dict)
    # by the id of a NumPy array, or by the content of a tuple
    constants: dict[object, ConstantArray] = field(default_factory=dict)
    constant_variables: dict[str, Const] = field(
        default_factory=dict
    )  # variables with one constant value
    declared: dict[str, Scalar] = field(default_factory=dict)  # by annotations, in all passes
    unroller: LoopUnroller = field(
        default_factory=LoopUnroller
    )  # copies the bodies of unrolled loops
    thread_exits: list[Return] = field(default_factory=list)  # in a device function
    # the arrays that a name may refer to, in all passes; whether this pass found more
    arrays: dict[str, dict[ViewLayout, Var | View]] = field(default_factory=dict)
    arrays_changed: bool = False
    untyped_reads: list[tuple[str, Span]] = field(default_factory=list)  # reads without a type yet
    conflicting: set[str] = field(default_factory=set)  # variables with a reported error
    # an expression and the variable that it is assigned to, which names an array created there
    target: tuple[ast.expr, str] | None = None
    temporaries: set[str] = field(default_factory=set)  # variables with one assignment

    def next_pass(self) -> FunctionContext:
        """Return the context of the next pass, which starts with the types of this one."""
        return FunctionContext(
            self.source,
            self.ranges,
            self.types,
            self.devices,
            self.evaluate,
            self.is_kernel,
            local_functions=self.local_functions,
            constants=self.constants,
            declared=self.declared,
            unroller=self.unroller,
            result=self.result,
            arrays=self.arrays,
        )

    def unrolled(self) -> FunctionContext:
        """Return the context of the first pass after loops were unrolled."""
        tree = self.unroller.unroll(self.source.tree)
        return FunctionContext(
            replace(self.source, tree=tree),
            live_ranges(tree),
            {},
            self.devices,
            self.evaluate,
            self.is_kernel,
            local_functions=self.local_functions,
            constants=self.constants,
            unroller=self.unroller,
            result=self.result,
        )

    def span(self, node: ast.AST) -> Span:
        return self.source.span(node)

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression: IR of a number, or a compile-time object."""
        return self.evaluate(self, node)

    def number(self, node: ast.expr) -> Expr:
        """Return the IR of an expression that must be a number."""
        return require_number(self.value(node))

    def record_store(self, node: ast.AST, name: str) -> None:
        """Record which scalar variable an ``ast.Name`` or a name in a pattern assigns."""
        if name in self.types:
            self.store_types[id(node)] = name
        else:
            self.nodes_without_variable.append(id(node))

    def record_join(self, node: ast.AST, kind: Scalar) -> None:
        """Record the common type of an ``ast.IfExp``, an ``ast.BoolOp`` or a tuple item.

        A comprehension evaluates the node for each item, so types can differ.
        """
        if self.join_types.setdefault(id(node), kind) != kind:
            self.mixed_joins.append(id(node))

    def emit(self, statement: Stmt) -> None:
        self.blocks[-1].append(statement)

    def emit_all(self, statements: Iterable[Stmt]) -> None:
        self.blocks[-1].extend(statements)

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Collect the statements emitted inside the ``with`` in a block of their own."""
        self.blocks.append([])
        try:
            yield self.blocks[-1]
        finally:
            self.blocks.pop()

    @property
    def is_unconditional(self) -> bool:
        """Return whether the current point is outside all branches and loops."""
        return len(self.blocks) == 2

    @contextmanager
    def collecting_errors(self) -> Iterator[None]:
        """Collect the diagnostics raised inside the ``with`` and continue after it."""
        try:
            yield
        except CompileError as error:
            self.problems += error.diagnostics
        except UnknownType:
            pass

    def fresh(self, hint: str) -> str:
        """Return a new variable name that is no Python identifier."""
        name = f"{hint}.t{len(self.temporaries) + 1}"
        self.temporaries.add(name)
        for known in [n for n in self.arrays if n == name or n.startswith(f"{name}.")]:
            del self.arrays[known]  # of a temporary of the previous pass
        return name

    def constant_name(self, name: str) -> str:
        """Return an unused name for a constant array that the program calls ``name``."""
        number = sum(c.var.name.split(".")[0] == name for c in self.constants.values())
        return f"{name}.const{number}" if number else f"{name}.const"

    def name_for(self, node: ast.expr, otherwise: str) -> str:
        """Return the variable that ``node`` is assigned to, or a fresh name."""
        if self.target is not None and self.target[0] is node:
            return self.target[1]
        return self.fresh(otherwise)

    def assigned(self, name: str, value_type: Scalar, span: Span) -> Scalar:
        """Join a type into a variable's type; return the variable's type in this pass."""
        known = self.types.get(name)
        if name in self.declared:
            self.types[name] = self.declared[name]
            self.origins.setdefault(name, span)
            return self.declared[name]
        self.types[name] = value_type if known is None else promote(known, value_type)
        if known != self.types[name]:
            self.origins[name] = span
        return self.previous_types.get(name, self.types[name])

    def variable(self, name: str, span: Span) -> Var:
        """Return a read of a scalar variable."""
        known = self.previous_types.get(name) or self.types.get(name)
        if known is None:
            self.untyped_reads.append((name, span))
            raise UnknownType
        return Var(name, known, span)


def is_temporary_name(name: str) -> bool:
    """Return whether a variable was created by ``FunctionContext.fresh``."""
    return ".t" in name


def describe(value: Value) -> str:
    """Return the description of a value in errors."""
    match value:
        case StaticObject():
            return hints.describe_object(value.value)
        case TupleValue() if value.names == coalesced_groups.Coalesced._fields:
            return "a group of threads"
        case TupleValue():
            return f"a tuple of {len(value.items)}"
        case Closure():
            return f"the function `{value.function.__name__}`"
        case _:
            return f"`{value.type}`"


def is_number(value: Value) -> TypeGuard[Expr]:
    return isinstance(getattr(value, "type", None), Scalar)


def is_array(value: Value) -> TypeGuard[Var | View]:
    """Return whether a value is one known array."""
    return isinstance(value, (Var, View)) and isinstance(value.type, Array)


def is_vector(value: Value) -> bool:
    """Return whether a value is a vector."""
    if isinstance(value, (StaticObject, TupleValue, Closure)) or not isinstance(value.type, Scalar):
        return False
    return value.type.dtype.is_vector


def vector_variable(context: FunctionContext, target: ast.Subscript | ast.Attribute) -> Var | None:
    """Return the vector variable ``v`` of a target ``v.x``, or None."""
    owner = target.value
    if not isinstance(owner, ast.Name) or id(owner) not in context.ranges.names:
        return None
    value = context.value(owner)
    return value if isinstance(value, Var) and is_vector(value) else None


_READING = {"texture": "tex{}D(t, …)", "surface": "surf{}Dread(s, …)"}


def require_number(value: Value, what: str = "this") -> Expr:
    """Return the value as an expression of a number, or report an error."""
    e = require_value(value, what)
    assert isinstance(e.type, Scalar)
    handle = e.type.dtype.handle
    if handle is not None:
        fail(
            "type-needed",
            Label(value.span, f"{what} is a {handle.access} `{e.type}`, not a number"),
            hint="read it: cuda." + _READING[handle.access].format(handle.axes),
        )
    if e.type.dtype.is_vector:
        fail(
            "type-needed",
            Label(value.span, f"{what} is a vector `{e.type}`"),
            hint="vectors have no operators: write it for each component, "
            f"{e.type}(v.x + w.x, …), or take one, v.x",
        )
    return e


def require_value(value: Value, what: str = "this") -> Expr:
    """Return the value as an expression that a variable can hold: a number or vector."""
    if isinstance(value, (StaticObject, Closure)):
        hint = (
            hints.instead_of_object(value.value)
            if isinstance(value, StaticObject)
            else "call it: f(…)"
        )
        fail(
            "type-needed",
            Label(value.span, f"{what} is {describe(value)}, not a number"),
            hint=hint,
        )
    if isinstance(value, TupleValue):
        fail(
            "type-needed",
            Label(value.span, f"{what} is {describe(value)}"),
            hint="take one of its items: t[0]",
        )
    if isinstance(value.type, Array) and not value.type.ndim:
        fail(
            "type-needed",
            Label(value.span, f"{what} is a record `{value.type}`"),
            hint=hints.single_field_hint(value),
        )
    if isinstance(value, ArraySelect) or isinstance(value.type, Array):
        fail(
            "type-needed",
            Label(value.span, f"{what} is an array `{value.type}`"),
            hint=f"index it: a kernel works on one element at a time, {_one_element(value)}",
        )
    if not isinstance(value.type, Scalar):
        report_no_value(value.span)
    return value


def _one_element(value: Expr | ArraySelect) -> str:
    """Return ``a[i]`` with an index for each axis of the array."""
    whole = value.array if isinstance(value, View) else value
    name = whole.name if isinstance(whole, Var) else "a"
    axes = whole.type.ndim if isinstance(whole.type, Array) else 1
    counts = f"; {name} has {axes} axes" if axes > 1 else ""
    letters = ("i", "j", "k", "l") if axes <= 4 else ("i", "…")
    return f"{name}[{', '.join(letters[:axes])}]{counts}"


def report_no_value(span: Span) -> NoReturn:
    """Report that a call without a result is used as a value."""
    fail(
        "type-needed",
        Label(span, "this call returns nothing"),
        hint="end the function with `return …`; a call without a result is a statement",
    )
