"""Typed variants of other functions: ``libdevice.sinf`` is ``math.sin`` of a float32.

The front end inserts the conversions; the reference interpreter executes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.dtypes import BY_NAME, DType
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, TypedOperation, intrinsic


def declare(
    name: str,
    parameters: Sequence[tuple[str, str]],
    result_kind: str,
    expands_to: tuple[TypedOperation, ...],
    doc: str,
) -> Intrinsic:
    """Declare an intrinsic that expands to another one, or to a tuple of the results of several."""

    def body(*arguments: Any) -> Any:
        results = tuple(_apply(typed, arguments) for typed in expands_to)
        return results if len(results) > 1 else results[0]

    body.__doc__ = doc
    body.__annotations__ = {**dict(parameters), "return": result_kind}
    parameter_list = ", ".join(f"{p}: {_annotation(k)}" for p, k in parameters)
    result = _annotation(result_kind) if len(expands_to) == 1 else _tuple_annotation(expands_to)
    return intrinsic(
        name,
        effect=Effect.FORM,
        expands_to=expands_to,
        overloads=(f"({parameter_list}) -> {result}",),
    )(body)


def _apply(typed: TypedOperation, arguments: Sequence[Any]) -> Any:
    operand_types = typed.operand_types or (None,) * len(arguments)
    values: list[Any] = [
        v if dtype is None else convert(v, Scalar(dtype))
        for v, dtype in zip(arguments, operand_types)
    ]
    if isinstance(typed.operation, Intrinsic):
        kinds = [kind for _, kind in typed.operation.parameters]
        values = [int(v) if kind == "int" else v for v, kind in zip(values, kinds)]
    result: Any = typed.operation.reference(*values)
    return result if typed.result_type is None else convert(result, Scalar(typed.result_type))


# ---- for type checkers -------------------------------------------------------------------------


def _annotation(kind: str) -> str:
    dtype = BY_NAME.get(kind)
    if kind == "bool":
        return "bool"
    if dtype is None or kind == "F":
        return "_Real"
    if dtype.name == "bfloat16":
        return "Any"
    return f"np.{kind}" if dtype.is_float else "SupportsIndex"


def _tuple_annotation(expands_to: tuple[TypedOperation, ...]) -> str:
    return f"tuple[{', '.join(_result(typed.result_type) for typed in expands_to)}]"


def _result(dtype: DType | None) -> str:
    return "Any" if dtype is None else f"np.{dtype.name}"
