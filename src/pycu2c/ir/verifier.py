"""IR -> list of violations. A pass that leaves one has a bug; users never see why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias, assert_never

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import VOID, Array, Scalar, Space, Type
from pycu2c.ir import printer
from pycu2c.ir.call_graph import recursive
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    AxisLoop,
    BlockLoop,
    Body,
    Break,
    Call,
    Continue,
    CText,
    Declare,
    ElementOf,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Let,
    Load,
    Module,
    NextThread,
    Parameter,
    Part,
    Print,
    Return,
    Stmt,
    Store,
    Strips,
    ThreadLoop,
    ThreadSteps,
    Var,
    Wait,
    While,
    field_type,
    in_cluster,
)
from pycu2c.ir.print_format import fills, numbers
from pycu2c.ir.verify_expressions import breaches, indices, is_truth
from pycu2c.ir.walk import all_expressions, bodies, children, operands, statements

Node: TypeAlias = Expr | Stmt | Function | Parameter


@dataclass(frozen=True, slots=True)
class Violation:
    """What is wrong, and the node that is."""

    message: str
    node: Node
    function: str

    def __str__(self) -> str:
        return f"{self.function}: {self.message}"


class InternalError(Exception):
    """A pass has made IR that no program means: a bug of this project, not of the user."""


def verified(module: Module, after: str) -> Module:
    """The module itself; raises InternalError if ``after``, a pass, has left violations."""
    violations = verify(module)
    if not violations:
        return module
    listed = "\n".join(f"  {v}" for v in violations)
    text = printer.print_module(module, {id(v.node) for v in violations})
    raise InternalError(
        f"this is a bug in pycu2c: {after} has made IR that is not valid\n{listed}\n\n{text}"
    )


def verify(module: Module) -> list[Violation]:
    """All violations of all functions."""
    loops = recursive(module)
    earlier = {f.name: f for f in module.devices if f.name in loops}
    seen: set[str] = set()
    constants = {c.var.name: c.var.type for c in module.constants}
    found: list[Violation] = []
    for function in (*module.devices, module.kernel):
        if function.name in seen:
            message = "two functions have this name"
            found.append(Violation(message, function, function.name))
        found += _Checker(function, earlier, constants).violations()
        earlier[function.name] = function
        seen.add(function.name)
    return found


@dataclass(slots=True)
class _Place:
    """What surrounds a statement. ``declared``: the variables that it may name, or None where
    variables come to be by assignment."""

    declared: set[str] | None
    in_loop: bool = False
    in_threads: bool = False

    def inside(self, s: Stmt) -> _Place:
        declared = None if self.declared is None else set(self.declared)
        if declared is not None and isinstance(s, (For, AxisLoop)):
            declared.add(s.var.name)
        if isinstance(s, (ThreadLoop, AxisLoop)):
            return _Place(declared, in_threads=True)
        if isinstance(s, ThreadSteps):
            return _Place(declared)
        return _Place(declared, self.in_loop or isinstance(s, (While, For)), self.in_threads)


@dataclass(slots=True)
class _Checker:
    """Checks one function."""

    function: Function
    earlier: Mapping[str, Function]
    constants: Mapping[str, Type] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    found: list[Violation] = field(default_factory=list)

    def violations(self) -> list[Violation]:
        self._definitions()
        self.types |= self.constants
        declares = any(isinstance(s, Declare) for s in statements(self.function.body))
        names = {p.name for p in self.function.parameters} | set(self.constants)
        self._body(self.function.body, _Place(names if declares else None))
        return self.found

    def _report(self, message: str, node: Node) -> None:
        self.found.append(Violation(message, node, self.function.name))

    # ---- names ----

    def _definitions(self) -> None:
        """The type of each variable, where it gets its values."""
        for p in self.function.parameters:
            if p.name in self.types:
                self._report(f"two parameters are named {p.name}", p)
            self.types[p.name] = p.type
        for s in statements(self.function.body):
            if isinstance(s, (Assign, Declare, For, AxisLoop, Allocate)):
                self._defined(s.var, s)
        lets: dict[str, Let] = {}
        for e in all_expressions(self.function.body):
            if isinstance(e, Let) and e.name not in lets:
                lets[e.name] = e
                if e.name in self.types:
                    self._report(f"{e.name} is bound, and is a variable already", e)
                self.types[e.name] = e.value.type
            elif isinstance(e, Let) and lets[e.name].value.type != e.value.type:
                self._report(f"{e.name} is bound in two types", e)

    def _defined(self, var: Var, s: Stmt) -> None:
        if self.types.setdefault(var.name, var.type) != var.type:
            self._report(f"{var.name} is {self.types[var.name]} elsewhere, here {var.type}", s)

    def _read(self, var: Var, declared: set[str] | None) -> None:
        known = self.types.get(var.name)
        if known is None:
            self._report(f"{var.name} is read and has no value anywhere", var)
        elif known != _own(var):
            self._report(f"{var.name} is {known}, here {var.type}", var)
        elif declared is not None and var.name not in declared:
            self._report(f"{var.name} is read outside of its declaration", var)

    # ---- statements ----

    def _body(self, body: Body, place: _Place) -> None:
        for s in body:
            for e in operands(s):
                self._expression(e, place.declared)
            for message in self._statement(s, place):
                self._report(message, s)
            for inner in bodies(s):
                self._body(inner, place.inside(s))

    def _statement(self, s: Stmt, place: _Place) -> Iterator[str]:
        match s:
            case Allocate():
                if not _has_room(s.var.type):
                    yield f"{s.var.name} is allocated, and no array of a known shape"
                yield from _declaration(s.var, place)
            case Declare():
                if s.init is not None:
                    yield from _assigned(s.var, s.init)
                yield from _declaration(s.var, place)
            case Assign():
                yield from _assigned(s.var, s.value)
                if place.declared is not None and s.var.name not in place.declared:
                    yield f"{s.var.name} is assigned outside of its declaration"
            case Store():
                yield from self._store(s, place)
            case If() | While():
                if not is_truth(s.condition.type):
                    yield f"a condition is {s.condition.type}"
            case For() | AxisLoop():
                if any(e.type != s.var.type for e in operands(s)):
                    kinds = ", ".join(str(e.type) for e in operands(s))
                    yield f"{s.var.name} is {s.var.type}, its range is of {kinds}"
            case Break() | Continue():
                if not place.in_loop:
                    yield "a jump stands outside of every loop"
            case NextThread():
                if not place.in_threads:
                    yield "a thread is ended outside of every thread loop"
            case Return():
                given = VOID if s.value is None else s.value.type
                if given != self.function.result:
                    yield f"{given} is returned, the function gives {self.function.result}"
            case Print():
                wanted = numbers(s.text)
                if not fills(wanted, [e.type for e in s.values]):
                    kinds = ", ".join(str(e.type) for e in s.values)
                    yield f"{', '.join(map(str, wanted))} are printed, given are {kinds}"
            case Wait():
                if place.in_threads:
                    yield "a thread waits inside of a thread loop"
                yield from _wait(s)
            case CText():
                if self.function.body != (s,):
                    yield "C of the user's is a part of a body"
                yield from _foreign_types(self.function)
            case Evaluate() | ThreadLoop() | Strips() | BlockLoop() | ThreadSteps():
                return
            case _:
                assert_never(s)

    def _store(self, s: Store, place: _Place) -> Iterator[str]:
        self._read(s.array, place.declared)
        yield from indices(s, self._is_pointer(s.array))
        kind = s.array.type
        wanted = field_type(kind.element, s.path) if isinstance(kind, Array) else s.value.type
        if s.value.type != wanted:
            yield f"{s.value.type} is stored in {s.array.name}, which has {wanted} there"

    def _is_pointer(self, array: Var) -> bool:
        """An array parameter of flat IR: its one index counts elements."""
        return any(p.name == array.name and p.part is Part.DATA for p in self.function.parameters)

    # ---- expressions ----

    def _expression(self, e: Expr, declared: set[str] | None) -> None:
        for message in breaches(e):
            self._report(message, e)
        match e:
            case Var():
                self._read(e, declared)
            case Load() | ElementOf():
                for message in indices(e, self._is_pointer(e.array)):
                    self._report(message, e)
            case Call():
                for message in self._call(e):
                    self._report(message, e)
            case Let() if declared is not None:
                declared = {*declared, e.name}
            case _:
                pass
        for child in children(e):
            self._expression(child, declared)

    def _call(self, e: Call) -> Iterator[str]:
        callee = self.earlier.get(e.function)
        if callee is None:
            yield f"{e.function} is called, and does not come earlier"
            return
        wanted = [p.type for p in callee.parameters]
        given = [a.type for a in e.arguments]
        pairs = zip(callee.parameters, e.arguments)
        if len(wanted) != len(given) or not all(_takes(p, a) for p, a in pairs):
            kinds = ", ".join(map(str, given))
            yield f"{e.function} takes ({', '.join(map(str, wanted))}), is given ({kinds})"
        if e.type != callee.result:
            yield f"{e.function} gives {callee.result}, not {e.type}"


def _own(var: Var) -> Type:
    """The type that a variable is declared with."""
    kind = var.type
    return kind.in_block if in_cluster(var) and isinstance(kind, Array) else kind


def _takes(parameter: Parameter, argument: Expr) -> bool:
    """A pointer takes an array, or the place of an element."""
    if parameter.part is Part.DATA and isinstance(argument, ElementOf):
        assert isinstance(parameter.type, Array)
        return argument.type.dtype is parameter.type.dtype
    return argument.type == parameter.type


def _wait(s: Wait) -> Iterator[str]:
    if s.mask is not None and (
        not isinstance(s.mask.type, Scalar) or not s.mask.type.dtype.is_whole
    ):
        yield f"the mask of a wait is {s.mask.type}"
    for gift in s.gifts:
        kind = gift.slots.type
        if not isinstance(kind, Array) or kind.element != gift.value.type:
            yield f"{gift.value.type} is given in {gift.slots.name}, which is {kind}"


def _foreign_types(function: Function) -> Iterator[str]:
    """C is written for types of one width: no pass may have changed them."""
    for kind in (function.result, *(p.type for p in function.parameters)):
        if isinstance(kind, Scalar) and kind.weak and not is_truth(kind):
            yield f"C of the user's takes or gives {kind}"


def _assigned(var: Var, value: Expr) -> Iterator[str]:
    if not isinstance(var.type, Scalar):
        yield f"{var.name} is assigned, and no number"
    elif value.type != var.type:
        yield f"{var.name} is {var.type}, its value {value.type}"


def _has_room(kind: Type) -> bool:
    """Whether an array can be made; one of dynamic shared memory takes what there is."""
    return isinstance(kind, Array) and (kind.shape is not None or kind.space is Space.SHARED)


def _declaration(var: Var, place: _Place) -> Iterator[str]:
    if place.declared is None:
        return
    if var.name in place.declared:
        yield f"{var.name} is declared twice"
    place.declared.add(var.name)
