"""Device functions with a C body: check the types of their parameters and results.

C needs types of fixed width, so Python's number types are rejected. A function that also has a
Python body is typed like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.external_code import stride_name
from pycu2c.base.source import Source, Span
from pycu2c.base.types import (
    NONE,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    Array,
    ParameterType,
    Scalar,
    Signature,
)
from pycu2c.frontend.expressions.composite_values import displayed_type, result_type
from pycu2c.frontend.function_context import ArgumentTypes
from pycu2c.frontend.scope.bindings import parameters
from pycu2c.ir.nodes import Function, Parameter, Return

_STRONG = {WEAK_INT: "int32 or int64", WEAK_FLOAT: "float32 or float64"}
_STRONG[WEAK_COMPLEX] = "complex64 or complex128"


def external_function(
    source: Source, types: ArgumentTypes, signature: Signature | None
) -> Function:
    """Return a function without a Python body; its result type must be declared."""
    if signature is None or signature.result is None:
        names = [p.arg for p in parameters(source.tree.args)]
        written = ", ".join(f"{name}: {displayed_type(kind)}" for name, kind in zip(names, types))
        fail(
            "inline-c",
            Label(source.span(source.tree), "it has no Python body to infer its types from"),
            hint=f"annotate it: def {source.name}({written}) -> float32, or -> None",
        )
    check(source, types, signature.result)
    kinds = [kind for kind in types if isinstance(kind, Scalar | Array)]
    names = [p.arg for p in parameters(source.tree.args)]
    taken = tuple(Parameter(n, kind, i) for i, (n, kind) in enumerate(zip(names, kinds)))
    span, result = source.span(source.tree), result_type(signature.result)
    return Function(source.name, source.name, taken, result, (), span, source.external_code)


def check(
    source: Source, types: ArgumentTypes, result: ParameterType, raises: Sequence[Return] = ()
) -> None:
    """Check the parameter and result types, and that C code uses the strides of its arrays."""
    if raises:
        _reject("this ends the thread", raises[0].span, "C code cannot: return a status instead")
    for node, kind in zip(parameters(source.tree.args), types):
        span = source.span(node)
        if isinstance(kind, Array):
            _check_array(source, node.arg, kind, span)
        else:
            _check_type(kind, span, "is passed")
    if result != NONE:
        _check_type(result, _span_of_result(source), "returns")


def _span_of_result(source: Source) -> Span:
    return source.span(source.tree.returns or source.tree)


def _check_type(kind: ParameterType, span: Span, does: str) -> None:
    if not isinstance(kind, Scalar) or kind.dtype.kind is DTypeKind.RECORD:
        _reject(
            f"C {does} `{displayed_type(kind)}` here",
            span,
            "C functions take and return numbers and vectors",
        )
    if kind.weak and kind != WEAK_BOOL:
        wide = _STRONG.get(kind, "a numpy type")
        _reject(f"C {does} Python's `{kind}` here", span, f"say how wide it is: {wide}")


def _check_array(source: Source, name: str, kind: Array, span: Span) -> None:
    if kind.dtype.kind is DTypeKind.RECORD:
        hint = "C functions take arrays of numbers and vectors"
        _reject(f"C is passed `{kind}` here", span, hint)
    if kind.layout == "C" or source.external_code is None:
        return
    for code in source.external_code.codes:
        strides = {stride_name(name, axis) for axis in range(kind.ndim)}
        if name in code.words and not strides <= code.words:
            axes = ", ".join([":"] * (kind.ndim - 1) + ["::1"])
            _reject(
                f"`{kind}` may have gaps, and the C does not read {min(strides - code.words)}",
                span,
                f"annotate it {kind.dtype}[{axes}], which is contiguous, or use "
                f"{' and '.join(sorted(strides))}, counted in elements",
            )


def _reject(what: str, span: Span, hint: str) -> NoReturn:
    fail("inline-c", Label(span, what), hint=hint)
