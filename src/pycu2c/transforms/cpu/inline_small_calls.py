"""CPU: calls of small device functions are written out in loops that threads may run in strips, or
in tiles of them.

``while norm(z) < 4: z = step(z, c)`` -> ``while (let x = z in x * x + …) < 4: …``. Only functions
that compute a value of their arguments alone, and only in loops that then do nothing else.
Elsewhere calls stay: the program reads better, and a C compiler does the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar
from pycu2c.ir.builders import is_atom, scalar_type
from pycu2c.ir.call_graph import callees, recursive_functions
from pycu2c.ir.nodes import (
    Assign,
    Body,
    Call,
    Expr,
    For,
    Function,
    If,
    Let,
    Module,
    Return,
    Select,
    Stmt,
    Var,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    children,
    map_expr,
    map_functions,
    statements,
    with_bodies,
    with_children,
)
from pycu2c.transforms.cpu.simd.divergent_loops import early_exit_loops, is_vectorizable
from pycu2c.transforms.cpu.simd.narrow_integers_in_loops import computes

_MOST_NODES = 200  # of a function: beyond, a call is not what takes its time
_MOST_BRANCHES = 3  # what comes after one is written on both sides


def inline_small_calls(module: Module) -> Module:
    """Functions that nothing calls any more go."""
    never = recursive_functions(module)
    small = {f.name: f for f in module.devices if f.name not in never and _is_small(f)}
    if not small:
        return module
    written = map_functions(module, lambda f: replace(f, body=_with_calls_written(f, small)))
    return replace(written, devices=tuple(_needed(written)))


def _is_small(f: Function) -> bool:
    parts = tuple(statements(f.body))
    if not all(isinstance(s, Assign | If | Return) for s in parts):
        return False
    if not all(isinstance(kind, Scalar) for kind in (f.result, *(p.type for p in f.parameters))):
        return False
    nodes, branches = sum(1 for _ in all_expressions(f.body)), sum(isinstance(s, If) for s in parts)
    return nodes <= _MOST_NODES and branches <= _MOST_BRANCHES


def _needed(module: Module) -> Iterator[Function]:
    names = callees(module.kernel).union(*map(callees, module.devices))
    while True:
        devices = [f for f in module.devices if f.name in names]
        left = callees(module.kernel).union(*map(callees, devices))
        if left == names:
            return iter(devices)
        names = left


def _with_calls_written(f: Function, small: Mapping[str, Function]) -> Body:
    writer = _Writer(small)

    def block(body: Body) -> Body:
        out: list[Stmt] = []
        for s in body:
            written = map_expr((s,), writer.written)[0] if _may_compute(s) else s
            if written is not s and computes(written) and _is_for_many(written):
                out.append(written)
            else:
                out.append(with_bodies(s, tuple(map(block, bodies(s)))))
        return tuple(out)

    return block(f.body)


def _may_compute(s: Stmt) -> bool:
    """Whether it is a loop that strips or tiles of threads may run, if it does nothing else."""
    return isinstance(s, For) or any(early_exit_loops((s,)))


def _is_for_many(s: Stmt) -> bool:
    """Whether strips may run it, or tiles if it is of what makes vectors."""
    return any(early_exit_loops((s,))) or (isinstance(s, For) and is_vectorizable(s.body))


@dataclass(slots=True)
class _Writer:
    small: Mapping[str, Function]
    _fresh: int = 0

    def written(self, e: Expr) -> Expr:
        """A call as what the function computes of its arguments, if it is a small one."""
        if not isinstance(e, Call) or e.function not in self.small:
            return e
        function = self.small[e.function]
        names: dict[str, Expr] = {}
        bound: list[tuple[Var, Expr]] = []
        for p, argument in zip(function.parameters, e.arguments):
            names[p.name] = argument
            if not is_atom(argument):
                var = self._variable(p.name, argument)
                names[p.name] = var
                bound.append((var, argument))
        value = self._value(function.body, names)
        if value is None:
            return e
        for var, argument in reversed(bound):
            value = Let(var.name, argument, value, e.span)
        return value

    def _variable(self, name: str, value: Expr) -> Var:
        self._fresh += 1
        return Var(f"{name.split('.')[0]}.c{self._fresh}", scalar_type(value), value.span)

    def _value(self, body: Body, names: Mapping[str, Expr]) -> Expr | None:
        """What is returned, as one expression; None if it is not that simple."""
        match body:
            case (Return(value), *_) if value is not None:
                return self._renamed(value, names)
            case (Assign(var, value), *rest):
                own = self._variable(var.name, var)
                given = self._renamed(value, names)
                found = self._value(tuple(rest), {**names, var.name: own})
                return given and found and Let(own.name, given, found, value.span)
            case (If(condition, then, orelse, span), *rest):
                sides = [self._value((*side, *rest), names) for side in (then, orelse)]
                choice = self._renamed(condition, names)
                a, b = sides
                return choice and a and b and Select(choice, a, b, scalar_type(a), span)
            case _:
                return None

    def _renamed(self, e: Expr, names: Mapping[str, Expr]) -> Expr | None:
        match e:
            case Var(name):
                return names.get(name)
            case Let():
                own = self._variable(e.name, e.value)
                value = self._renamed(e.value, names)
                body = self._renamed(e.body, {**names, e.name: own})
                return value and body and replace(e, name=own.name, value=value, body=body)
            case _:
                new = [self._renamed(child, names) for child in children(e)]
                known = tuple(child for child in new if child is not None)
                return self.written(with_children(e, known)) if len(known) == len(new) else None
