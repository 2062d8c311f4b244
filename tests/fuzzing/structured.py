"""Values with parts: complex numbers, tuples, records, parameters that may be None."""

from __future__ import annotations

from fuzzing.expressions import any_type, expression, makes, not_constant, only
from fuzzing.statements import nests, small, statements, value, writes
from fuzzing.writing import COMPLEX, SMALL, Made, Writer
from pycu2c.base.types import WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar, float32, float64

_PART = {float32: COMPLEX[0], float64: COMPLEX[1], WEAK_FLOAT: WEAK_COMPLEX}
_WHOLE = {whole: part for part, whole in _PART.items()}


@makes(0.8, only(*_PART))
def part(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """The real or the imaginary part."""
    inner = expression(w, _PART[kind], depth - 1)
    if inner.constant:
        inner = not_constant(w, inner)
    if not kind.weak and w.chance(0.3):
        return Made(f"np.{w.pick(('real', 'imag'))}({inner.text})", kind)
    return Made(f"({inner.text}).{w.pick(('real', 'imag'))}", kind)


@makes(0.8, only(*_WHOLE))
def conjugate(w: Writer, kind: Scalar, depth: int) -> Made | None:
    inner = expression(w, kind, depth - 1)
    if inner.constant:
        inner = not_constant(w, inner)
    return Made(f"({inner.text}).conjugate()", kind)


@makes(1, only(WEAK_COMPLEX))
def of_parts(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``complex(x, y)``"""
    parts = [expression(w, w.pick((WEAK_INT, WEAK_FLOAT)), depth - 1) for _ in range(2)]
    parts = [not_constant(w, p) if p.constant else p for p in parts]
    return Made(f"complex({parts[0].text}, {parts[1].text})", kind)


@makes(0.6, any_type)
def of_optional(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """One of two values by whether a parameter is None, which is known beforehand."""
    if not w.optional:
        return None
    arms = [expression(w, kind, depth - 1) for _ in range(2)]
    test = f"{w.pick(w.optional)} is {w.pick(('', 'not '))}None"
    constant = any(a.constant for a in arms)
    text = f"{arms[0].operand} if {test} else {arms[1].operand}"
    return Made(text, kind, max(a.bits for a in arms), constant)


@writes(0.6, nests, lambda w: bool(w.optional))
def if_given(w: Writer) -> None:
    with w.block_of(f"if {w.pick(w.optional)} is {w.pick(('', 'not '))}None:"):
        statements(w, 2)
    if w.chance(0.4):
        with w.block_of("else:"):
            statements(w, 2)


@writes(0.7, lambda w: bool(w.records))
def copy_record(w: Writer) -> None:
    """``e = r[i]``: another name of the element, whose fields are read, and written if it is
    the thread's own."""
    record = w.pick(w.records)
    w.counter += 1
    name = f"e{w.counter}"
    w.line(f"{name} = {record.text}")
    for field, kind in record.type.fields:
        w.declare(f"{name}.{field}", kind, fixed=not record.own)


@writes(0.6, lambda w: any(r.own for r in w.records))
def store_record(w: Writer) -> None:
    """``r[i] = q[k]``: all fields at once."""
    target = w.pick([r for r in w.records if r.own])
    w.line(f"{target.text} = {w.pick(w.records).text}")


@writes(0.8, nests)
def choose_tuple(w: Writer) -> None:
    """``match`` on a tuple of two ints."""
    subjects = [f"({small(w, expression(w, WEAK_INT, 1))}) % {n}" for n in (2, 3)]
    breaks = w.place.breaks and not w.place.uniform
    place = {"uniform": False, "breaks": breaks}
    w.counter += 1
    name = f"q{w.counter}"
    w.line(f"match ({', '.join(subjects)}):")
    rows = [
        (f"({w.rng.randrange(2)}, {w.rng.randrange(3)})", ()),
        (f"({w.rng.randrange(2)}, {name})", (name,)),
        (f"({name}, 0 | 2) if {name} == 0", (name,)),
        (f"({name}, {name}b)", (name, f"{name}b")),
    ]
    w.place.depth += 1
    kept = [row for row in rows[:3] if w.chance(0.6)]
    for pattern, names in [*kept, rows[3]]:
        with w.block_of(f"case {pattern}:", **place):
            for bound in names:
                w.declare(bound, WEAK_INT, fixed=True, bits=2)
            statements(w, 2)
    w.place.depth -= 1


@writes(0.7)
def pack(w: Writer) -> None:
    """A tuple in a variable, nested, whose items are read by constants."""
    kinds = [w.scalar() for _ in range(3)]
    texts = [value(w, kind) for kind in kinds]
    name = w.fresh("t")
    w.line(f"{name} = ({texts[0]}, ({texts[1]}, {texts[2]}))")
    places = (f"{name}[0]", f"{name}[1][0]", f"{name}[-1][1]")
    for place, kind in zip(places, kinds, strict=True):
        w.declare(place, kind, fixed=True, bits=SMALL)
