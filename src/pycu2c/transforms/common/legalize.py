"""Legalize: replace Python's semantics with C's.

``x // n`` -> ``x / n`` where x >= 0 and n > 0 are proved, else a call of a helper. Covers floor
division, powers, shifts, indices and overflow. Requires the form TYPED (``ir/forms.py``);
guarantees that operators and indices have C's meaning. Uses the range analysis to select C's
cheaper operators.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pycu2c.analysis.launch_ranges import IndexRules
from pycu2c.analysis.nonnegative_floats import is_nonnegative
from pycu2c.analysis.ranges.interval_arithmetic import (
    Interval,
    all_values,
    exact_result,
    fit_to_type,
    is_exact,
)
from pycu2c.analysis.ranges.range_analysis import Ranges
from pycu2c.analysis.value_numbering import value_number
from pycu2c.analysis.variables import count_uses, single_assignments
from pycu2c.base import dtypes
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import WEAK_INT32, Scalar
from pycu2c.base.values import fits
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import binary, cast, const, let, scalar_type, unary, wrapping_arithmetic
from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.floats import complex as complex_intrinsics
from pycu2c.ops.intrinsics.memory.subscripts import SUBSCRIPTS, from_start
from pycu2c.ops.intrinsics.registry import REGISTRY
from pycu2c.transforms.common import legalize_complex, legalize_half, range_loops
from pycu2c.transforms.common.legalize_comparisons import compare_exactly, int_compared_with_float
from pycu2c.transforms.common.legalize_indices import IndexLegalizer


def legalize(module: ir.Module, rules: IndexRules, ranges: Mapping[str, Ranges]) -> ir.Module:
    """Legalize all functions of a module; ``rules``: the wraparound and the width of indices."""
    return walk.map_functions(module, lambda f: _legalize_function(f, ranges[f.name], rules))


def _legalize_function(function: ir.Function, ranges: Ranges, rules: IndexRules) -> ir.Function:
    legalizer = _Legalizer(function, ranges, rules)
    return replace(function, body=legalizer.body(function.body))


@dataclass(slots=True)
class _Legalizer:
    function: ir.Function
    ranges: Ranges
    rules: IndexRules
    indices: IndexLegalizer = field(init=False)
    uses: Counter[str] = field(init=False)  # of each variable, parameters included
    _legalized: dict[int, ir.Expr] = field(default_factory=dict)  # shared nodes stay shared
    _fresh: int = 0

    def __post_init__(self) -> None:
        self.indices = IndexLegalizer(self.function, self.ranges, self.rules, self.fresh)
        self.uses = count_uses(self.function.body)
        self.uses.update(p.name for p in self.function.parameters)

    def body(self, body: ir.Body) -> ir.Body:
        out: list[ir.Stmt] = []
        for s in body:
            out += self.statement(s)
        return tuple(out)

    def statement(self, s: ir.Stmt) -> ir.Body:
        old = walk.operands(s)
        new = walk.with_operands(s, tuple(self.expression(e) for e in old))
        new = walk.with_bodies(new, tuple(self.body(b) for b in walk.bodies(s)))
        if isinstance(new, ir.Store):
            assert isinstance(s, ir.Store)
            indices = self.indices.legalize(new.array, s.indices, new.indices)
            return (walk.with_indices(new, indices),)
        if isinstance(new, ir.For):
            assert isinstance(s, ir.For)
            stop_and_step = self.ranges.of(s.stop), self.ranges.of(s.step)
            is_used_outside = self.uses[s.var.name] > count_uses((s,))[s.var.name]
            return range_loops.legalize_for(new, is_used_outside, stop_and_step, self.fresh)
        if isinstance(new, ir.Assign):
            return (new, *self.indices.after_assignment(new))
        return (new,)

    def expression(self, e: ir.Expr) -> ir.Expr:
        if id(e) not in self._legalized:
            new = walk.map_children(e, self.expression)
            self._legalized[id(e)] = self._legalize_node(e, new)
            if isinstance(e, ir.Cast) and self._is_exact_int32(e):
                self.indices.exact_casts.add(id(self._legalized[id(e)]))
        return self._legalized[id(e)]

    def _is_exact_int32(self, e: ir.Cast) -> bool:
        """Return whether e is an int64 as an int32 that has its value."""
        from_int64 = scalar_type(e.operand).dtype is dtypes.INT64
        int32 = Scalar(dtypes.INT32)
        return e.type == int32 and from_int64 and is_exact(self.ranges.of(e.operand), int32)

    def fresh(self, hint: str) -> str:
        self._fresh += 1
        return f"{hint}.l{self._fresh}"

    def _legalize_node(self, old: ir.Expr, new: ir.Expr) -> ir.Expr:
        match old, new:
            case ir.Binary(), ir.Binary():
                return self._binary(old, new)
            case ir.Unary(), ir.Unary():
                return self._unary(old, new)
            case ir.Cast(), ir.Cast() if new.type.dtype.is_complex:
                return self._complex_cast(new)
            case ir.Cast(), ir.Cast() if (
                new.type.dtype.is_half or scalar_type(new.operand).dtype.is_half
            ):
                return legalize_half.half_cast(new)
            case ((ir.Load() | ir.ElementOf()), (ir.Load() | ir.ElementOf())):
                indices = self.indices.legalize(new.array, old.indices, new.indices)
                return walk.with_indices(new, indices)
            case ir.Apply(), ir.Apply() if _is_complex_abs(new):
                return legalize_complex.complex_abs(new, self.fresh)
            case ir.Apply(), ir.Apply() if new.intrinsic is from_start:
                return new.arguments[0]  # it counts from the start: no wraparound
            case ir.Apply(), ir.Apply() if new.intrinsic in SUBSCRIPTS:
                return self.indices.subscript(new, self.ranges.of(old.arguments[0]))
            case ir.View(), ir.View():
                return replace(new, first=self.indices.legalize(new.array, old.first, new.first))
            case _:
                return new

    # ---- arithmetic ----

    def _binary(self, old: ir.Binary, new: ir.Binary) -> ir.Expr:
        if scalar_type(new.left).dtype.is_half:
            helper_call = legalize_half.half_binary(new, self.fresh)
            promoted = legalize_half.promote_to_float(new)
            return helper_call or legalize_half.round_to_half(self._binary(promoted, promoted), new)
        if scalar_type(new.left).dtype.is_complex:
            return legalize_complex.complex_binary(new, self.fresh)
        left, right = self.ranges.of(old.left), self.ranges.of(old.right)
        new = _with_one_constant(new)
        match new.op:
            case _ if (operand := _identity_operand(new)) is not None:
                return operand  # these occur in unrolled loops
            case _ if new.op in (ops.ADD, ops.SUB, ops.MUL):
                negated = _negated(new, left, right)
                if scalar_type(new).dtype is dtypes.INT16 and negated is not None:
                    # ptxas does not sign-extend a negated int16: python.neg negates in 32 bits
                    return ir.Apply(REGISTRY["python.neg"], (negated,), new.type, new.span)
                return self._wrapping_arithmetic(new, self.ranges.of(old))
            case _ if new.op is ops.MOD and (
                selected := self._modulo_by_selection(new, self.ranges.quotient(old))
            ):
                return selected
            case _ if new.op in (ops.FLOORDIV, ops.MOD):
                return self._floor_division(new, left, right)
            case _ if new.op is ops.POW:
                return self._power(new, old.left, left)
            case _ if new.op in (ops.SHL, ops.SHR):
                return self._shift(new, right)
            case _ if new.op.result is ops.bool_result and (
                int_operand := int_compared_with_float(old)
            ):
                return compare_exactly(new, self.ranges.of(int_operand), self.fresh)
            case _ if new.op.result is ops.bool_result:
                return _narrow_comparison(new)
            case _:
                return new

    def _modulo_by_selection(self, e: ir.Binary, quotients: Interval) -> ir.Expr | None:
        """Replace ``x % n`` by selections for x in [-n, 2n): about ten times as fast.

        The result is ``x < 0 ? x + n : x < n ? x : x - n``, without the selections that the
        interval of the quotient ``x // n`` excludes.
        """
        operand_type = scalar_type(e)
        is_near = quotients.low >= -1 and quotients.high <= 1
        # a mask suffices for powers of two; 8- and 16-bit operands would need casts to C's int
        if not is_near or operand_type.dtype.bits < 32 or _power_of_two(e.right) is not None:
            return None

        def select(index: ir.Expr, length: ir.Expr) -> ir.Expr:
            result = index
            if quotients.high > 0:
                wrapped = ir.Binary(ops.SUB, index, length, operand_type, e.span)
                in_range = binary(ops.LT, index, length, e.span)
                result = ir.Select(in_range, index, wrapped, operand_type, e.span)
            if quotients.low < 0:
                negative = binary(ops.LT, index, const(0, e.span, operand_type), e.span)
                from_end = ir.Binary(ops.ADD, index, length, operand_type, e.span)
                result = ir.Select(negative, from_end, result, operand_type, e.span)
            return result

        def bind_length(index: ir.Expr) -> ir.Expr:
            return let(e.right, "length", self.fresh, lambda length: select(index, length))

        return let(e.left, "at", self.fresh, bind_length)

    def _floor_division(self, e: ir.Binary, left: Interval, right: Interval) -> ir.Expr:
        operand_type = scalar_type(e.left)
        names = {ops.FLOORDIV: "python.floordiv", ops.MOD: "python.mod"}
        if operand_type.dtype.is_float:
            return ir.Apply(REGISTRY[names[e.op]], (e.left, e.right), operand_type, e.span)
        if left.low >= 0 and right.low > 0:
            c_operator = ops.C_DIV if e.op is ops.FLOORDIV else ops.C_REM
            return ir.Binary(c_operator, e.left, e.right, operand_type, e.span)
        power = _power_of_two(e.right)
        if power is not None:  # an arithmetic shift and a mask round down as Python does
            if e.op is ops.FLOORDIV:
                return ir.Binary(
                    ops.C_SHR, e.left, const(power, e.span, operand_type), operand_type, e.span
                )
            return ir.Binary(
                ops.AND, e.left, const((1 << power) - 1, e.span, operand_type), operand_type, e.span
            )
        return ir.Apply(REGISTRY[names[e.op]], (e.left, e.right), operand_type, e.span)

    def _power(self, e: ir.Binary, old_base: ir.Expr, base_range: Interval) -> ir.Expr:
        operand_type = scalar_type(e.left)
        exponent = e.right.value if isinstance(e.right, ir.Const) else None
        if exponent in (0, 1, 2, 3, 4):
            count = int(exponent)

            def product(base: ir.Expr) -> ir.Expr:
                return self._product(base, base_range, count, e)

            return let(e.left, "base", self.fresh, product)
        if exponent == 0.5 and is_nonnegative(old_base, single_assignments(self.function)):
            return ir.Apply(REGISTRY["math.sqrt"], (e.left,), operand_type, e.span)
        if exponent == -1 and operand_type.dtype.is_float:
            return binary(ops.DIV, const(1, e.span, operand_type), e.left, e.span)
        return ir.Apply(REGISTRY["python.pow"], (e.left, e.right), operand_type, e.span)

    def _product(self, base: ir.Expr, base_range: Interval, exponent: int, e: ir.Binary) -> ir.Expr:
        operand_type = scalar_type(base)
        if exponent == 0:
            return const(1, e.span, operand_type)
        result, interval = base, base_range
        for _ in range(exponent - 1):
            interval = fit_to_type(
                exact_result(ops.MUL, interval, base_range, operand_type.dtype), operand_type
            )
            result = self._wrapping_arithmetic(
                ir.Binary(ops.MUL, result, base, operand_type, e.span), interval
            )
        return result

    def _shift(self, e: ir.Binary, amount: Interval) -> ir.Expr:
        operand_type = scalar_type(e.left)
        if amount.low >= 0 and amount.high < operand_type.dtype.bits:
            if e.op is ops.SHR:  # a right shift stays in its type
                return replace(e, op=ops.C_SHR)
            return _in_c_int(replace(e, op=ops.C_SHL), operand_type)
        name = "python.shl" if e.op is ops.SHL else "python.shr"
        return ir.Apply(REGISTRY[name], (e.left, e.right), operand_type, e.span)

    def _wrapping_arithmetic(self, e: ir.Binary, result: Interval) -> ir.Expr:
        """Compute in unsigned integers if the result may overflow.

        Signed overflow is undefined in C; Python ints and NumPy scalars wrap.
        """
        operand_type = scalar_type(e.left)
        if operand_type.dtype.kind is DTypeKind.BOOL:  # numpy: True + True is True
            return replace(e, op=ops.OR if e.op is ops.ADD else ops.AND)
        if operand_type.dtype.bits < 32:
            return _in_c_int(e, operand_type)
        # the range analysis has proved that the values of a weak int32 fit
        cannot_overflow = operand_type == WEAK_INT32 or result != all_values(operand_type)
        if operand_type.dtype.kind is not DTypeKind.SIGNED or cannot_overflow:
            return e
        return wrapping_arithmetic(e.op, e.left, e.right, e.span)

    def _unary(self, old: ir.Unary, new: ir.Unary) -> ir.Expr:
        operand_type = scalar_type(new.operand)
        if operand_type.dtype.is_half and new.op is not ops.NOT:
            return legalize_half.half_unary(new)
        if new.op is ops.POS and operand_type.dtype.is_complex:  # C has no unary plus for structs
            return new.operand
        if new.op is ops.NEG and operand_type.dtype.is_complex:
            return ir.Apply(complex_intrinsics.NEGATION, (new.operand,), operand_type, new.span)
        if new.op not in (ops.NEG, ops.INVERT) or not operand_type.dtype.is_integer:
            return new
        may_be_minimum = self.ranges.of(old.operand).low <= operand_type.dtype.minimum
        if new.op is ops.NEG and operand_type.dtype is dtypes.INT16 and may_be_minimum:
            # see ``_binary``
            return ir.Apply(REGISTRY["python.neg"], (new.operand,), operand_type, new.span)
        if operand_type.dtype.bits < 32:
            int32 = Scalar(dtypes.INT32)
            return cast(unary(new.op, cast(new.operand, int32), new.span), operand_type)
        if new.op is ops.NEG and operand_type.dtype.is_signed and operand_type != WEAK_INT32:
            if may_be_minimum:
                zero = const(0, new.span, operand_type)
                return wrapping_arithmetic(ops.SUB, zero, new.operand, new.span)
        return new

    def _complex_cast(self, e: ir.Cast) -> ir.Expr:
        """Convert a complex number to another complex type by components."""
        operand_type = scalar_type(e.operand)
        if operand_type.dtype is e.type.dtype:
            return e
        component_type = Scalar(e.type.dtype.real)

        def convert(value: ir.Expr) -> ir.Expr:
            components = tuple(
                cast(ir.Member(value, f.name, Scalar(f.dtype), e.span), component_type)
                for f in operand_type.dtype.fields
            )
            return ir.Pack(components, e.type, e.span)

        return let(e.operand, "value", self.fresh, convert)


def _narrow_comparison(e: ir.Binary) -> ir.Binary:
    """Replace ``int64(x) < int64(y)`` of two int32 by ``x < y``."""
    int32 = Scalar(dtypes.INT32)
    sides = (e.left, e.right)
    if scalar_type(e.left).dtype is dtypes.INT64 and all(_fits_int32(side) for side in sides):
        left, right = (cast(side, int32) for side in sides)
        return replace(e, left=left, right=right)
    return e


def _fits_int32(e: ir.Expr) -> bool:
    """Return whether an int64 is a converted int32, or a literal in the int32 range."""
    if isinstance(e, ir.Const):
        return fits(int(e.value), Scalar(dtypes.INT32))
    return isinstance(e, ir.Cast) and scalar_type(e.operand).dtype is dtypes.INT32


def _power_of_two(e: ir.Expr) -> int | None:
    if not isinstance(e, ir.Const):
        return None
    value = int(e.value)
    return value.bit_length() - 1 if value > 0 and value & (value - 1) == 0 else None


def _is_complex_abs(e: ir.Apply) -> bool:
    """Return whether this is ``abs`` of a complex number.

    The type test comes first, so that the module of complex functions is imported only if needed.
    """
    types = [argument.type for argument in e.arguments]
    is_complex = any(isinstance(t, Scalar) and t.dtype.is_complex for t in types)
    return is_complex and e.intrinsic is complex_intrinsics.ABS


def _identity_operand(e: ir.Binary) -> ir.Expr | None:
    """Return the operand that equals an integer ``x + 0``, ``x - 0``, ``x * 1`` or ``x * 0``."""
    if e.op in (ops.ADD, ops.SUB) and _is_integer(e.right, 0):
        return e.left
    if e.op is ops.ADD and _is_integer(e.left, 0):
        return e.right
    if e.op is not ops.MUL:
        return None
    for factor, other in ((e.left, e.right), (e.right, e.left)):
        if _is_integer(factor, 1):
            return other
        if _is_integer(factor, 0) and value_number(other) is not None:
            return factor
    return None


def _with_one_constant(e: ir.Binary) -> ir.Binary:
    """Return ``x + 3`` for ``(x + 4) - 1`` of integers; neither sum overflows before the last."""
    inner, operators = e.left, (ops.ADD, ops.SUB)
    if not isinstance(inner, ir.Binary) or e.op not in operators or inner.op not in operators:
        return e
    if not (isinstance(inner.right, ir.Const) and isinstance(e.right, ir.Const)):
        return e
    scalar = scalar_type(e)
    if not scalar.dtype.is_integer:
        return e
    terms = ((inner.op, inner.right), (e.op, e.right))
    total = sum(int(x.value) if op is ops.ADD else -int(x.value) for op, x in terms)
    if not fits(abs(total), scalar):
        return e
    op = ops.ADD if total >= 0 else ops.SUB
    return replace(e, op=op, left=inner.left, right=const(abs(total), e.span, scalar))


def _is_integer(e: ir.Expr, value: int) -> bool:
    """Return whether this is a constant integer; for floats, ``-0.0 + 0.0`` is not ``-0.0``."""
    return isinstance(e, ir.Const) and e.value == value and e.type.dtype.is_integer


def _negated(e: ir.Binary, left: Interval, right: Interval) -> ir.Expr | None:
    """Return ``x`` for ``0 - x`` and ``-1 * x``, which C compilers treat as ``-x``."""
    if e.op is ops.SUB and left == Interval(0, 0):
        return e.right
    if e.op is ops.MUL and left == Interval(-1, -1):
        return e.right
    return e.left if e.op is ops.MUL and right == Interval(-1, -1) else None


def _in_c_int(e: ir.Binary, operand_type: Scalar) -> ir.Expr:
    """Compute 8- and 16-bit arithmetic in C's int and convert the result back."""
    if operand_type.dtype.bits >= 32:
        return e
    # uint16 * uint16 overflows an int
    int_type = Scalar(
        dtypes.UINT32 if e.op is ops.MUL and not operand_type.dtype.is_signed else dtypes.INT32
    )
    left, right = cast(e.left, int_type), cast(e.right, int_type)
    return cast(ir.Binary(e.op, left, right, int_type, e.span), operand_type)
