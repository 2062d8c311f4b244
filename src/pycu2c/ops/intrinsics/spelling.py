"""Common spellings of intrinsics as C calls."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.dtypes import FLOAT32, DType
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.registry import Spelling


def library(stem: str) -> Spelling:
    """Return the spelling of a function of C's math library; for float32 it ends in f."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CallExpr(stem + ("f" if dtype is FLOAT32 else ""), tuple(a.values()))

    return spell


def helper(name: str) -> Spelling:
    """Return the spelling of a helper function of codegen/helpers/catalog.py: ``floordiv_i32``."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return c.CallExpr(f"{name}_{dtype.short}", tuple(a.values()))

    return spell


def by_kind(*, floats: Spelling, integers: Spelling) -> Spelling:
    """Return a spelling that selects one of two by the kind of the dtype."""

    def spell(a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        return (floats if dtype.is_float else integers)(a, dtype)

    return spell


def overloaded(function: str) -> Spelling:
    """Return the spelling of a function or macro with one name for all dtypes: ``isnan``."""

    def spell(a: Mapping[str, c.Expr], _: DType) -> c.Expr:
        return c.CallExpr(function, tuple(a.values()))

    return spell
