"""Verify the IR: types, declarations, and the positions of jumps and barriers.

A violation is a bug in the pass that created it, never in the program of the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from pycu2c.base.errors import Error
from pycu2c.base.records import dataclass, field
from pycu2c.base.types import VOID, Array, MemorySpace, Scalar, Type
from pycu2c.ir import nodes as ir
from pycu2c.ir import printer
from pycu2c.ir.call_graph import recursive_functions
from pycu2c.ir.print_format import matches_format, scalar_types
from pycu2c.ir.verify_expressions import expression_violations, index_violations, is_bool
from pycu2c.ir.walk import all_expressions, bodies, children, contains, operands, statements

Node: TypeAlias = ir.Expr | ir.Stmt | ir.Function | ir.Parameter


@dataclass(frozen=True, slots=True)
class Violation:
    """A violated invariant, and the node that violates it."""

    message: str
    node: Node
    function: str

    def __str__(self) -> str:
        return f"{self.function}: {self.message}"


class InternalError(Error):
    """A pass has created invalid IR: a bug in pycu2c, not in the program."""


def verified(module: ir.Module, after: str) -> ir.Module:
    """Return the module; raise InternalError if the pass ``after`` has violated an invariant."""
    violations = verify(module)
    if not violations:
        return module
    listed = "\n".join(f"  {v}" for v in violations)
    text = printer.print_module(module, {id(v.node) for v in violations})
    raise InternalError(
        f"this is a bug in pycu2c: {after} has created invalid IR\n{listed}\n\n{text}"
    )


def verify(module: ir.Module) -> list[Violation]:
    """Return all violations in all functions."""
    recursive = recursive_functions(module)
    callable_functions = {f.name: f for f in module.device_functions if f.name in recursive}
    seen: set[str] = set()
    constants = {c.var.name: c.var.type for c in module.constants}
    result: list[Violation] = []
    for function in module.functions:
        if function.name in seen:
            message = "two functions have this name"
            result.append(Violation(message, function, function.name))
        result += _Checker(function, callable_functions, constants).check()
        callable_functions[function.name] = function
        seen.add(function.name)
    return result


@dataclass(slots=True)
class _Scope:
    """The context of a statement.

    ``declared`` has the variables in scope, or is None where assignments declare variables.
    """

    declared: set[str] | None
    in_loop: bool = False
    in_work_item_loop: bool = False

    def inside(self, s: ir.Stmt) -> _Scope:
        """Return the scope of the blocks of a statement."""
        declared = None if self.declared is None else set(self.declared)
        if declared is not None and isinstance(s, (ir.For, ir.AxisLoop)):
            declared.add(s.var.name)
        if isinstance(s, (ir.WorkItemLoop, ir.AxisLoop)):
            return _Scope(declared, in_work_item_loop=True)
        if isinstance(s, ir.CoroutineLoop):
            return _Scope(declared)
        return _Scope(
            declared, self.in_loop or isinstance(s, (ir.While, ir.For)), self.in_work_item_loop
        )


@dataclass(slots=True)
class _Checker:
    """Checks one function and collects its violations."""

    function: ir.Function
    callable_functions: Mapping[str, ir.Function]  # defined earlier, or recursive
    constants: Mapping[str, Type] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    violations: list[Violation] = field(default_factory=list)

    def check(self) -> list[Violation]:
        self._collect_types()
        self.types |= self.constants
        declares = contains(self.function.body, ir.Declare)
        names = {p.name for p in self.function.parameters} | set(self.constants)
        self._check_body(self.function.body, _Scope(names if declares else None))
        return self.violations

    def _report(self, message: str, node: Node) -> None:
        self.violations.append(Violation(message, node, self.function.name))

    # ---- names ----

    def _collect_types(self) -> None:
        """Collect the type of each variable from its definitions."""
        for p in self.function.parameters:
            if p.name in self.types:
                self._report(f"two parameters are named {p.name}", p)
            self.types[p.name] = p.type
        for s in statements(self.function.body):
            if isinstance(s, (ir.Assign, ir.Declare, ir.For, ir.AxisLoop, ir.Allocate)):
                self._collect_type(s.var, s)
        lets: dict[str, ir.Let] = {}
        for e in all_expressions(self.function.body):
            if isinstance(e, ir.Let) and e.name not in lets:
                lets[e.name] = e
                if e.name in self.types:
                    self._report(f"{e.name} is bound, and is a variable already", e)
                self.types[e.name] = e.value.type
            elif isinstance(e, ir.Let) and lets[e.name].value.type != e.value.type:
                self._report(f"{e.name} is bound in two types", e)

    def _collect_type(self, var: ir.Var, s: ir.Stmt) -> None:
        if self.types.setdefault(var.name, var.type) != var.type:
            self._report(f"{var.name} is {self.types[var.name]} elsewhere, here {var.type}", s)

    def _check_read(self, var: ir.Var, declared: set[str] | None) -> None:
        expected = self.types.get(var.name)
        if expected is None:
            self._report(f"{var.name} is read but never assigned", var)
        elif expected != _declared_type(var):
            self._report(f"{var.name} is {expected}, here {var.type}", var)
        elif declared is not None and var.name not in declared:
            self._report(f"{var.name} is read outside of its scope", var)

    # ---- statements ----

    def _check_body(self, body: ir.Body, scope: _Scope) -> None:
        for s in body:
            for e in operands(s):
                self._check_expression(e, scope.declared)
            for message in self._statement_violations(s, scope):
                self._report(message, s)
            for inner in bodies(s):
                self._check_body(inner, scope.inside(s))

    def _statement_violations(self, s: ir.Stmt, scope: _Scope) -> Iterator[str]:
        match s:
            case ir.Allocate():
                if not _has_size(s.var.type):
                    yield f"{s.var.name} is allocated, but is not an array of known shape"
                yield from _declaration_violations(s.var, scope)
            case ir.Declare():
                if s.init is not None:
                    yield from _assignment_violations(s.var, s.init)
                yield from _declaration_violations(s.var, scope)
            case ir.Assign():
                yield from _assignment_violations(s.var, s.value)
                if scope.declared is not None and s.var.name not in scope.declared:
                    yield f"{s.var.name} is assigned outside of its scope"
            case ir.Store():
                yield from self._store_violations(s, scope)
            case ir.If() | ir.While():
                if not is_bool(s.condition.type):
                    yield f"a condition is {s.condition.type}"
            case ir.For() | ir.AxisLoop():
                if any(e.type != s.var.type for e in operands(s)):
                    types = ", ".join(str(e.type) for e in operands(s))
                    yield f"{s.var.name} is {s.var.type}, its range is of {types}"
            case ir.Break() | ir.Continue():
                if not scope.in_loop:
                    yield "a jump is outside of every loop"
            case ir.NextWorkItem():
                if not scope.in_work_item_loop:
                    yield "next thread is outside of every work-item loop"
            case ir.Return():
                actual = VOID if s.value is None else s.value.type
                if actual != self.function.result:
                    yield f"{actual} is returned, the result type is {self.function.result}"
            case ir.Print():
                expected = scalar_types(s.text)
                if not matches_format(expected, [e.type for e in s.values]):
                    types = ", ".join(str(e.type) for e in s.values)
                    yield f"the format takes {', '.join(map(str, expected))}, not {types}"
            case ir.BarrierWait():
                if scope.in_work_item_loop:
                    yield "a barrier is inside of a work-item loop"
                yield from _barrier_violations(s)
            case ir.InlineC():
                if self.function.body != (s,):
                    yield "inline C is not the whole body"
                yield from _inline_c_violations(self.function)
            case (
                ir.Evaluate()
                | ir.WorkItemLoop()
                | ir.StripLoop()
                | ir.BlockLoop()
                | ir.CoroutineLoop()
            ):
                return
            case _:
                assert_never(s)

    def _store_violations(self, s: ir.Store, scope: _Scope) -> Iterator[str]:
        self._check_read(s.array, scope.declared)
        yield from index_violations(s, self._is_pointer(s.array))
        type_ = s.array.type
        expected = (
            ir.field_type(type_.element, s.path) if isinstance(type_, Array) else s.value.type
        )
        if s.value.type != expected:
            yield f"{s.value.type} is stored in {s.array.name}, whose element is {expected}"

    def _is_pointer(self, array: ir.Var) -> bool:
        """Return whether an array is a pointer parameter of flat IR, with a linear index."""
        return any(
            p.name == array.name and p.part is ir.ArgumentPart.DATA
            for p in self.function.parameters
        )

    # ---- expressions ----

    def _check_expression(self, e: ir.Expr, declared: set[str] | None) -> None:
        for message in expression_violations(e):
            self._report(message, e)
        match e:
            case ir.Var():
                self._check_read(e, declared)
            case ir.Load() | ir.ElementOf():
                for message in index_violations(e, self._is_pointer(e.array)):
                    self._report(message, e)
            case ir.Call():
                for message in self._call_violations(e):
                    self._report(message, e)
            case ir.Let() if declared is not None:
                declared = {*declared, e.name}
        for child in children(e):
            self._check_expression(child, declared)

    def _call_violations(self, e: ir.Call) -> Iterator[str]:
        callee = self.callable_functions.get(e.function)
        if callee is None:
            yield f"{e.function} is called before its definition"
            return
        expected = [p.type for p in callee.parameters]
        actual = [a.type for a in e.arguments]
        pairs = zip(callee.parameters, e.arguments)
        if len(expected) != len(actual) or not all(_accepts(p, a) for p, a in pairs):
            types = ", ".join(map(str, actual))
            yield f"{e.function} takes ({', '.join(map(str, expected))}), not ({types})"
        if e.type != callee.result:
            yield f"{e.function} returns {callee.result}, not {e.type}"


def _declared_type(var: ir.Var) -> Type:
    """Return the type that a variable is declared with."""
    type_ = var.type
    return type_.in_block if ir.in_cluster(var) and isinstance(type_, Array) else type_


def _accepts(parameter: ir.Parameter, argument: ir.Expr) -> bool:
    """Return whether an argument has the type of a parameter; a pointer accepts an ElementOf."""
    if parameter.part is ir.ArgumentPart.DATA and isinstance(argument, ir.ElementOf):
        assert isinstance(parameter.type, Array)
        return argument.type.dtype is parameter.type.dtype
    return argument.type == parameter.type


def _barrier_violations(s: ir.BarrierWait) -> Iterator[str]:
    if s.mask is not None and (
        not isinstance(s.mask.type, Scalar) or not s.mask.type.dtype.is_integral
    ):
        yield f"the mask of a barrier is {s.mask.type}"
    for contribution in s.contributions:
        type_ = contribution.array.type
        if not isinstance(type_, Array) or type_.element != contribution.value.type:
            yield f"{contribution.array.name} is {type_}, the value {contribution.value.type}"


def _inline_c_violations(function: ir.Function) -> Iterator[str]:
    """Yield parameters of inline C with weak types, whose width passes may change."""
    for type_ in (function.result, *(p.type for p in function.parameters)):
        if isinstance(type_, Scalar) and type_.weak and not is_bool(type_):
            yield f"inline C takes or returns {type_}"


def _assignment_violations(var: ir.Var, value: ir.Expr) -> Iterator[str]:
    if not isinstance(var.type, Scalar):
        yield f"{var.name} is assigned, but is not a scalar"
    elif value.type != var.type:
        yield f"{var.name} is {var.type}, its value {value.type}"


def _has_size(type_: Type) -> bool:
    """Return whether an array can be allocated: it has a shape, or is dynamic shared memory."""
    return isinstance(type_, Array) and (
        type_.shape is not None or type_.space is MemorySpace.SHARED
    )


def _declaration_violations(var: ir.Var, scope: _Scope) -> Iterator[str]:
    if scope.declared is None:
        return
    if var.name in scope.declared:
        yield f"{var.name} is declared twice"
    scope.declared.add(var.name)
