"""Functions that are others with types of their own: ``libdevice.sinf`` is ``math.sin`` of a
float32, ``fp16.hsin`` of a float16. The frontend writes out the conversions, and the reference
makes them.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from pycu2c.base.dtypes import BY_NAME, DType
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, Typed, intrinsic


def declare(
    name: str,
    parameters: Sequence[tuple[str, str]],
    gives: str,
    stands_for: tuple[Typed, ...],
    doc: str,
) -> Intrinsic:
    """A row whose result is that of another one, or a tuple of those of several."""

    def body(*given: Any) -> Any:
        results = tuple(_computed(typed, given) for typed in stands_for)
        return results if len(results) > 1 else results[0]

    body.__doc__ = doc
    body.__annotations__ = {**dict(parameters), "return": gives}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    own = [inspect.Parameter(p, kind) for p, _ in parameters]
    body.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
    shown = ", ".join(f"{p}: {_told(k)}" for p, k in parameters)
    result = _told(gives) if len(stands_for) == 1 else _several(stands_for)
    return intrinsic(
        name, effect=Effect.FORM, stands_for=stands_for, overloads=(f"({shown}) -> {result}",)
    )(body)


def _computed(typed: Typed, given: Sequence[Any]) -> Any:
    takes = typed.takes or (None,) * len(given)
    values: list[Any] = [
        v if row is None else convert(v, Scalar(row)) for v, row in zip(given, takes)
    ]
    if isinstance(typed.row, Intrinsic):
        kinds = [kind for _, kind in typed.row.parameters]
        values = [int(v) if kind == "int" else v for v, kind in zip(values, kinds)]
    result: Any = typed.row.reference(*values)
    return result if typed.gives is None else convert(result, Scalar(typed.gives))


# ---- for type checkers -------------------------------------------------------------------------


def _told(kind: str) -> str:
    row = BY_NAME.get(kind)
    if kind == "bool":
        return "bool"
    if row is None or kind == "F":
        return "_Real"
    if row.name == "bfloat16":
        return "Any"
    return f"np.{kind}" if row.is_float else "SupportsIndex"


def _several(stands_for: tuple[Typed, ...]) -> str:
    return f"tuple[{', '.join(_result(typed.gives) for typed in stands_for)}]"


def _result(row: DType | None) -> str:
    return "Any" if row is None else f"np.{row.name}"
