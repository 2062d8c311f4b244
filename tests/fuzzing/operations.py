"""Operators: arithmetic of every pair of types, comparisons, logic, the conditional expression."""

from __future__ import annotations

from functools import cache

from fuzzing.expressions import (
    absorbed,
    any_expression,
    any_type,
    expression,
    makes,
    not_constant,
    only,
)
from fuzzing.writing import SCALARS, WIDEST, Made, Writer
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar
from pycu2c.ops.operators import (
    ADD,
    AND,
    BINARY_BY_NODE,
    DIV,
    EQ,
    FLOORDIV,
    MOD,
    MUL,
    NE,
    OPERATORS,
    OR,
    POW,
    SHL,
    SHR,
    SUB,
    XOR,
    Operator,
    bool_result,
)  # fmt: skip

_ARITHMETIC: tuple[tuple[float, Operator], ...] = (
    (4, ADD), (4, SUB), (3, MUL), (2, DIV), (2, FLOORDIV), (2, MOD), (1, AND), (1, OR), (1, XOR),
    (1, SHL), (1, SHR), (0.5, POW),
)  # fmt: skip
_COMPARISONS = tuple(o for o in OPERATORS if o.result is bool_result)
_EQUALITIES = (EQ, NE)
assert {o for _, o in _ARITHMETIC} | set(_COMPARISONS) == set(BINARY_BY_NODE.values())


@cache
def operand_types(operator: Operator, kind: Scalar) -> tuple[tuple[Scalar, Scalar], ...]:
    """The pairs of types that an operator turns into ``kind``."""
    found = []
    for a in SCALARS:
        for b in SCALARS:
            common = operator.operands(a, b)
            if common is not None and operator.result(common) == kind:
                found.append((a, b))
    return tuple(found)


def _pair_of_types(
    w: Writer, pairs: tuple[tuple[Scalar, Scalar], ...], kind: Scalar
) -> tuple[Scalar, Scalar]:
    """Most often with ``kind`` itself on a side, and often with a weak partner."""
    near = [p for p in pairs if kind in p]
    if near and w.chance(0.85):
        same = [p for p in near if p == (kind, kind)]
        weak = [p for p in near if p[0].weak != p[1].weak]
        chosen = w.pick((same, weak, near))
        return w.pick(chosen or near)
    return w.pick(pairs)


def _operands(w: Writer, pair: tuple[Scalar, Scalar], depth: int) -> tuple[Made, Made]:
    """Both sides; one of them is no constant, so that nothing is folded beyond its type."""
    left, right = expression(w, pair[0], depth - 1), expression(w, pair[1], depth - 1)
    if left.constant and right.constant:
        if w.chance(0.5):
            left = not_constant(w, left)
        else:
            right = not_constant(w, right)
    return left, right


@makes(8, lambda kind: kind != WEAK_BOOL)
def arithmetic(w: Writer, kind: Scalar, depth: int) -> Made | None:
    rows = [r for r in _ARITHMETIC if operand_types(r[1], kind)]
    if not rows:
        return None
    operator = w.weighted(rows)
    if operator is POW:
        return _power(w, kind, depth)
    left, right = _operands(w, _pair_of_types(w, operand_types(operator, kind), kind), depth)
    if operator in (SHL, SHR):
        return _shift(w, operator, kind, left, right)
    bits = _width(operator, left, right) if kind == WEAK_INT else 0
    text = f"{left.operand} {operator.symbol} {right.operand}"
    if bits > WIDEST:
        return Made(f"{left.operand} & {right.operand}", kind, max(left.bits, right.bits))
    return Made(text, kind, bits)


def _width(operator: Operator, left: Made, right: Made) -> int:
    widest = max(left.bits, right.bits)
    if operator is MUL:
        return left.bits + right.bits
    return widest + (operator in (ADD, SUB))


