"""Generate the C++ of barriers and warp operations from their declarations.

``ops/intrinsics/threads`` declares the result of each operation (``collective=``). The functions
are for kernels whose threads are fibers with stacks of their own. They call the synchronizing
functions of ``headers/synchronization.h``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from pycu2c.base.dtypes import INT32, UINT32
from pycu2c.base.records import dataclass, field
from pycu2c.csyntax import nodes as c
from pycu2c.csyntax.expression_printer import print_expr
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.ops.intrinsics.threads import barriers, warp
from pycu2c.ops.intrinsics.threads.collective import Collective, Operand, Value
from pycu2c.ops.operators import Operator

# __match_all_sync has another signature in CUDA C; synchronization.h defines it
_COLLECTIVES = tuple(
    member
    for module in (barriers, warp)
    for member in vars(module).values()
    if isinstance(member, Intrinsic) and member.synchronizes and member.collective
    if member is not warp.match_all_lanes
)
_UNSIGNED_ONLY = (warp.REDUCE_AND, warp.REDUCE_OR, warp.REDUCE_XOR)  # CUDA has no int overloads


@functools.cache
def collective_functions() -> str:
    """Return the definitions of CUDA's functions."""
    return "\n".join(text for intrinsic in _COLLECTIVES for text in _definitions(intrinsic))


def _cuda_name(intrinsic: Intrinsic) -> str:
    """Return the name of the CUDA function; without one, the intrinsic's name after ``__``."""
    assert intrinsic.cuda is not None
    parameters = {name: c.Name(name) for name, _ in intrinsic.parameters}
    expression = intrinsic.cuda(parameters, INT32)
    # f(x) != 0, because CUDA's function f returns a bool as an int
    if isinstance(expression, c.BinaryExpr) and expression.op == "!=":
        expression = expression.left
    if isinstance(expression, c.CallExpr) and expression.arguments == tuple(parameters.values()):
        if expression.function.startswith("__"):
            return expression.function
    return f"__{intrinsic.__name__}"


# ---- the declarations as C++ -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class CxxValue(Value):
    """A value as a C++ expression."""

    expr: c.Expr

    @property
    def constant(self) -> int | None:
        return None

    def literal(self, value: int) -> Value:
        return CxxValue(c.Number(str(value)))

    def binary(self, op: Operator, other: Value) -> Value:
        assert op.c is not None
        return CxxValue(c.BinaryExpr(op.c, self.expr, _expr(other)))

    def as_int32(self) -> Value:
        return self

    def logical_not(self) -> Value:
        return CxxValue(c.UnaryExpr("!", self.expr))

    def logical_or(self, other: Value) -> Value:
        return CxxValue(c.BinaryExpr("||", self.expr, _expr(other)))

    def select(self, if_true: Operand, if_false: Value) -> Value:
        then = self.literal(if_true) if isinstance(if_true, int) else if_true
        return CxxValue(c.Conditional(self.expr, _expr(then), _expr(if_false)))

    def wrapping_add(self, other: Value) -> Value:
        return self + other


def _expr(value: Value) -> c.Expr:
    assert isinstance(value, CxxValue)
    return value.expr


class Exchange(NamedTuple):
    """A call of a synchronizing function of synchronization.h."""

    function: str
    operand: str  # the last argument; empty if there is none


@dataclass(slots=True)
class CxxCollective(Collective):
    """The exchanges of one call, in order; ``result_0`` is the result of the first."""

    exchanges: list[Exchange] = field(default_factory=list)

    def __getitem__(self, parameter: str) -> Value:
        return CxxValue(c.Name(parameter))

    @property
    def thread(self) -> Value:
        return CxxValue(c.Name("thread"))

    @property
    def participants(self) -> Value:
        return self.ballot("participants")

    def count(self, name: str, condition: Value) -> Value:
        return self._exchange("count", print_expr(_expr(condition)))

    def ballot(self, name: str, condition: Value | None = None) -> Value:
        return self._exchange("ballot", print_expr(_expr(condition)) if condition else "true")

    def shuffle(
        self, source: Value, is_in_range: Value | None = None, otherwise: Value | None = None
    ) -> Value:
        if is_in_range is not None:
            source = is_in_range.select(source, otherwise or self.thread)
        return self._exchange("shuffle", print_expr(_expr(source)))

    def matching_lanes(self) -> Value:
        return self._exchange("matching_lanes", "")

    def reduce(self, combine: Callable[[Value, Value], Value], start: int | None = None) -> Value:
        combined = _expr(combine(CxxValue(c.Name("a")), CxxValue(c.Name("b"))))
        return self._exchange("reduce", f"[](auto a, auto b) {{ return {print_expr(combined)}; }}")

    def _exchange(self, function: str, operand: str) -> Value:
        self.exchanges.append(Exchange(function, operand))
        return CxxValue(c.Name(f"result_{len(self.exchanges) - 1}"))


def _exchanges_and_result(intrinsic: Intrinsic) -> tuple[list[Exchange], str]:
    """Return the exchanges of a call, and its result as C++."""
    assert intrinsic.collective is not None
    call = CxxCollective()
    result = print_expr(_expr(intrinsic.collective(call)))
    return call.exchanges, result


# ---- functions ----------------------------------------------------------------------------------


def _definitions(intrinsic: Intrinsic) -> Iterator[str]:
    exchanges, result = _exchanges_and_result(intrinsic)
    body = "\n".join(
        f"    const auto result_{number} = {_exchange_call(intrinsic, exchange)};"
        for number, exchange in enumerate(exchanges)
    )
    uses_thread = any(exchange.function == "shuffle" for exchange in exchanges)
    thread = "    const int thread = (int)pycu2c::thread_rank();\n" if uses_thread else ""
    for head, element in _overloads(intrinsic, exchanges):
        # the macro declares the parameter ``line``, whose default is the line of the call
        parameters = ", ".join((*_parameters(intrinsic, element), "PYCU2C_LINE_PARAMETER"))
        yield (
            f"{head} {_cuda_name(intrinsic)}({parameters}) {{\n"
            f"{thread}{body}\n    return {result};\n}}"
        )


def _exchange_call(intrinsic: Intrinsic, exchange: Exchange) -> str:
    if not intrinsic.parameters:
        return "pycu2c::active_lanes(line)"
    arguments = [name for name, kind in intrinsic.parameters if name == "mask" or kind == "T"]
    passed = ", ".join((*arguments, *((exchange.operand,) if exchange.operand else ()), "line"))
    return f"pycu2c::{exchange.function}({passed})"


def _overloads(intrinsic: Intrinsic, exchanges: list[Exchange]) -> Iterator[tuple[str, str]]:
    """Yield the specifiers and result of each overload, and the type of its values."""
    result = {"int": intrinsic.c_result.cuda if intrinsic.c_result else "int", "bool": "int"}
    if all(kind != "T" for _, kind in intrinsic.parameters):
        yield f"static inline {result[intrinsic.result]}", ""
    elif any(exchange.function == "reduce" for exchange in exchanges):
        for dtype in (UINT32,) if intrinsic in _UNSIGNED_ONLY else (UINT32, INT32):
            yield f"static inline {dtype.cuda}", dtype.cuda
    else:
        yield f"template <class T> static inline {result.get(intrinsic.result, 'T')}", "T"


def _parameters(intrinsic: Intrinsic, element: str) -> Iterator[str]:
    for name, kind in intrinsic.parameters:
        type_name = "unsigned" if name == "mask" else element if kind == "T" else "int"
        default = f" = {intrinsic.defaults[name]}" if name in intrinsic.defaults else ""
        yield f"{type_name} {name}{default}"
