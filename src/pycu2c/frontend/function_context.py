"""What is known of the function being built: names, types so far, what went wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn, TypeAlias, TypeGuard

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label, fail
from pycu2c.base.records import Protocol, dataclass, field, replace
from pycu2c.base.source import LAMBDA_NAME, Source, Span
from pycu2c.base.types import Array, ParameterType, Scalar, Signature, promote
from pycu2c.frontend.hints import records, replacements
from pycu2c.frontend.scope.live_ranges import LiveRanges, live_ranges
from pycu2c.frontend.statements.unroll import LoopUnroller
from pycu2c.ir.nodes import Const, ConstantArray, Expr, Return, Stmt, Var, View
from pycu2c.ops.intrinsics.threads import coalesced_groups


@dataclass(frozen=True, slots=True, eq=False)
class StaticObject:
    """A Python object known when the kernel is compiled: a function, a dtype, a module."""

    value: object
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class TupleValue:
    """A tuple; it exists only while compiling, its items are values of their own. ``names``
    are those of a named tuple's fields."""

    items: tuple[Value, ...]
    span: Span
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A function defined inside of another. ``source`` takes what it reads from there,
    ``captured``, as parameters after its own, ``arguments``."""

    source: Source
    arguments: ast.arguments
    captured: tuple[ast.Name, ...]

    @property
    def __name__(self) -> str:
        """What errors call it."""
        return "lambda" if self.source.name == LAMBDA_NAME else self.source.name


@dataclass(frozen=True, slots=True, eq=False)
class Closure:
    """A local function as a value: with its parameters' defaults, and the variables that it
    reads as they are now. In the function that defines it these are read where it is used, and
    what its name stands for ``is_open``."""

    function: LocalFunction
    defaults: TupleValue
    variables: TupleValue
    span: Span
    is_open: bool = False

    @property
    def operands(self) -> TupleValue:
        """The values that go where the function goes."""
        return TupleValue((self.defaults, self.variables), self.span)


@dataclass(frozen=True, slots=True, eq=False)
class ArraySelect:
    """One of several arrays, of one dtype and rank: ``selector`` is its number in ``arrays``."""

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
        """The values that go where the array goes."""
        return TupleValue((self.selector, *self.arrays), self.span)


Value: TypeAlias = Expr | StaticObject | TupleValue | Closure | ArraySelect
ArgumentTypes: TypeAlias = tuple[ParameterType, ...]

# an array and how a view lies in it, apart from numbers that are computed
ViewLayout: TypeAlias = tuple[object, ...]


class DeviceFunctions(Protocol):
    """The device functions of a module, built as they are called. ``cluster``: how many blocks the
    kernel's clusters have along x, y and z; empty if it has none. ``checked``: whether the launch
    raises what the kernel does."""

    cluster: tuple[int, ...]
    checked: bool

    def signature(self, source: Source) -> Signature | None:
        """The types to which a call's arguments are brought; None if it takes any."""

    def specialize(
        self, source: Source, types: ArgumentTypes, span: Span
    ) -> tuple[str, ParameterType]:
        """The name of a function for the types of a call, and the type of what it returns."""


Evaluate: TypeAlias = "Callable[[FunctionContext, ast.expr], Value]"


class UnknownType(Exception):
    """An expression depends on one that was already reported, or whose type is not yet known."""


