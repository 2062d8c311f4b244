"""Expressions of a wanted type: one function for each production, and a table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from fuzzing.writing import (
    FLOATS,
    INTEGERS,
    SCALARS,
    SMALL,
    WIDEST,
    ArrayName,
    Made,
    Writer,
)
from pycu2c.dtypes import Kind
from pycu2c.operators import (
    ADD,
    AND,
    BY_NODE,
    DIV,
    FLOORDIV,
    MOD,
    MUL,
    OPERATORS,
    OR,
    POW,
    SHL,
    SHR,
    SUB,
    XOR,
    Operator,
    truth,
)
from pycu2c.types import WEAK_BOOL, WEAK_FLOAT, WEAK_INT, Scalar, join


def expression(w: Writer, kind: Scalar, depth: int) -> Made:
    """An expression whose type is exactly ``kind``."""
    if depth <= 0 or w.chance(0.12):
        return leaf(w, kind)
    rows = [(row.weight, row) for row in EXPRESSIONS if row.applies(kind)]
    made = w.weighted(rows).make(w, kind, depth)
    if made is None:
        return leaf(w, kind)
    return _bounded(w, made)


def _bounded(w: Writer, made: Made) -> Made:
    """A weak int that may be wide is cut."""
    if made.type != WEAK_INT or made.bits <= WIDEST:
        return made
    if w.chance(0.5):
        return Made(f"{made.operand} % {w.pick((7, 1009, 65536))}", WEAK_INT, 17)
    return Made(f"{made.operand} & {w.pick((15, 255, 65535))}", WEAK_INT, 16)


def any_expression(w: Writer, depth: int) -> Made:
    return expression(w, w.scalar(), depth)


# ---- leaves --------------------------------------------------------------------------------------


def leaf(w: Writer, kind: Scalar) -> Made:
    rows: list[tuple[float, Callable[[], Made]]] = []
    names = w.variables(lambda v: v.type == kind)
    if names:
        rows.append((5, lambda: _variable(w, kind)))
    arrays = w.readable(kind)
    if arrays:
        rows.append((3, lambda: element(w, w.pick(arrays))))
    if kind == WEAK_INT:
        rows.append((1.5, lambda: _coordinate(w)))
        if w.arrays:
            rows.append((0.7, lambda: Made(w.pick(w.pick(w.arrays).size_texts), WEAK_INT, 5)))
    constants = [name for name, t in w.constants if t == kind]
    if constants:
        rows.append((1, lambda: Made(w.pick(constants), kind, 7, True)))
    if not kind.weak and not names:
        rows.append((3, lambda: _converted_leaf(w, kind)))
    rows.append((1.5, lambda: literal(w, kind)))
    return w.weighted(rows)()


def _converted_leaf(w: Writer, kind: Scalar) -> Made:
    """A variable or element of another type, as this one."""
    name = type_name(kind)
    fits = [t for t in SCALARS if kind.dtype.is_float or not t.dtype.is_float]
    names = w.variables(lambda v: v.type in fits)
    arrays = [a for a in w.arrays if a.type in fits]
    if names and (not arrays or w.chance(0.5)):
        return Made(f"{name}({w.pick(names).name})", kind)
    if arrays:
        array = w.pick(arrays)
        index = w.pick(array.own or (", ".join(str(w.rng.randrange(-n, n)) for n in array.shape),))
        return Made(f"{name}({array.name}[{index}])", kind)
    return literal(w, kind)


def type_name(kind: Scalar) -> str:
    return "boolean" if kind.dtype.kind is Kind.BOOL else str(kind.dtype)


def _variable(w: Writer, kind: Scalar) -> Made:
    variable = w.pick(w.variables(lambda v: v.type == kind))
    return Made(variable.name, kind, variable.bits)


def _coordinate(w: Writer) -> Made:
    axis = w.pick("xxyz")
    places = ("threadIdx", "blockIdx", "blockDim", "gridDim")
    text = w.pick([*(f"cuda.{p}.{axis}" for p in places), "cuda.grid(1)", "cuda.gridsize(1)"])
    return Made(text, WEAK_INT, 6)


def literal(w: Writer, kind: Scalar) -> Made:
    """A number of a type; of a strong one through a conversion."""
    if kind.weak:
        return _weak_literal(w, kind)
    row = kind.dtype
    if row.kind is Kind.BOOL:
        return Made(f"boolean({w.pick((True, False))})", kind, 0, True)
    if row.is_float:
        return Made(f"{row}({_float_text(w)})", kind, 0, True)
    spread = (0, 1, 2, 3, 5, 7, 100, row.maximum, row.maximum - 1, row.minimum, row.minimum + 1)
    near = [n for n in (*spread, -1, -2, -7) if row.minimum <= n <= row.maximum]
    return Made(f"{row}({w.pick(near)})", kind, 0, True)


def _weak_literal(w: Writer, kind: Scalar) -> Made:
    if kind == WEAK_BOOL:
        return Made(w.pick(("True", "False")), kind, 1, True)
    if kind == WEAK_FLOAT:
        return Made(_float_text(w), kind, 0, True)
    return Made(str(w.pick((0, 1, 1, 2, 3, 5, 7, 8, 10, 31, 64, 100))), kind, 7, True)


def _float_text(w: Writer) -> str:
    return w.pick(("0.0", "1.0", "0.5", "2.0", "-1.0", "-0.25", "3.0", "1e-3", "10.0", "-2.5"))


# ---- elements --------------------------------------------------------------------------------


def element(w: Writer, array: ArrayName) -> Made:
    """An element that the thread may read."""
    if array.own:
        index = w.pick(array.own)
    else:
        index = ", ".join(index_below(w, n, array, axis) for axis, n in enumerate(array.shape))
    return Made(f"{array.name}[{index}]", array.type)


def index_below(w: Writer, length: int, array: ArrayName | None = None, axis: int = 0) -> str:
    """The text of an index of an axis, of any sign; some the compiler proves, some not."""
    size = w.pick((str(length), f"{array.name}.shape[{axis}]" if array else str(length)))
    counters = w.variables(lambda v: v.fixed and v.type == WEAK_INT and 1 << v.bits <= length)
    shape = w.rng.random()
    if shape < 0.2:
        return str(w.rng.randrange(-length, length))
    if shape < 0.4 and counters:
        name = w.pick(counters).name
        return w.pick((name, f"-1 - {name}", f"{length - 1} - {name}", f"{name} - {length}"))
    kind = w.pick((WEAK_INT, WEAK_INT, *INTEGERS))
    inner = expression(w, kind, 1)
    if not kind.weak:
        return f"{inner.operand} % {kind.dtype}({length})"
    if inner.constant:
        return str(w.rng.randrange(-length, length))
    return w.pick(
        (
            f"{inner.operand} % {size}",
            f"{inner.operand} % {size}",
            f"{inner.operand} % {length} - {length}",
            f"-({inner.operand} % {length}) - 1",
            f"min(max({inner.text}, 0), {length - 1})",
            f"max(min({inner.text}, {length - 1}), -{length})",
            f"abs({inner.text}) % {size}",
        )
    )


# ---- operators -------------------------------------------------------------------------------

_ARITHMETIC: tuple[tuple[float, Operator], ...] = (
    (4, ADD), (4, SUB), (3, MUL), (2, DIV), (2, FLOORDIV), (2, MOD), (1, AND), (1, OR), (1, XOR),
    (1, SHL), (1, SHR), (0.5, POW),
)  # fmt: skip
_COMPARISONS = tuple(o for o in OPERATORS if o.result is truth)
assert {o for _, o in _ARITHMETIC} | set(_COMPARISONS) == set(BY_NODE.values())


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
            left = _not_constant(w, left)
        else:
            right = _not_constant(w, right)
    return left, right


def _not_constant(w: Writer, made: Made) -> Made:
    names = w.variables(lambda v: v.type == made.type)
    if names:
        return _variable(w, made.type)
    if made.type == WEAK_INT:
        return _coordinate(w)
    if made.type == WEAK_FLOAT:
        return Made(f"float({_coordinate(w).text})", WEAK_FLOAT)
    if made.type == WEAK_BOOL:
        return Made(f"{_coordinate(w).text} > 0", WEAK_BOOL)
    return Made(f"{type_name(made.type)}({_coordinate(w).text})", made.type)


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
            left = _not_constant(w, left)
        if left.type != kind:
            left = Made(leaf(w, kind).text, kind, left.bits)
    if kind != WEAK_INT or operator is SHR:
        return Made(f"{left.operand} {operator.symbol} {right.operand}", kind, left.bits)
    amount = w.rng.randrange(0, 12)
    if left.bits + amount > WIDEST:
        return Made(f"{left.operand} >> {amount}", kind, left.bits)
    return Made(f"{left.operand} << {amount}", kind, left.bits + amount)


def _power(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Of integers; that of floats is a library function."""
    if kind.dtype.is_float or kind.dtype.kind is Kind.BOOL:
        return None
    if kind == WEAK_INT:
        base = expression(w, WEAK_INT, depth - 1)
        return Made(f"({base.operand} % 1000) ** {w.rng.randrange(0, 4)}", kind, 30)
    base = expression(w, kind, depth - 1)
    if w.chance(0.5):
        return Made(f"{base.operand} ** {w.rng.randrange(0, 9)}", kind)
    exponent = expression(w, kind, depth - 1)
    if exponent.constant:
        exponent = _not_constant(w, exponent)
    return Made(f"{base.operand} ** {exponent.operand}", kind)


