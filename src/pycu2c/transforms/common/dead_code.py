"""Dead code elimination: drop variables that are never read, and the code that computes them.

Side effects are preserved. Uses ``analysis.effects``.
"""

from __future__ import annotations

from pycu2c.analysis.effects import any_effect
from pycu2c.analysis.live_across_barriers import referenced_names
from pycu2c.base.records import replace
from pycu2c.ir.nodes import (
    Allocate,
    Assign,
    Body,
    Declare,
    Evaluate,
    Expr,
    For,
    Function,
    If,
    Module,
    Pack,
    Stmt,
    Store,
    Var,
    While,
)
from pycu2c.ir.walk import (
    all_expressions,
    bodies,
    expressions,
    map_functions,
    map_stmt,
    statements,
    with_bodies,
)


def eliminate_dead_code(module: Module, effectful: frozenset[str]) -> Module:
    """Drop ``x = a[i]`` if x is never read; reduce ``x = atomic.add(…)`` to the call."""
    return map_functions(module, lambda f: replace(f, body=_live_body(f, effectful)))


def eliminate_dead_declarations(module: Module, effectful: frozenset[str]) -> Module:
    """Drop a declaration such as ``lane = t % 32`` if its block does not use it later."""

    def block(body: Body) -> Body:
        remaining: list[Stmt] = []  # in reverse order
        names: set[str] = set()
        for s in reversed(body):
            if isinstance(s, Declare) and s.var.name not in names and not _has_effect(s, effectful):
                continue
            s = with_bodies(s, tuple(map(block, bodies(s))))
            remaining.append(s)
            names |= referenced_names((s,))
        return tuple(reversed(remaining))

    return map_functions(module, lambda f: replace(f, body=block(f.body)))


def _has_effect(s: Declare, devices: frozenset[str]) -> bool:
    return s.init is not None and any_effect(s.init, devices)


def _live_body(function: Function, devices: frozenset[str]) -> Body:
    body = function.body
    while True:
        read = _read(body, devices)

        def remaining(s: Stmt, read: frozenset[str] = read) -> Body:
            match s:
                case Assign() if s.var.name not in read:
                    return _effect_of(s.value, s, devices)
                case Allocate() if s.var.name not in read:
                    return ()
                case If(then=(), orelse=()):
                    return _effect_of(s.condition, s, devices)
                case _:
                    return (s,)

        new = map_stmt(body, remaining)
        if _read(new, devices) == read and _count(new) == _count(body):
            return new
        body = new


def _count(body: Body) -> int:
    return sum(1 for _ in statements(body))


def _effect_of(e: Expr, s: Stmt, devices: frozenset[str]) -> Body:
    if isinstance(e, Pack):  # the aggregate is unused
        return tuple(found for part in e.parts for found in _effect_of(part, s, devices))
    return (Evaluate(e, s.span),) if any_effect(e, devices) else ()


def _read(body: Body, devices: frozenset[str]) -> frozenset[str]:
    """Return the variables that a body reads or stores elements of.

    ``x = x + 1`` is no use of x; ``x = x + atomic.add(…)`` is.
    """
    found: set[str] = set()
    for s in statements(body):
        if isinstance(s, Store):
            found.add(s.array.name)
        if isinstance(s, Assign):
            inside = {e.name for e in expressions(s.value) if isinstance(e, Var)}
            found |= inside if any_effect(s.value, devices) else inside - {s.var.name}
        elif isinstance(s, (If, While, For)):
            found |= _control_names(s)
        else:
            found |= {e.name for e in all_expressions((s,)) if isinstance(e, Var)}
    return frozenset(found)


def _control_names(s: If | While | For) -> set[str]:
    conditions = (s.start, s.stop, s.step) if isinstance(s, For) else (s.condition,)
    return {e.name for x in conditions for e in expressions(x) if isinstance(e, Var)}
