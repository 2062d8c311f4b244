"""Common spellings of intrinsics as C calls."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.dtypes import FLOAT32, DType
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.registry import Spell


def library(stem: str) -> Spell:
    """Spell a function of C's math library: ``sinf`` for float32, ``sin`` for float64."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CallExpr(stem + ("f" if dtype is FLOAT32 else ""), tuple(a.values()))

    return spell


def helper(name: str) -> Spell:
    """Spell a helper function of codegen/helpers/catalog.py: ``floordiv_i32``."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CallExpr(f"{name}_{dtype.short}", tuple(a.values()))

    return spell


def by_kind(*, floats: Spell, integers: Spell) -> Spell:
    """Select a spelling for floats or integers."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return (floats if dtype.is_float else integers)(a, dtype)

    return spell


def overloaded(function: str) -> Spell:
    """Spell a function or macro that takes every dtype under one name: ``isnan``."""

    def spell(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
        return c.CallExpr(function, tuple(a.values()))

    return spell
