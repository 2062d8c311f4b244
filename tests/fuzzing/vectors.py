"""Vectors: a component is a name like any other, ``vec3.x``, that only these statements assign."""

from __future__ import annotations

from fuzzing.control import inside_loop
from fuzzing.operations import condition
from fuzzing.statements import augmented, loops, nests, statements, value, writes
from fuzzing.writing import Variable, Writer
from pycu2c.base.dtypes import VECTOR_OF, DType
from pycu2c.base.types import WEAK_INT, Scalar

_ROWS = list(VECTOR_OF.values())
_OF = {row.fields[0].dtype: [r for r in _ROWS if r.fields[0].dtype is row.fields[0].dtype]
       for row in _ROWS}  # fmt: skip


def _components(w: Writer) -> list[Variable]:
    """Of the vectors that can be assigned here."""
    return [] if w.place.captures else w.variables(lambda v: v.name.startswith("vec"))


def _vectors(w: Writer) -> dict[str, DType]:
    """The vectors in sight, and their types."""
    result: dict[str, list[Variable]] = {}
    for component in _components(w):
        result.setdefault(component.name.partition(".")[0], []).append(component)
    return {name: VECTOR_OF[parts[0].type.dtype, len(parts)] for name, parts in result.items()}


def has_vector(w: Writer) -> bool:
    return bool(_components(w))


def _declared(w: Writer, row: DType, text: str) -> None:
    name = w.fresh("vec")
    w.line(f"{name} = {text}")
    for field in row.fields:
        w.declare(f"{name}.{field.name}", Scalar(field.dtype), fixed=True)


def made(w: Writer, row: DType) -> str:
    """A vector of numbers, or of another vector and numbers."""
    part = row.fields[0].dtype
    parts = [value(w, Scalar(part)) for _ in row.fields]
    shorter = [n for n, r in _vectors(w).items() if len(r.fields) <= len(parts)
               and r.fields[0].dtype is part]  # fmt: skip
    if shorter and w.chance(0.4):
        name = w.pick(shorter)
        parts[: len(_vectors(w)[name].fields)] = [name]
    return f"cuda.{row}({', '.join(parts)})"


@writes(1)
def vector(w: Writer) -> None:
    row = w.pick(w.pick(list(_OF.values())))
    _declared(w, row, made(w, row))


@writes(0.7, has_vector)
def copy(w: Writer) -> None:
    """Another name for the same value: from here on each changes by itself."""
    name, row = w.pick(list(_vectors(w).items()))
    _declared(w, row, name)


@writes(1.5, has_vector)
def component(w: Writer) -> None:
    part = w.pick(_components(w))
    name, field = part.name.split(".")
    target = w.pick((part.name, f"{name}['{field}']"))
    if w.chance(0.5):
        w.line(f"{target} = {value(w, part.type)}")
    else:
        w.line(augmented(w, target, part.type))


@writes(0.7, has_vector)
def whole(w: Writer) -> None:
    """A vector anew, perhaps one of two."""
    name, row = w.pick(list(_vectors(w).items()))
    alike = [n for n, r in _vectors(w).items() if r is row]
    text = made(w, row)
    if w.chance(0.5):
        text = f"{text} if ({condition(w, 1)}) else {w.pick(alike)}"
    w.line(f"{name} = {text}")


@writes(0.5, loops, has_vector)
def over_vectors(w: Writer) -> None:
    """A loop over a tuple of vectors, as they are before it."""
    _, row = w.pick(list(_vectors(w).items()))
    alike = [name for name, r in _vectors(w).items() if r is row]
    item, counter = w.fresh("vec"), w.fresh("n")
    given = ", ".join(w.pick(alike) for _ in range(w.rng.randint(1, 3)))
    with w.block_of(f"for {counter}, {item} in enumerate(({given},)):", **inside_loop(w, False)):
        w.declare(counter, WEAK_INT, fixed=True, bits=2)
        for field in row.fields:
            w.declare(f"{item}.{field.name}", Scalar(field.dtype), fixed=True)
        component(w)
        statements(w, 2)


@writes(0.4, nests, has_vector)
def swapped(w: Writer) -> None:
    """Components of one vector in another order."""
    name, row = w.pick(list(_vectors(w).items()))
    names = [f"{name}.{field.name}" for field in row.fields]
    w.line(f"{', '.join(names)}, = {', '.join(w.rng.sample(names, len(names)))},")
