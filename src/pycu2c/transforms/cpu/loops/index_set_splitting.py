"""Split loops over threads where a row begins, or an index becomes positive or wraps (CPU).

Before::

    for i in threads(start, stop) in lockstep:
        declare row: int = i // width
        declare column: int = i % width
        out[i] = a[row] * b[column]

After::

    declare i.first: int = start
    while i.first < stop:
        declare row: int = i.first // width
        declare column.first: int = i.first % width
        declare i.end: int = i.first + min(stop - i.first, max(width - column.first, 1))
        for i in threads(i.first, i.end) in lockstep:
            out[i] = a[row] * b[i + (column.first - i.first)]
        i.first = i.end

Between two splits a quotient is constant, and a remainder, an int32 index and an index that may
count from the end of an axis grow by one from thread to thread. So the loop has no divisions, and
it loads and stores adjacent elements. If the width is not positive, each part has one thread.
Requires the form AXIS_LOOPS (``ir/forms.py``). Reference: Banerjee, "Loop Transformations for
Restructuring Compilers" (1993), on index set splitting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pycu2c.analysis.variables import NameGenerator, fresh_names, single_definitions
from pycu2c.base.dtypes import DType
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT, Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir.builders import binary, cast, const, integer, scalar_type
from pycu2c.ir.name_suffixes import END, FIRST
from pycu2c.ir.printer import print_expr
from pycu2c.ir.walk import (
    contains,
    map_bodies,
    map_children,
    map_operands,
    map_stmt,
    statements,
    with_kernel_body,
)
from pycu2c.ops.intrinsics.builtins import OPERATOR_INTRINSICS
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.ops.operators import (
    ADD,
    C_DIV,
    C_REM,
    FLOORDIV,
    LT,
    MOD,
    MUL,
    SUB,
    Operator,
)

_MIN_DIVISOR = 8  # of constants: the parts would be shorter than a vector
_OFFSET = "offset"
_C_OPERATORS = {C_DIV: FLOORDIV, C_REM: MOD}
_DIVISIONS = {OPERATOR_INTRINSICS[op]: op for op in (FLOORDIV, MOD)}


def split_index_sets(module: ir.Module, assumptions: LaunchAssumptions) -> ir.Module:
    """Split the kernel's innermost loops over threads."""
    kernel = module.kernel
    fresh = fresh_names(kernel)

    def process(s: ir.Stmt) -> ir.Body:
        if not isinstance(s, ir.AxisLoop) or not _is_candidate(s):
            return (s,)
        return _Splitter(s, fresh, assumptions).split()

    return with_kernel_body(module, map_stmt(kernel.body, process))


def _is_candidate(loop: ir.AxisLoop) -> bool:
    is_dense = isinstance(loop.step, ir.Const) and loop.step.value == 1
    return loop.lockstep and is_dense and not contains(loop.body, ir.AxisLoop)


@dataclass(frozen=True, slots=True)
class _Value:
    """An integer whose value is known throughout a part of the loop.

    first: its value in the first iteration, from variables that are defined outside of the loop.
    grows: whether it grows by one in each iteration, else it is constant.
    crosses: whether it may become positive, or wrap around in its type.
    """

    first: ir.Expr
    grows: bool = False
    crosses: bool = False


