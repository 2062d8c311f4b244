"""Report device functions that call themselves on every path: no call of them could return.

A function can return if some path through it only calls functions that can return. The functions
that can are a least fixed point over the call graph.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TypeAlias

from pycu2c.base.diagnostics import Label, fail
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import functions_that, recursive_functions
from pycu2c.ir.walk import all_expressions, bodies, children, operands


class _Exit(Enum):
    """A way to leave a statement."""

    NEXT = auto()
    RETURN = auto()
    BREAK = auto()
    CONTINUE = auto()


_Exits: TypeAlias = frozenset[_Exit]
_NONE: _Exits = frozenset()
_NEXT: _Exits = frozenset({_Exit.NEXT})
_JUMPS: dict[type, _Exits] = {
    ir.Return: frozenset({_Exit.RETURN}),
    ir.Break: frozenset({_Exit.BREAK}),
    ir.Continue: frozenset({_Exit.CONTINUE}),
}


def check_recursion_ends(module: ir.Module) -> None:
    """Raise CompileError for a recursive function that calls itself on every path."""
    recursive = recursive_functions(module)
    if not recursive:
        return
    returning = functions_that(module.device_functions, lambda f, known: _can_return(f.body, known))
    for function in module.device_functions:
        if function.name in recursive - returning:
            call = next(
                e
                for e in all_expressions(function.body)
                if isinstance(e, ir.Call) and e.function not in returning
            )
            name = function.name.split(".")[0]
            fail(
                "recursion",
                Label(call.span, f"{name} calls itself on every path, here or through others"),
                hint="return without this call on some path: if n < 2: return 1",
            )


def _can_return(body: ir.Body, known: frozenset[str]) -> bool:
    return not _exits(body, known).isdisjoint({_Exit.RETURN, _Exit.NEXT})


def _exits(body: ir.Body, known: frozenset[str]) -> _Exits:
    """Return how control can leave a block if only the ``known`` functions return."""
    result: set[_Exit] = set()
    for s in body:
        exits = _exits_of(s, known)
        result |= exits - _NEXT
        if _Exit.NEXT not in exits:
            return frozenset(result)
    return frozenset(result | _NEXT)


def _exits_of(s: ir.Stmt, known: frozenset[str]) -> _Exits:
    if not all(_has_value(e, known) for e in operands(s)):
        return _NONE
    match s:
        case ir.If(condition=ir.Const(value=value)):
            return _exits(s.then if value else s.orelse, known)
        case ir.If():
            return _exits(s.then, known) | _exits(s.orelse, known)
        case ir.While(condition=ir.Const(value=value)) if value:
            exits = _exits(s.body, known)  # without recursion, an endless loop is no concern here
            return (exits & _JUMPS[ir.Return]) | (_NEXT if exits - _JUMPS[ir.Return] else _NONE)
        case _ if bodies(s):
            return _NEXT | (_exits(bodies(s)[0], known) & _JUMPS[ir.Return])
        case _:
            return _JUMPS.get(type(s), _NEXT)


def _has_value(e: ir.Expr, known: frozenset[str]) -> bool:
    """Return whether an expression has a value if only the ``known`` functions return."""
    match e:
        case ir.Call() if e.function not in known:
            return False
        case ir.Logical():
            return _has_value(e.left, known)
        case ir.Select():
            return _has_value(e.condition, known) and (
                _has_value(e.then, known) or _has_value(e.orelse, known)
            )
        case _:
            return all(_has_value(operand, known) for operand in children(e))
