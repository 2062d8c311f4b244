"""Arithmetic in float64, and which literal, argument, array or division brought it in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pycu2c.diagnostics import Label
from pycu2c.dtypes import FLOAT64
from pycu2c.explain.notes import Note
from pycu2c.explain.origins import Origins, origins
from pycu2c.ir.nodes import Apply, Binary, Call, Cast, Const, Expr, Function, Load, Unary, Var
from pycu2c.ir.walk import children, expressions, operands, statements
from pycu2c.operators import DIV
from pycu2c.source import Span
from pycu2c.types import Array, Scalar


@dataclass(frozen=True, slots=True)
class Cause:
    """What made a value float64."""

    span: Span
    text: str
    cure: str


def doubles(function: Function) -> Iterator[Note]:
    """One note for each cause in each line."""
    tracer = _Tracer(origins(function), {p.name for p in function.parameters})
    seen: set[tuple[int, int, int]] = set()
    for s in statements(function.body):
        for e in operands(s):
            for found in _outermost(e):
                for cause in tracer.causes(found):
                    key = (found.span.line, cause.span.line, cause.span.column)
                    if key in seen:
                        continue
                    seen.add(key)
                    yield _note(found, cause)


def _note(found: Expr, cause: Cause) -> Note:
    here = Label(found.span, "this is computed in float64")
    because = Label(cause.span, cause.text)
    return Note("float64", (here, because), cause.cure)


def _outermost(e: Expr) -> Iterator[Expr]:
    """The largest parts of an expression that are computed in float64."""
    if all(isinstance(x, Const) for x in expressions(e) if not children(x)):
        return  # the compiler computes it
    computes = isinstance(e, (Binary, Unary, Apply))
    if computes and any(_is_double(x) for x in (e, *children(e))):
        yield e
        return
    for child in children(e):
        yield from _outermost(child)


def _is_double(e: Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype is FLOAT64


@dataclass(slots=True)
class _Tracer:
    known: Origins
    parameters: set[str]

    def causes(self, e: Expr, depth: int = 8) -> list[Cause]:
        """Where the float64 in an expression comes from; the first of each way in."""
        match e:
            case Const():
                return [_literal(e.span)] if _is_double(e) else []
            case Var():
                return self._of_variable(e, depth)
            case Load():
                return [_array(e)] if _is_double(e) else []
            case Call():
                text = f"`{e.function.split('.')[0]}` gives float64"
                return [Cause(e.span, text, "return float32(...) there")] if _is_double(e) else []
            case Binary(op=op) if op is DIV and not any(map(_was_float, (e.left, e.right))):
                cure = "divide with //, or one float32: float32(a) / b"
                return [Cause(e.span, "whole numbers are divided, which gives float64", cure)]
            case Apply() if _is_double(e) and not any(map(_was_float, e.arguments)):
                text = f"`{e.intrinsic.name}` of a whole number gives float64"
                return [Cause(e.span, text, "convert its argument: float32(...)")]
            case Cast():
                return self.causes(e.operand, depth) if _is_double(e) else []
            case _:
                return [c for child in children(e) for c in self.causes(child, depth)]

    def _of_variable(self, e: Var, depth: int) -> list[Cause]:
        if not _is_double(e):
            return []
        if e.name in self.known and depth:
            found = [c for v in self.known[e.name] for c in self.causes(v, depth - 1)]
            return found[:1]
        if e.name.split(".")[0] not in self.parameters:
            return []
        name = e.name.split(".")[0]
        return [Cause(e.span, f"`{name}` comes as float64", f"pass numpy.float32({name})")]


def _was_float(e: Expr) -> bool:
    """Whether an operand was a float before it met the others. (A literal 2 has become 2.0.)"""
    if isinstance(e, Const):
        return float(e.value) != int(e.value)
    inner = e.operand if isinstance(e, Cast) else e
    return isinstance(inner.type, Scalar) and not inner.type.dtype.is_whole


def _literal(span: Span) -> Cause:
    return Cause(
        span,
        "a Python float with no float32 beside it",
        "write float32(...) around it, or @kernel(weak_float='float32')",
    )


def _array(e: Load) -> Cause:
    assert isinstance(e.array.type, Array)
    name = e.array.name.split(".")[0]
    cure = f"pass {name} as float32, or convert what is read: float32({name}[...])"
    return Cause(e.span, f"`{name}` holds float64", cure)
