"""Dead code elimination: drop variables that are never read, and the code that computes them.

Side effects are preserved. Uses ``analysis.effects``.
"""

from __future__ import annotations

from pycu2c.analysis.effects import any_effect
from pycu2c.analysis.variables import names_in, referenced_names
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk


def eliminate_dead_code(module: ir.Module, effectful: frozenset[str]) -> ir.Module:
    """Drop ``x = a[i]`` if x is never read; reduce ``x = atomic.add(…)`` to the call."""
    return walk.map_functions(module, lambda f: walk.with_body(f, _live_body(f, effectful)))


def eliminate_dead_declarations(module: ir.Module, effectful: frozenset[str]) -> ir.Module:
    """Drop a declaration such as ``lane = t % 32`` if its block does not use it later."""

    def block(body: ir.Body) -> ir.Body:
        remaining: list[ir.Stmt] = []  # in reverse order
        names_used_later: set[str] = set()
        for s in reversed(body):
            if (
                isinstance(s, ir.Declare)
                and s.var.name not in names_used_later
                and not _has_effect(s, effectful)
            ):
                continue
            s = walk.map_bodies(s, block)
            remaining.append(s)
            names_used_later |= referenced_names((s,))
        return tuple(reversed(remaining))

    return walk.map_functions(module, lambda f: walk.with_body(f, block(f.body)))


def _has_effect(s: ir.Declare, effectful: frozenset[str]) -> bool:
    return s.init is not None and any_effect(s.init, effectful)


def _live_body(function: ir.Function, effectful: frozenset[str]) -> ir.Body:
    body = function.body
    needed = _needed_names(body, effectful)
    while True:

        def live_statement(s: ir.Stmt, needed: frozenset[str] = needed) -> ir.Body:
            match s:
                case ir.Assign() if s.var.name not in needed:
                    return _effects_only(s.value, s, effectful)
                case ir.Allocate() if s.var.name not in needed:
                    return ()
                case ir.If(then=(), orelse=()):
                    return _effects_only(s.condition, s, effectful)
                case _:
                    return (s,)

        body = walk.map_stmt(body, live_statement)
        still_needed = _needed_names(body, effectful)  # without the conditions of empty Ifs
        if still_needed == needed:
            return body
        needed = still_needed


def _effects_only(e: ir.Expr, s: ir.Stmt, effectful: frozenset[str]) -> ir.Body:
    if isinstance(e, ir.Pack):  # the aggregate is unused
        return tuple(effect for part in e.parts for effect in _effects_only(part, s, effectful))
    return (ir.Evaluate(e, s.span),) if any_effect(e, effectful) else ()


def _needed_names(body: ir.Body, effectful: frozenset[str]) -> frozenset[str]:
    """Return the variables and arrays that the effects of a body depend on.

    ``x = x + 1`` alone does not make x needed; ``x = x + atomic.add(…)`` does.
    """
    pending: list[str] = []
    operands_of: dict[str, set[str]] = {}  # what the values of a variable are computed from
    for s in walk.statements(body):
        names = names_in(*walk.operands(s))
        if isinstance(s, ir.Assign) and not any_effect(s.value, effectful):
            operands_of.setdefault(s.var.name, set()).update(names)
        else:
            pending += names
            if isinstance(s, ir.Store):
                pending.append(s.array.name)
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in needed:
            needed.add(name)
            pending += operands_of.get(name, ())
    return frozenset(needed)