def _shift(w: Writer, operator: Operator, kind: Scalar, left: Made, right: Made) -> Made:
    if w.chance(0.6):
        amount = w.rng.randrange(0, min(kind.dtype.bits + 3, 100))
        right = Made(str(amount), WEAK_INT, 7, True)
        if left.constant:
            left = not_constant(w, left)
        if left.type != kind:
            left = not_constant(w, Made("", kind, left.bits))
    if kind != WEAK_INT or operator is SHR:
        return Made(f"{left.operand} {operator.symbol} {right.operand}", kind, left.bits)
    amount = w.rng.randrange(0, 12)
    if left.constant:
        left = not_constant(w, left)
    if left.bits + amount > WIDEST:
        return Made(f"{left.operand} >> {amount}", kind, left.bits)
    return Made(f"{left.operand} << {amount}", kind, left.bits + amount)


def _power(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Of integers; that of floats is a library function."""
    if not kind.dtype.is_integer:
        return None
    if kind == WEAK_INT:
        base = expression(w, WEAK_INT, depth - 1)
        if base.constant:
            base = not_constant(w, base)
        return Made(f"({base.operand} % 1000) ** {w.rng.randrange(0, 4)}", kind, 30)
    base = expression(w, kind, depth - 1)
    if base.constant:
        base = not_constant(w, base)
    if w.chance(0.5):
        return Made(f"{base.operand} ** {w.rng.randrange(0, 9)}", kind)
    exponent = expression(w, kind, depth - 1)
    if exponent.constant:
        exponent = not_constant(w, exponent)
    return Made(f"{base.operand} ** {exponent.operand}", kind)


@makes(1.5, any_type)
def unary(w: Writer, kind: Scalar, depth: int) -> Made | None:
    if kind.dtype.kind is DTypeKind.BOOL:
        return None if kind.weak else Made(f"~{expression(w, kind, depth - 1).operand}", kind)
    sign = w.pick("-+~" if kind.dtype.is_integer else "-+")
    inner = expression(w, kind, depth - 1)
    if inner.constant:
        inner = not_constant(w, inner)
    return Made(f"{sign}{inner.operand}", kind, inner.bits + 1)


@makes(6, only(WEAK_BOOL))
def comparison(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Of numbers of any types, and chains of up to three."""
    first = w.scalar()
    parts = [expression(w, first, depth - 1)]
    text = parts[0].operand
    for _ in range(w.weighted([(6, 1), (2, 2), (0.5, 3)])):
        other = first if w.chance(0.6) else w.scalar()
        right = expression(w, other, depth - 1)
        if parts[-1].constant and right.constant:
            right = not_constant(w, right)
        row = w.pick(_EQUALITIES if _complex_near(parts[-1], right) else _COMPARISONS)
        text += f" {row.symbol} {right.operand}"
        parts.append(right)
    return Made(text, WEAK_BOOL, 1)


def _complex_near(a: Made, b: Made) -> bool:
    return a.type.dtype.is_complex or b.type.dtype.is_complex


@makes(1.5, any_type)
def logic(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``and``, ``or``: one of their values, in the joined type."""
    partner = absorbed(w, kind)
    parts = [expression(w, kind, depth - 1), expression(w, partner, depth - 1)]
    if w.chance(0.2):
        parts.append(expression(w, kind, depth - 1))
    w.rng.shuffle(parts)
    if parts[0].constant:
        parts[0] = not_constant(w, parts[0])
    word = w.pick((" and ", " or "))
    return Made(word.join(p.operand for p in parts), kind, max(p.bits for p in parts))


@makes(1.5, only(WEAK_BOOL))
def negation(w: Writer, kind: Scalar, depth: int) -> Made | None:
    return Made(f"not {any_expression(w, depth - 1).operand}", WEAK_BOOL, 1)


@makes(1.5, any_type)
def ternary(w: Writer, kind: Scalar, depth: int) -> Made | None:
    arms = [expression(w, kind, depth - 1), expression(w, absorbed(w, kind), depth - 1)]
    w.rng.shuffle(arms)
    text = f"{arms[0].operand} if ({condition(w, depth - 1)}) else {arms[1].operand}"
    return Made(text, kind, max(a.bits for a in arms))


def condition(w: Writer, depth: int) -> str:
    """Most often a comparison; any number may stand there."""
    if w.chance(0.8):
        made = comparison(w, WEAK_BOOL, max(depth, 1))
        assert made is not None
        return made.text
    made = expression(w, w.pick((WEAK_BOOL, w.scalar())), depth)
    return not_constant(w, made).text if made.constant else made.text
