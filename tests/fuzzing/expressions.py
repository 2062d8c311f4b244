"""Expressions of a requested type: the choice among ways to make one, the leaves, the elements.

The ways are in ``operations``, ``functions`` and ``constructs``, a function each, registered by
``@makes``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fuzzing.writing import INTEGERS, SCALARS, WIDEST, ArrayName, Made, Writer, holds
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar, promote

Make: TypeAlias = "Callable[[Writer, Scalar, int], Made | None]"


@dataclass(frozen=True, slots=True)
class Production:
    """A way to make an expression of some types; ``make`` gives None where it cannot."""

    weight: float
    applies: Callable[[Scalar], bool]
    make: Make


EXPRESSIONS: list[Production] = []  # the modules that make expressions add to it


def makes(weight: float, applies: Callable[[Scalar], bool]) -> Callable[[Make], Make]:
    """Register a function as a way to make expressions of the types that ``applies`` takes."""

    def register(make: Make) -> Make:
        EXPRESSIONS.append(Production(weight, applies, make))
        return make

    return register


def any_type(_: Scalar) -> bool:
    return True


def only(*kinds: Scalar) -> Callable[[Scalar], bool]:
    return lambda kind: kind in kinds


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
        return Made(f"{made.operand} % {w.pick((7, 1009, 65536))}", WEAK_INT, 17, made.constant)
    return Made(f"{made.operand} & {w.pick((15, 255, 65535))}", WEAK_INT, 16, made.constant)


def any_expression(w: Writer, depth: int) -> Made:
    return expression(w, w.scalar(), depth)


def any_real(w: Writer, depth: int) -> Made:
    return expression(w, w.real(), depth)


def absorbed(w: Writer, kind: Scalar) -> Scalar:
    """A type that leaves ``kind`` as it is where both meet."""
    if w.chance(0.6):
        return kind
    return w.pick([t for t in SCALARS if promote(kind, t) == kind])


# ---- leaves --------------------------------------------------------------------------------------


def leaf(w: Writer, kind: Scalar) -> Made:
    rows: list[tuple[float, Callable[[], Made]]] = []
    names = w.variables(lambda v: v.type == kind)
    if names:
        rows.append((5, lambda: variable(w, kind)))
    arrays = w.readable(kind)
    if arrays:
        rows.append((3, lambda: element(w, w.pick(arrays))))
    if kind == WEAK_INT:
        rows.append((1.5, lambda: coordinate(w)))
        if w.arrays:
            rows.append((0.7, lambda: length(w)))
    constants = [name for name, t in w.constants if t == kind]
    if constants:
        rows.append((1, lambda: Made(w.pick(constants), kind, 7, True)))
    if not kind.weak and not names:
        rows.append((3, lambda: _converted_leaf(w, kind)))
    rows.append((1.5, lambda: literal(w, kind)))
    return w.weighted(rows)()


def length(w: Writer) -> Made:
    array = w.pick(w.arrays)
    return Made(w.pick(array.size_texts), WEAK_INT, 5, array.static)


def _converted_leaf(w: Writer, kind: Scalar) -> Made:
    """A variable or element of another type, as this one."""
    name = type_name(kind)
    fits = [t for t in SCALARS if holds(kind, t)]
    names = w.variables(lambda v: v.type in fits)
    arrays = [a for a in w.arrays if a.type in fits]
    if names and (not arrays or w.chance(0.5)):
        return Made(f"{name}({w.pick(names).name})", kind)
    if arrays:
        array = w.pick(arrays)
        index = w.pick(array.own or (", ".join(str(w.rng.randrange(-n, n)) for n in array.shape),))
        return Made(f"{name}({array.name}[{index}]{array.field})", kind)
    return literal(w, kind)


def type_name(kind: Scalar) -> str:
    return "boolean" if kind.dtype.kind is DTypeKind.BOOL else str(kind.dtype)


def variable(w: Writer, kind: Scalar) -> Made:
    variable = w.pick(w.variables(lambda v: v.type == kind))
    return Made(variable.name, kind, variable.bits, variable.constant)


def coordinate(w: Writer) -> Made:
    axis = w.pick("xxyz")
    places = ("threadIdx", "blockIdx", "blockDim", "gridDim")
    text = w.pick([*(f"cuda.{p}.{axis}" for p in places), "cuda.grid(1)", "cuda.gridsize(1)"])
    return Made(text, WEAK_INT, 6)


def not_constant(w: Writer, made: Made) -> Made:
    names = w.variables(lambda v: v.type == made.type and not v.constant)
    if names:
        result = w.pick(names)
        return Made(result.name, made.type, result.bits)
    if made.type == WEAK_INT:
        return coordinate(w)
    if made.type == WEAK_FLOAT:
        return Made(f"float({coordinate(w).text})", WEAK_FLOAT)
    if made.type == WEAK_COMPLEX:
        return Made(f"complex({coordinate(w).text}, {coordinate(w).text})", WEAK_COMPLEX)
    if made.type == WEAK_BOOL:
        return Made(f"{coordinate(w).text} > 0", WEAK_BOOL)
    return Made(f"{type_name(made.type)}({coordinate(w).text})", made.type)


def literal(w: Writer, kind: Scalar) -> Made:
    """A number of a type; of a strong one through a conversion."""
    if kind.weak:
        return _weak_literal(w, kind)
    row = kind.dtype
    if row.kind is DTypeKind.BOOL:
        return Made(f"boolean({w.pick((True, False))})", kind, 0, True)
    if row.is_complex:
        return Made(f"{row}({complex_text(w)})", kind, 0, True)
    if row.is_float:
        return Made(f"{row}({float_text(w)})", kind, 0, True)
    spread = (0, 1, 2, 3, 5, 7, 100, row.maximum, row.maximum - 1, row.minimum, row.minimum + 1)
    half = row.maximum // 2
    near = [
        n
        for n in (*spread, half, half + 1, -half - 1, -1, -2, -7)
        if row.minimum <= n <= row.maximum
    ]
    return Made(f"{row}({w.pick(near)})", kind, 0, True)


def _weak_literal(w: Writer, kind: Scalar) -> Made:
    if kind == WEAK_BOOL:
        return Made(w.pick(("True", "False")), kind, 1, True)
    if kind == WEAK_COMPLEX:
        return Made(complex_text(w), kind, 0, True)
    if kind == WEAK_FLOAT:
        return Made(float_text(w), kind, 0, True)
    return Made(str(w.pick((0, 1, 1, 2, 3, 5, 7, 8, 10, 31, 64, 100))), kind, 7, True)


def float_text(w: Writer) -> str:
    return w.pick(("0.0", "1.0", "0.5", "2.0", "-1.0", "-0.25", "3.0", "1e-3", "10.0", "-2.5"))


def complex_text(w: Writer) -> str:
    imaginary = w.pick(("1j", "2j", "0.5j", "0j", "-1j"))
    return imaginary if w.chance(0.5) else f"({float_text(w)} + {imaginary})"


# ---- elements --------------------------------------------------------------------------------


def element(w: Writer, array: ArrayName) -> Made:
    """An element that the thread may read."""
    if array.own:
        index = w.pick(array.own)
    else:
        index = ", ".join(index_below(w, n, array, axis) for axis, n in enumerate(array.shape))
    return Made(f"{array.name}[{index}]{array.field}", array.type)


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
            f"{inner.operand} & {w.rng.randrange(length)}",
            f"{inner.operand} >> {w.rng.randrange(3)} & {w.rng.randrange(length)}",
            f"{inner.operand} % {size}",
            f"{inner.operand} % {size}",
            f"{inner.operand} % {length} - {length}",
            f"-({inner.operand} % {length}) - 1",
            f"min(max({inner.text}, 0), {length - 1})",
            f"max(min({inner.text}, {length - 1}), -{length})",
            f"abs({inner.text}) % {size}",
        )
    )
