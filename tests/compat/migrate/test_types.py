"""The table of types in the documentation of ``pycu2c migrate``."""

from __future__ import annotations

import importlib
import operator

import pytest

from pycu2c.base.types import Scalar
from support.paths import ROOT

FUNCTIONS = {
    "add": operator.add, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "pow": operator.pow,
}  # fmt: skip


def test_the_table_of_types_has_numbas_types(monkeypatch: pytest.MonkeyPatch) -> None:
    numba = pytest.importorskip("numba")
    context = pytest.importorskip("numba.core.registry").cpu_target.typing_context
    context.refresh()
    monkeypatch.syspath_prepend(ROOT / "docs")
    for text, theirs, op, *operands in importlib.import_module("generators.migrating").TYPES:
        function = FUNCTIONS[op.name] if op else min
        arguments = tuple(getattr(numba.types, str(Scalar(t.dtype))) for t in operands)
        result = context.resolve_function_type(function, arguments, {})
        assert str(result.return_type) == theirs, text