@dataclass(slots=True)
class _Splitter:
    """Split one loop. ``limits``: the greatest lengths of a part of the loop."""

    loop: ir.AxisLoop
    fresh: NameGenerator
    assumptions: LaunchAssumptions
    first: ir.Var = field(init=False)
    end: ir.Var = field(init=False)
    definitions: dict[str, ir.Expr] = field(init=False)
    local_names: set[str] = field(init=False)
    prologue: list[ir.Stmt] = field(default_factory=list)
    limits: dict[str, ir.Expr] = field(default_factory=dict)
    bound: dict[str, ir.Var] = field(default_factory=dict)
    values: dict[str, _Value | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        loop = self.loop
        self.first = ir.Var(self.fresh(f"{loop.var.name}.{FIRST}"), WEAK_INT, loop.span)
        self.end = ir.Var(self.fresh(END), WEAK_INT, loop.span)
        declared = Counter(_declared(loop.body))
        self.local_names = set(declared)
        self.definitions = {
            name: value
            for name, value in single_definitions(loop.body).items()
            if declared[name] == 1
        }

    def split(self) -> ir.Body:
        """Return the loop over the parts of the loop, or the loop itself."""
        loop, span = self.loop, self.loop.span
        body = map_stmt(self.block(loop.body), self._without_constant)
        if not self.limits:
            return (loop,)
        next_first = ir.Var(self.fresh(f"{loop.var.name}.{END}"), WEAK_INT, span)
        length = ir.Var(self.fresh("length"), WEAK_INT, span)
        part = (
            *self.prologue,
            ir.Declare(length, binary(SUB, self.end, self.first, span), span),
            *(
                ir.Assign(length, ir.Apply(REGISTRY["min"], (length, n), WEAK_INT, span), span)
                for n in self.limits.values()
            ),
            ir.Declare(next_first, binary(ADD, self.first, length, span), span),
            replace(loop, start=self.first, stop=next_first, body=body),
            ir.Assign(self.first, next_first, span),
        )
        return (
            ir.Declare(self.first, loop.start, span),
            ir.Declare(self.end, loop.stop, span),
            ir.While(binary(LT, self.first, self.end, span), part, span),
        )

    # ---- the body of a part ----

    def block(self, body: ir.Body) -> ir.Body:
        """Return a block with the known values in place of expressions."""
        return tuple(map_bodies(map_operands(s, self.expression), self.block) for s in body)

    def _without_constant(self, s: ir.Stmt) -> ir.Body:
        """Remove the declaration of a constant that has become a variable of the part."""
        value = self.values.get(s.var.name) if isinstance(s, ir.Declare) else None
        return (s,) if value is None or value.grows else ()

    def expression(self, e: ir.Expr) -> ir.Expr:
        if _division(e) or _is_normalized_index(e) or _is_widening(e):
            known = self.value(e)
            if known is not None and (known.grows or _division(e)):
                return self.current(known, scalar_type(e))
        return map_children(e, self.expression)

    def current(self, value: _Value, to: Scalar) -> ir.Expr:
        """Return a known value in any iteration."""
        span = self.loop.span
        if not value.grows:
            return cast(self.bind(value.first, "quotient"), to)
        offset = binary(SUB, cast(value.first, WEAK_INT), self.first, span)
        return cast(binary(ADD, self.loop.var, self.bind(offset, _OFFSET), span), to)

    # ---- known values ----

    def value(self, e: ir.Expr) -> _Value | None:
        """Return the value of an integer expression if it is constant or grows by one."""
        if not _is_wide_integer(e):
            return None
        division = _division(e)
        if division is not None:
            return self._division(*division, scalar_type(e))
        match e:
            case ir.Select() if _is_normalized_index(e):
                return self._normalized_index(e)
            case ir.Var(name=name):
                return self._variable(e) if name in self.local_names else self._outer(e)
            case ir.Const():
                return _Value(e)
            case ir.Cast(operand=operand):
                return self._cast(operand, e)
            case ir.Binary(op=op, left=left, right=right) if op in (ADD, SUB, MUL):
                return self._arithmetic(op, self.value(left), self.value(right), e)
            case _:
                return None

    def _outer(self, e: ir.Var) -> _Value:
        return _Value(self.first, grows=True) if e.name == self.loop.var.name else _Value(e)

    def _variable(self, e: ir.Var) -> _Value | None:
        if e.name not in self.values:
            self.values[e.name] = None
            definition = self.definitions.get(e.name)
            value = None if definition is None else self.value(definition)
            if value is not None and value.grows:
                first = self.bind(value.first, f"{e.name}.{FIRST}")
                value = replace(value, first=first)
            elif value is not None:
                self.prologue.append(ir.Declare(e, value.first, e.span))
                value = replace(value, first=e)
            self.values[e.name] = value
        return self.values[e.name]

    def _cast(self, operand: ir.Expr, e: ir.Cast) -> _Value | None:
        value = self.value(operand)
        if value is None:
            return None
        first = cast(value.first, e.type)
        if not value.grows:
            return _Value(first)
        if _is_widening(e):
            first = self.bind(first, FIRST)
            if value.crosses:
                self._limit_to_sign(first, scalar_type(operand).dtype)
            return _Value(first, grows=True)
        narrows = scalar_type(operand).dtype.bits > e.type.dtype.bits
        return _Value(first, True, value.crosses or (narrows and not self.assumptions.index32_safe))

    def _arithmetic(
        self, op: Operator, left: _Value | None, right: _Value | None, e: ir.Binary
    ) -> _Value | None:
        if left is None or right is None:
            return None
        grows = left.grows or right.grows
        if grows and (op is MUL or right.grows is not (op is ADD and not left.grows)):
            return None
        return _Value(binary(op, left.first, right.first, e.span), grows, crosses=grows)

    def _division(
        self, op: Operator, left: ir.Expr, right: ir.Expr, scalar: Scalar
    ) -> _Value | None:
        dividend, divisor = self.value(left), self.value(right)
        if dividend is None or divisor is None or divisor.grows:
            return None
        a, b, span = dividend.first, divisor.first, self.loop.span

        # the operators of Python: those of C may be undefined outside of a condition
        divided = {
            op: ir.Apply(intrinsic, (a, b), scalar, span) for intrinsic, op in _DIVISIONS.items()
        }
        if not dividend.grows:
            return _Value(divided[op])
        if isinstance(b, ir.Const) and b.value < _MIN_DIVISOR:
            return None
        if dividend.crosses:
            self._limit_to_sign(a, scalar.dtype)
        remainder = self.bind(divided[MOD], "residue")
        left_in_row = binary(SUB, cast(b, WEAK_INT), cast(remainder, WEAK_INT), span)
        self._limit(self._at_least_one(left_in_row))
        return _Value(divided[op]) if op is FLOORDIV else _Value(remainder, grows=True)

    def _normalized_index(self, e: ir.Select) -> _Value | None:
        """Return the value of an index that may count from the end of an axis."""
        index = self.value(e.orelse)
        length = self.value(e.then.right) if isinstance(e.then, ir.Binary) else None
        if index is None or length is None or length.grows:
            return None
        first, span = index.first, e.span
        negative = binary(LT, first, const(0, span, scalar_type(first)), span)
        from_end = binary(ADD, first, length.first, span)
        selected = ir.Select(negative, from_end, first, e.type, span)
        if not index.grows:
            return _Value(selected)
        if index.crosses:
            self._limit_to_sign(first, e.type.dtype)
        return _Value(selected, grows=True)

    # ---- limits ----

    def _limit_to_sign(self, first: ir.Expr, dtype: DType) -> None:
        """End a part before a value of a type becomes positive or wraps around."""
        span = self.loop.span
        wide = self.bind(cast(first, WEAK_INT), FIRST)
        negative = binary(LT, wide, integer(0, span), span)
        limit = integer(min(dtype.maximum + 1, WEAK_INT.dtype.maximum), span)
        selected = ir.Select(negative, integer(0, span), limit, WEAK_INT, span)
        length = binary(SUB, selected, wide, span)
        self._limit(length if dtype.bits < 64 else self._at_least_one(length))

    def _at_least_one(self, length: ir.Expr) -> ir.Expr:
        return ir.Apply(REGISTRY["max"], (length, integer(1, length.span)), WEAK_INT, length.span)

    def _limit(self, length: ir.Expr) -> None:
        self.limits.setdefault(print_expr(length), length)

    def bind(self, value: ir.Expr, name: str) -> ir.Expr:
        """Return a variable of the part with a value; equal values share one."""
        if isinstance(value, ir.Var | ir.Const):
            return value
        key = print_expr(value)
        if key not in self.bound:
            var = ir.Var(self.fresh(name), scalar_type(value), value.span)
            self.prologue.append(ir.Declare(var, value, value.span))
            self.bound[key] = var
        return self.bound[key]


def _declared(body: ir.Body) -> Iterator[str]:
    """Yield the variables that a body declares or assigns, as often as it does."""
    for s in statements(body):
        if isinstance(s, ir.Declare | ir.Assign | ir.For):
            yield s.var.name


def _is_wide_integer(e: ir.Expr) -> bool:
    return isinstance(e.type, Scalar) and _is_wide(e.type.dtype)


def _is_wide(dtype: DType) -> bool:
    return dtype.is_integer and dtype.bits >= 32


def _division(e: ir.Expr) -> tuple[Operator, ir.Expr, ir.Expr] | None:
    """Return the operator of a division of integers, and its operands."""
    match e:
        case ir.Binary(op=op, left=left, right=right) if op in _C_OPERATORS:
            return (_C_OPERATORS[op], left, right) if _is_wide_integer(e) else None
        case ir.Apply(intrinsic, (left, right)) if intrinsic in _DIVISIONS:
            return (_DIVISIONS[intrinsic], left, right) if _is_wide_integer(e) else None
        case _:
            return None


def _is_widening(e: ir.Expr) -> bool:
    """Return whether an expression converts an integer of 32 bits to 64."""
    if not isinstance(e, ir.Cast) or not _is_wide_integer(e) or not _is_wide_integer(e.operand):
        return False
    return scalar_type(e.operand).dtype.bits < e.type.dtype.bits


def _is_normalized_index(e: ir.Expr) -> bool:
    """Return whether an expression is ``index + length if index < 0 else index``."""
    match e:
        case ir.Select(
            condition=ir.Binary(op=comparison, left=tested, right=ir.Const(value=0)),
            then=ir.Binary(op=op, left=negative),
            orelse=index,
        ) if comparison is LT and op is ADD:
            return print_expr(tested) == print_expr(index) == print_expr(negative)
        case _:
            return False
