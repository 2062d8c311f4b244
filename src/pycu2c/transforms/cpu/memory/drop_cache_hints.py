"""CPU: loads and stores that say which caches to use are plain ones. What is
evaluated in an order of its own is in statements by now."""

from __future__ import annotations

from pycu2c.base.records import replace
from pycu2c.base.types import Array
from pycu2c.ir.nodes import (
    Apply,
    Body,
    ElementOf,
    Evaluate,
    Expr,
    Function,
    Load,
    Module,
    Stmt,
    Store,
)
from pycu2c.ir.views import read_path
from pycu2c.ir.walk import map_expr, map_functions, map_stmt
from pycu2c.ops.intrinsics.memory.cache_hints import LOADS, STORES


def drop_cache_hints(module: Module) -> Module:
    """``cuda.ldcg(&a[i])`` -> ``a[i]``; ``cuda.stcs(&a[i], x)`` -> ``a[i] = x``."""
    return map_functions(module, _plain)


def _plain(function: Function) -> Function:
    body = map_stmt(map_expr(function.body, _loaded), _stored)
    return replace(function, body=body)


def _loaded(e: Expr) -> Expr:
    if not isinstance(e, Apply) or e.intrinsic not in LOADS:
        return e
    place = e.arguments[0]
    assert isinstance(place, ElementOf)
    assert isinstance(place.array.type, Array)
    return read_path(Load(place.array, place.indices, e.span), place.path, e.span)


def _stored(s: Stmt) -> Body:
    if not isinstance(s, Evaluate) or not isinstance(s.value, Apply):
        return (s,)
    if s.value.intrinsic not in STORES:
        return (s,)
    place, value = s.value.arguments
    assert isinstance(place, ElementOf)
    return (Store(place.array, place.indices, value, s.span, place.path),)