@dataclass(slots=True)
class FunctionContext:
    """One walk over one function. ``previous_types`` holds the types that the walk before found."""

    source: Source
    ranges: LiveRanges
    previous_types: dict[str, Scalar]
    devices: DeviceFunctions
    evaluate: Evaluate  # expressions contain each other; this ties the knot
    is_kernel: bool
    types: dict[str, Scalar] = field(default_factory=dict)
    origins: dict[str, Span] = field(default_factory=dict)  # where a variable got its type
    bound: dict[str, Value] = field(default_factory=dict)  # arrays, tuples, functions
    comprehension_scopes: list[dict[str, Value]] = field(default_factory=list)  # of comprehensions
    result: ParameterType | None = None  # that a signature says
    results: list[tuple[ParameterType, Span]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    blocks: list[list[Stmt]] = field(default_factory=lambda: [[]])
    store_types: dict[int, str] = field(default_factory=dict)  # id(ast.Name) -> variable
    nodes_without_variable: list[int] = field(
        default_factory=list
    )  # id(ast.Name) of those without a variable
    join_types: dict[int, Scalar] = field(default_factory=dict)  # id(ast.IfExp) -> its type
    mixed_joins: list[int] = field(default_factory=list)  # of those that have several
    returns: list[int] = field(default_factory=list)  # id(ast.Return) of those with a value
    # local functions by their nodes, the same in every walk
    local_functions: dict[int, LocalFunction] = field(default_factory=dict)
    # by the id of numpy's array, or by what a tuple holds
    constants: dict[object, ConstantArray] = field(default_factory=dict)
    constant_variables: dict[str, Const] = field(
        default_factory=dict
    )  # variables that only have one number
    declared: dict[str, Scalar] = field(default_factory=dict)  # by an annotation, in any walk
    unroller: LoopUnroller = field(
        default_factory=LoopUnroller
    )  # of the bodies of loops written out
    thread_exits: list[Return] = field(default_factory=list)  # in a function: those of raises
    # the arrays that a name may stand for, found in any walk, and whether this one found more
    arrays: dict[str, dict[ViewLayout, Var | View]] = field(default_factory=dict)
    arrays_changed: bool = False
    untyped_reads: list[tuple[str, Span]] = field(
        default_factory=list
    )  # reads that have no type yet
    conflicting: set[str] = field(default_factory=set)  # variables that an error was found for
    # an expression, and the variable that it is assigned to: an array made there gets its name
    target: tuple[ast.expr, str] | None = None
    temporaries: set[str] = field(default_factory=set)  # variables with one assignment each

    def next_pass(self) -> FunctionContext:
        """For the next walk, which knows the types that this one has found."""
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
        """For the walk after loops were found that are to be written out."""
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
        """What an expression is: a number's IR, or something known while compiling."""
        return self.evaluate(self, node)

    def number(self, node: ast.expr) -> Expr:
        """An expression that must be a number."""
        return require_number(self.value(node))

    def record_store(self, node: ast.AST, name: str) -> None:
        """Note what an ``ast.Name``, or a name in a pattern, has set: a number's variable, or
        something that has none."""
        if name in self.types:
            self.store_types[id(node)] = name
        else:
            self.nodes_without_variable.append(id(node))

    def record_join(self, node: ast.AST, kind: Scalar) -> None:
        """Note the type of an ``ast.IfExp`` or ``ast.BoolOp``, or of an item of a tuple; a
        comprehension may come to it for several items."""
        if self.join_types.setdefault(id(node), kind) != kind:
            self.mixed_joins.append(id(node))

    def emit(self, statement: Stmt) -> None:
        self.blocks[-1].append(statement)

    def emit_all(self, statements: Iterable[Stmt]) -> None:
        self.blocks[-1].extend(statements)

    @contextmanager
    def block(self) -> Iterator[list[Stmt]]:
        """Statements emitted inside go to a block of their own."""
        self.blocks.append([])
        try:
            yield self.blocks[-1]
        finally:
            self.blocks.pop()

    @property
    def is_unconditional(self) -> bool:
        """Whether every path of the function comes here, once: in no branch and no loop."""
        return len(self.blocks) == 2

    @contextmanager
    def collecting_errors(self) -> Iterator[None]:
        """A mistake inside is noted, and the walk goes on after it."""
        try:
            yield
        except CompileError as error:
            self.problems += error.diagnostics
        except UnknownType:
            pass

    def fresh(self, hint: str) -> str:
        """A variable name that no Python name can be."""
        name = f"{hint}.t{len(self.temporaries) + 1}"
        self.temporaries.add(name)
        for known in [n for n in self.arrays if n == name or n.startswith(f"{name}.")]:
            del self.arrays[known]  # of another temporary of the walk before
        return name

    def constant_name(self, name: str) -> str:
        """A name for another constant array that the program calls ``name``."""
        number = sum(c.var.name.split(".")[0] == name for c in self.constants.values())
        return f"{name}.const{number}" if number else f"{name}.const"

    def name_for(self, node: ast.expr, otherwise: str) -> str:
        """The variable that ``node`` is assigned to, if it is one."""
        if self.target is not None and self.target[0] is node:
            return self.target[1]
        return self.fresh(otherwise)

    def assigned(self, name: str, value_type: Scalar, span: Span) -> Scalar:
        """Note a type that reaches a variable; give the type that the variable has."""
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
        """A read of a number's variable."""
        known = self.previous_types.get(name) or self.types.get(name)
        if known is None:
            self.untyped_reads.append((name, span))
            raise UnknownType
        return Var(name, known, span)


def is_temporary_name(name: str) -> bool:
    """Whether a variable is the compiler's own, from ``FunctionContext.fresh``."""
    return ".t" in name


def describe(value: Value) -> str:
    """A value as errors name it."""
    match value:
        case StaticObject():
            return replacements.describe_object(value.value)
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
    """Whether a value is an array that is known."""
    return isinstance(value, (Var, View)) and isinstance(value.type, Array)


def is_vector(value: Value) -> bool:
    """Whether a value is a vector, not a number, a tuple or an array."""
    if isinstance(value, (StaticObject, TupleValue, Closure)) or not isinstance(value.type, Scalar):
        return False
    return value.type.dtype.is_vector


def vector_variable(context: FunctionContext, target: ast.Subscript | ast.Attribute) -> Var | None:
    """The variable ``v`` of a target ``v.x``, if it is a vector."""
    owner = target.value
    if not isinstance(owner, ast.Name) or id(owner) not in context.ranges.names:
        return None
    value = context.value(owner)
    return value if isinstance(value, Var) and is_vector(value) else None


_READING = {"texture": "tex{}D(t, …)", "surface": "surf{}Dread(s, …)"}


def require_number(value: Value, what: str = "this") -> Expr:
    """The value as an expression that is a number, or an error that says what it is."""
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
    """The value as an expression that a variable holds: a number or a vector."""
    if isinstance(value, (StaticObject, Closure)):
        hint = (
            replacements.instead_of_object(value.value)
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
            hint=records.single_field_hint(value),
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
    """``a[i]``, with an index for each axis of the array that it is, or is a part of."""
    whole = value.array if isinstance(value, View) else value
    name = whole.name if isinstance(whole, Var) else "a"
    axes = whole.type.ndim if isinstance(whole.type, Array) else 1
    counts = f"; {name} has {axes} axes" if axes > 1 else ""
    letters = ("i", "j", "k", "l") if axes <= 4 else ("i", "…")
    return f"{name}[{', '.join(letters[:axes])}]{counts}"


def report_no_value(span: Span) -> NoReturn:
    """A call stands for a value, and gives none."""
    fail(
        "type-needed",
        Label(span, "this call returns nothing"),
        hint="end the function with `return …`; what only does something is a statement",
    )