def unary(w: Writer, kind: Scalar, depth: int) -> Made | None:
    if kind.dtype.kind is Kind.BOOL:
        return None if kind.weak else Made(f"~{expression(w, kind, depth - 1).operand}", kind)
    sign = w.pick("-+" if kind.dtype.is_float else "-+~")
    inner = expression(w, kind, depth - 1)
    if inner.constant:
        inner = _not_constant(w, inner)
    return Made(f"{sign}{inner.operand}", kind, inner.bits + 1)


def comparison(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Of numbers of any types, and chains of up to three."""
    first = w.scalar()
    parts = [expression(w, first, depth - 1)]
    text = parts[0].operand
    for _ in range(w.weighted([(6, 1), (2, 2), (0.5, 3)])):
        other = first if w.chance(0.6) else w.scalar()
        right = expression(w, other, depth - 1)
        if parts[-1].constant and right.constant:
            right = _not_constant(w, right)
        parts.append(right)
        text += f" {w.pick(_COMPARISONS).symbol} {right.operand}"
    return Made(text, WEAK_BOOL, 1)


def logic(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``and``, ``or``: one of their values, in the joined type."""
    partner = absorbed(w, kind)
    parts = [expression(w, kind, depth - 1), expression(w, partner, depth - 1)]
    if w.chance(0.2):
        parts.append(expression(w, kind, depth - 1))
    w.rng.shuffle(parts)
    if parts[0].constant:
        parts[0] = _not_constant(w, parts[0])
    word = w.pick((" and ", " or "))
    return Made(word.join(p.operand for p in parts), kind, max(p.bits for p in parts))


def negation(w: Writer, kind: Scalar, depth: int) -> Made | None:
    return Made(f"not {any_expression(w, depth - 1).operand}", WEAK_BOOL, 1)


def ternary(w: Writer, kind: Scalar, depth: int) -> Made | None:
    arms = [expression(w, kind, depth - 1), expression(w, absorbed(w, kind), depth - 1)]
    w.rng.shuffle(arms)
    text = f"{arms[0].operand} if ({condition(w, depth - 1)}) else {arms[1].operand}"
    return Made(text, kind, max(a.bits for a in arms))


def absorbed(w: Writer, kind: Scalar) -> Scalar:
    """A type that leaves ``kind`` as it is where both meet."""
    if w.chance(0.6):
        return kind
    return w.pick([t for t in SCALARS if join(kind, t) == kind])


def condition(w: Writer, depth: int) -> str:
    """Most often a comparison; any number may stand there."""
    if w.chance(0.8):
        made = comparison(w, WEAK_BOOL, max(depth, 1))
        assert made is not None
        return made.text
    made = expression(w, w.pick((WEAK_BOOL, w.scalar())), depth)
    return _not_constant(w, made).text if made.constant else made.text


# ---- functions -------------------------------------------------------------------------------


def extreme(w: Writer, kind: Scalar, depth: int) -> Made | None:
    parts = [expression(w, kind, depth - 1), expression(w, absorbed(w, kind), depth - 1)]
    if w.chance(0.2):
        parts.append(expression(w, kind, depth - 1))
    w.rng.shuffle(parts)
    if all(p.constant for p in parts):
        parts[0] = _not_constant(w, parts[0])
    listed = ", ".join(p.text for p in parts)
    return Made(f"{w.pick(('min', 'max'))}({listed})", kind, max(p.bits for p in parts))


def absolute(w: Writer, kind: Scalar, depth: int) -> Made | None:
    inner = expression(w, kind, depth - 1)
    if inner.constant:
        inner = _not_constant(w, inner)
    return Made(f"abs({inner.text})", kind, inner.bits)


_EXACT = ("math.sqrt", "math.fabs", "np.floor", "np.ceil", "np.trunc", "np.rint", "np.sqrt")
_EXACT_TWO = ("math.fmod", "np.minimum", "np.maximum")
_TO_INT = ("math.floor", "math.ceil", "math.trunc", "round", "int")


def exact_function(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """Functions of floats that have one right answer."""
    if kind == WEAK_BOOL:
        inner = expression(w, w.pick((*FLOATS, WEAK_FLOAT)), depth - 1)
        name = w.pick(("math.isnan", "math.isinf", "math.isfinite", "np.isnan"))
        return Made(f"{name}({inner.text})", kind, 1)
    if not kind.dtype.is_float:
        return None
    first = expression(w, kind, depth - 1)
    if w.chance(0.5):
        return Made(f"{w.pick(_EXACT)}({first.text})", kind)
    if w.chance(0.2):  # the sign of a NaN is nobody's: of an integer, then
        sign = f"float({expression(w, w.pick(INTEGERS), depth - 1).text})"
        return Made(f"math.copysign({first.text}, {sign})", kind)
    second = expression(w, kind, depth - 1)
    return Made(f"{w.pick(_EXACT_TWO)}({first.text}, {second.text})", kind)


def whole_of_float(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """A float as an int, where it is neither NaN nor too large."""
    if kind != WEAK_INT:
        return None
    inner = expression(w, w.pick((*FLOATS, WEAK_FLOAT)), depth - 2)
    if inner.constant:
        inner = _not_constant(w, inner)
    limit = w.pick((100, 50000))
    test = f"-{limit}.0 < {inner.operand} < {limit}.0"
    text = f"{w.pick(_TO_INT)}({inner.text}) if {test} else {w.rng.randrange(9)}"
    return Made(text, kind, 17)


def whole_of_any(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``int`` of what is whole already."""
    if kind != WEAK_INT:
        return None
    inner = expression(w, w.pick((WEAK_BOOL, WEAK_INT, *INTEGERS)), depth - 1)
    if inner.constant:
        inner = _not_constant(w, inner)
    bits = inner.type.dtype.bits if not inner.type.weak else inner.bits
    return Made(f"{w.pick(('int', 'int', 'round'))}({inner.text})", kind, bits)


def python_float(w: Writer, kind: Scalar, depth: int) -> Made | None:
    return Made(f"float({any_expression(w, depth - 1).text})", kind) if kind == WEAK_FLOAT else None


def python_bool(w: Writer, kind: Scalar, depth: int) -> Made | None:
    return (
        Made(f"bool({any_expression(w, depth - 1).text})", kind, 1) if kind == WEAK_BOOL else None
    )


def conversion(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``float32(x)``, in ours or numpy's name; a float only where the type holds it."""
    if kind.weak:
        return None
    row = kind.dtype
    name = w.pick((f"{row}", f"np.{row}")) if row.kind is not Kind.BOOL else "boolean"
    inner = any_expression(w, depth - 1)
    if inner.constant:
        return literal(w, kind)
    if row.is_integer and inner.type.dtype.is_float:
        inner = expression(w, inner.type, depth - 2)
        least, most = max(row.minimum, -(2**31)), min(row.maximum, 2**31)
        test = f"{least}.0 < {inner.operand} < {most}.0"
        return Made(f"{name}({inner.text}) if {test} else {name}({w.rng.randrange(9)})", kind)
    return Made(f"{name}({inner.text})", kind)


def device_call(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """A call of a device function that gives this type."""
    fitting = [d for d in w.devices if d.result == kind and not d.meets]
    if not fitting or w.chance(0.5):
        return None
    device = w.pick(fitting)
    arguments = []
    for parameter in device.parameters:
        if isinstance(parameter, Scalar):
            made = expression(w, parameter, depth - 1)
            arguments.append(_small(w, made) if parameter == WEAK_INT else made.text)
        else:
            fits = [a for a in w.arrays if fits_parameter(a, parameter)]
            if not fits:
                return None
            arguments.append(w.pick(fits).name)
    return Made(f"{device.name}({', '.join(arguments)})", kind, SMALL)


def _small(w: Writer, made: Made) -> str:
    return made.text if made.bits <= SMALL else f"{made.operand} % 1009"


def fits_parameter(given: ArrayName, wanted: ArrayName) -> bool:
    """Whether an array may be passed for reading."""
    if given.type != wanted.type or len(given.shape) != len(wanted.shape) or given.own:
        return False
    return all(a >= b for a, b in zip(given.shape, wanted.shape, strict=True))


@dataclass(frozen=True, slots=True)
class Production:
    """A way to make an expression of some types; ``make`` gives None where it cannot."""

    weight: float
    applies: Callable[[Scalar], bool]
    make: Callable[[Writer, Scalar, int], Made | None]


def _any_type(_: Scalar) -> bool:
    return True


def _number(kind: Scalar) -> bool:
    return kind.dtype.kind is not Kind.BOOL


def _truth(kind: Scalar) -> bool:
    return kind == WEAK_BOOL


def _weak_int(kind: Scalar) -> bool:
    return kind == WEAK_INT


EXPRESSIONS: tuple[Production, ...] = (
    Production(8, lambda t: t != WEAK_BOOL, arithmetic),
    Production(1.5, _any_type, unary),
    Production(6, _truth, comparison),
    Production(1.5, _any_type, logic),
    Production(1.5, _truth, negation),
    Production(1.5, _any_type, ternary),
    Production(1.5, _number, extreme),
    Production(0.6, _number, absolute),
    Production(1.5, lambda t: t.dtype.is_float or t == WEAK_BOOL, exact_function),
    Production(1, _weak_int, whole_of_float),
    Production(1, _weak_int, whole_of_any),
    Production(1, lambda t: t == WEAK_FLOAT, python_float),
    Production(0.5, _truth, python_bool),
    Production(2, lambda t: not t.weak, conversion),
    Production(2.5, _any_type, device_call),
)

# ---- library functions: compared with a tolerance ---------------------------------------------

_LIBRARY: tuple[tuple[str, str], ...] = (
    ("sin", ""), ("cos", ""), ("tan", "{} % 1.5"), ("exp", "{} % 9.0"), ("log", "abs({}) + 0.5"),
    ("log2", "abs({}) + 0.5"), ("log10", "abs({}) + 0.5"), ("log1p", "abs({})"),
    ("atan", ""), ("asin", "{} % 1.0"), ("acos", "{} % 1.0"), ("sinh", "{} % 5.0"), ("tanh", ""),
    ("cosh", "{} % 5.0"), ("exp2", "{} % 9.0"), ("expm1", "{} % 5.0"), ("cbrt", ""), ("erf", ""),
    ("asinh", ""), ("degrees", "{} % 9.0"), ("radians", "{} % 9.0"),
)  # fmt: skip
_LIBRARY_TWO = ("math.atan2", "math.hypot", "np.fmin", "np.fmax")


def library_call(w: Writer, kind: Scalar, depth: int) -> str:
    """A call whose answer is right to a few units in the last place."""
    inner = expression(w, kind, depth)
    if w.chance(0.25):
        other = expression(w, kind, depth)
        return f"{w.pick(_LIBRARY_TWO)}({inner.text}, {other.text})"
    if w.chance(0.15):
        return f"(abs({inner.text}) % 9.0 + 0.25) ** ({expression(w, kind, 0).operand} % 3.0)"
    name, domain = w.pick(_LIBRARY)
    inside = domain.format(inner.operand) if domain else f"{inner.operand} % 100.0"
    return f"math.{name}({inside})"
