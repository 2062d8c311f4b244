"""Find float64 arithmetic, and the literal, argument, array or division that causes it."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base.diagnostics import Label
from pycu2c.base.dtypes import FLOAT64
from pycu2c.base.records import dataclass, field
from pycu2c.base.source import Span
from pycu2c.base.types import MemorySpace, Scalar
from pycu2c.explain.notes import Note
from pycu2c.explain.value_origins import ExplainedFunction, Origins, origins
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import array_type
from pycu2c.ir.name_suffixes import source_name
from pycu2c.ir.walk import children, expressions, operands, statements
from pycu2c.ops.operators import DIV


@dataclass(frozen=True, slots=True)
class Float64Cause:
    """A cause of float64 arithmetic; ``topic`` groups causes with the same hint."""

    span: Span
    text: str
    hint: str
    topic: str = ""


def find_float64(subject: ExplainedFunction) -> Iterator[Note]:
    """Yield float64 arithmetic, with each of its causes."""
    definitions = origins(subject.function)
    parameters = frozenset(source_name(p.name) for p in subject.function.parameters)
    for s in statements(subject.function.body):
        for e in operands(s):
            for computation in _outermost(e):
                tracer = _Tracer(definitions, parameters, subject)
                for cause in tracer.causes(computation):
                    label = Label(computation.span, "this is computed in float64")
                    reason = Label(cause.span, cause.text)
                    yield Note("float64", (label, reason), cause.hint, cause.topic)


def _outermost(e: ir.Expr) -> Iterator[ir.Expr]:
    """Yield the largest subexpressions that are computed in float64."""
    if _is_constant(e):
        return  # folded by the compiler
    computes = isinstance(e, (ir.Binary, ir.Unary, ir.Apply))
    if computes and any(_is_double(x) for x in (e, *children(e))):
        yield e
        return
    for child in children(e):
        yield from _outermost(child)


@dataclass(slots=True)
class _Tracer:
    """Traces the operands of one expression to their origins."""

    definitions: Origins
    parameters: frozenset[str]
    subject: ExplainedFunction
    visited: set[str] = field(default_factory=set)

    def causes(self, e: ir.Expr) -> list[Float64Cause]:
        """Return all origins of float64 in an expression."""
        match e:
            case _ if _is_constant(e):
                return [_literal_cause(e)] if _is_double(e) else []
            case ir.Var():
                return self._variable_causes(e) if _may_hold_double(e) else []
            case ir.Load():
                return [_array_cause(e)] if _may_hold_double(e) else []
            case ir.Call():
                text = f"`{source_name(e.function)}` gives float64"
                hint = "return float32(...) there"
                return [Float64Cause(e.span, text, hint, e.function)] if _is_double(e) else []
            case ir.Cast():
                return self._cast_causes(e)
            case ir.Member():
                return self.causes(e.operand) if _is_double(e) else []
            case ir.Pack(parts=(real, ir.Const(value=0))) if e.span == real.span:
                return self.causes(real)
            case ir.Pack():
                causes = [c for p in e.parts if not _is_constant(p) for c in self.causes(p)]
                return causes or ([_literal_cause(e)] if _is_double(e) else [])
            case ir.Select():
                return self._combined_causes(e, (e.then, e.orelse))
            case ir.Let():
                return self.causes(e.body)
            case ir.Binary(op=op) if op is DIV and all(map(_was_integer, (e.left, e.right))):
                hint = "divide with //, or one float32: float32(a) / b"
                return [Float64Cause(e.span, "dividing integers gives float64", hint)]
            case ir.Apply() if _is_double(e) and all(map(_was_integer, e.arguments)):
                text = f"`{e.intrinsic.name}` of an integer gives float64"
                return [Float64Cause(e.span, text, "convert its argument: float32(...)")]
            case _:
                return self._combined_causes(e, children(e))

    def _combined_causes(self, e: ir.Expr, parts: tuple[ir.Expr, ...]) -> list[Float64Cause]:
        """Return the causes in operands that are combined.

        Literals adopt the type of the other operands, so they are a cause only if no other
        operand is float64.
        """
        literals = [p for p in parts if _is_constant(p)]
        others = [p for p in parts if not _is_constant(p)]
        if any(_is_double(_without_implicit_cast(p)) for p in others):
            return [c for p in others for c in self.causes(p)]
        promoting = [
            p for p in others if _promotes_float32(_without_implicit_cast(p)) and _is_double(p)
        ]
        if promoting:
            return [_mixture_cause(p) for p in promoting]
        return [c for p in (*others, *literals) for c in self.causes(p)]

    def _cast_causes(self, e: ir.Cast) -> list[Float64Cause]:
        if not _is_double(e) or _may_hold_double(e.operand):
            return self.causes(e.operand) if _is_double(e) else []
        if e.span == e.operand.span:
            return []  # implicit, because of the other operand
        return [Float64Cause(e.span, "this makes it a float64", "write float32(...) instead")]

    def _variable_causes(self, e: ir.Var) -> list[Float64Cause]:
        if e.name in self.visited:
            return []
        self.visited.add(e.name)
        values = self.definitions.get(e.name, ())
        causes = [c for v in values if not _is_constant(v) for c in self.causes(v)]
        if not causes:  # the first value adopts the type of the later ones
            causes = [c for v in values if _is_constant(v) for c in self.causes(v)]
        name = source_name(e.name)
        if name not in self.parameters or e.name in self.definitions:
            return causes
        float_type = "complex64" if _is_complex(e) else "float32"
        if not self.subject.is_kernel:
            hint = f"call `{self.subject.function.python_name}` with {float_type}(...)"
            return [Float64Cause(e.span, f"`{name}` is given as float64", hint, e.name)]
        hint = f"pass numpy.{float_type}({name})"
        return [Float64Cause(e.span, f"`{name}` is passed as float64", hint, e.name)]


def _is_double(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype.real is FLOAT64


def _is_complex(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and e.type.dtype.is_complex


def _may_hold_double(e: ir.Expr) -> bool:
    """Return whether an expression is float64, or has fields that may be."""
    return _is_double(e) or (isinstance(e.type, Scalar) and e.type.dtype.has_fields)


def _is_constant(e: ir.Expr) -> bool:
    return all(isinstance(x, ir.Const) for x in expressions(e) if not children(x))


def _without_implicit_cast(e: ir.Expr) -> ir.Expr:
    """Return an operand without its implicit conversion."""
    match e:
        case ir.Cast(operand=operand) if e.span == operand.span:
            return operand
        case ir.Pack(parts=(real, ir.Const(value=0))) if e.span == real.span:
            return _without_implicit_cast(real)
        case _:
            return e


def _was_integer(e: ir.Expr) -> bool:
    """Return whether an operand was an integer; the literal 2 may have become 2.0."""
    if isinstance(e, ir.Const):
        return float(e.value) == int(e.value)
    type_ = _without_implicit_cast(e).type
    return isinstance(type_, Scalar) and type_.dtype.is_integral


def _promotes_float32(e: ir.Expr) -> bool:
    """Return whether an operand is a NumPy integer that promotes float32 to float64."""
    type_ = e.type
    return (
        isinstance(type_, Scalar)
        and type_.dtype.is_integral
        and not type_.weak
        and (type_.dtype.bits >= 32)
    )


def _mixture_cause(e: ir.Expr) -> Float64Cause:
    text = f"{_without_implicit_cast(e).type} and a float together are float64"
    return Float64Cause(e.span, text, "convert it: float32(...)")


def _literal_cause(e: ir.Expr) -> Float64Cause:
    assert isinstance(e.type, Scalar)
    float_type = "complex64" if _is_complex(e) else "float32"
    if not e.type.weak:
        hint = f"write {float_type}(...) in the place of {e.type}(...), or around a global"
        return Float64Cause(e.span, f"this is {e.type}", hint)
    kind = "complex number" if _is_complex(e) else "float"
    text = f"a Python {kind} with no {float_type} beside it"
    return Float64Cause(
        e.span, text, f"write {float_type}(...) around it, or @kernel(weak_float='float32')"
    )


def _array_cause(e: ir.Load) -> Float64Cause:
    name = source_name(e.array.name)
    conversion = f"or convert what is read: float32({name}[...])"
    match array_type(e.array).space:
        case MemorySpace.SHARED | MemorySpace.CLUSTER:
            hint = f"make it cuda.shared.array(..., float32), {conversion}"
        case MemorySpace.LOCAL:
            hint = f"make it cuda.local.array(..., float32), {conversion}"
        case MemorySpace.CONSTANT:
            hint = f"make {name} an array of numpy.float32, {conversion}"
        case _:
            hint = f"pass {name} as float32, {conversion}"
    return Float64Cause(e.span, f"`{name}` holds float64", hint, e.array.name)
