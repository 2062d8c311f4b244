"""Further constructs: views, walrus, comprehensions, match, loops with ``else`` …"""

from __future__ import annotations

from fuzzing.control import inside_loop
from fuzzing.expressions import (
    absorbed,
    any_type,
    element,
    expression,
    index_below,
    makes,
    not_constant,
    only,
)
from fuzzing.operations import condition
from fuzzing.statements import (
    another,
    loops,
    nests,
    small,
    statements,
    value,
    writes,
)
from fuzzing.writing import SMALL, ArrayName, Made, Writer, is_number
from pycu2c.base.dtypes import DTypeKind
from pycu2c.base.types import WEAK_BOOL, WEAK_INT, Scalar

# ---- expressions -----------------------------------------------------------------------------


@makes(0.5, only(WEAK_BOOL))
def membership(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``x in (a, b)``"""
    left = expression(w, w.scalar(), depth - 1)
    items = [expression(w, left.type, depth - 2) for _ in range(w.rng.randint(2, 3))]
    if left.constant:
        left = not_constant(w, left)
    listed = ", ".join(i.text for i in items)
    return Made(f"{left.operand} {w.pick(('in', 'not in'))} ({listed})", WEAK_BOOL, 1)


@makes(0.7, any_type)
def walrus(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``(v := x) + v``: the first operand is always evaluated."""
    if kind.dtype.kind is DTypeKind.BOOL:
        return None
    inner = expression(w, kind, depth - 1)
    if inner.bits > SMALL or inner.constant:
        return None
    w.counter += 1
    name = f"q{w.counter}"
    return Made(f"({name} := {inner.text}) {w.pick('+-')} {name}", kind, inner.bits + 1)


@makes(0.7, is_number)
def comprehension(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """``sum([x for n in range(3)])``, and ``max`` of one."""
    w.counter += 1
    name = f"g{w.counter}"
    with w.inside(captures=True):
        w.declare(name, WEAK_INT, fixed=True, bits=2, constant=True)
        inner = expression(w, kind, depth - 1)
    if inner.bits > SMALL or inner.constant:
        return None
    rounds = w.rng.randint(1, 4)
    function = "sum" if kind.dtype.is_complex else w.pick(("sum", "max", "min"))
    return Made(f"{function}([{inner.text} for {name} in range({rounds})])", kind, inner.bits + 3)


@makes(0.5, only(WEAK_BOOL))
def all_or_any(w: Writer, kind: Scalar, depth: int) -> Made | None:
    w.counter += 1
    name = f"g{w.counter}"
    with w.inside(captures=True):
        w.declare(name, WEAK_INT, fixed=True, bits=2, constant=True)
        test = condition(w, depth - 1)
    return Made(
        f"{w.pick(('all', 'any'))}({test} for {name} in range({w.rng.randint(1, 3)}))", kind, 1
    )


# ---- statements ------------------------------------------------------------------------------


def sliceable(w: Writer) -> list[ArrayName]:
    return [a for a in w.arrays if not a.own and a.whole]


@writes(1, lambda w: bool(sliceable(w)))
def view(w: Writer) -> None:
    """A slice, a row, a column or the transposed of an array that is only read."""
    array = w.pick(sliceable(w))
    rows = [(f"{array.name}[::-1]", array.shape)]
    first, rest = array.shape[0], array.shape[1:]
    if first > 1:
        rows += [
            (f"{array.name}[1:]", (first - 1, *rest)),
            (f"{array.name}[:-1]", (first - 1, *rest)),
            (f"{array.name}[::2]", ((first + 1) // 2, *rest)),
            (f"{array.name}[::-2]", ((first + 1) // 2, *rest)),
        ]
    if rest:
        low = index_below(w, first)
        rows += [(f"{array.name}[{low}]", rest), (f"{array.name}.T", array.shape[::-1])]
        rows += [(f"{array.name}[:, {w.rng.randrange(-rest[0], rest[0])}]", (first, *rest[1:]))]
    static = array.static
    if w.chance(0.25):  # with bounds of the run; one element at least is left
        bound = f"({small(w, expression(w, WEAK_INT, 1))}) % {first}"
        slices = (f"{bound}:", f":{bound} + 1", f"-({bound}) - 1:", f"{bound}::-1")
        rows, static = [(f"{array.name}[{w.pick(slices)}]", (1, *rest))], False
    text, shape = w.pick(rows)
    w.counter += 1
    name = f"view{w.counter}"
    w.line(f"{name} = {text}")
    w.arrays.append(ArrayName(name, array.type, shape, static=static))


def reversible(w: Writer) -> list[ArrayName]:
    return [a for a in w.written() if a.whole and len(a.shape) == 1]


@writes(0.8, lambda w: bool(reversible(w)))
def view_to_write(w: Writer) -> None:
    """An array of one axis backwards, or from its second element: what is a thread's own stays."""
    array = w.pick(reversible(w))
    last, own = array.shape[0] - 1, w.pick(array.own)
    w.counter += 1
    name = f"view{w.counter}"
    w.line(f"{name} = {array.name}[::-1]")
    # element k of one is element -1 - k of the other, whatever the sign
    mine = (f"-1 - ({own})",)
    w.arrays.append(ArrayName(name, array.type, array.shape, own=mine, static=array.static))
    if own.isdecimal():
        w.arrays[-1].own += (str(last - int(own)),)


@writes(1, nests)
def choose(w: Writer) -> None:
    """``match`` on a number."""
    subject = small(w, expression(w, WEAK_INT, 2))
    breaks = w.place.breaks and not w.place.uniform
    w.line(f"match ({subject}) % 4:")
    w.place.depth += 1
    numbers = w.rng.sample(range(4), 3)
    cases = [
        f"{numbers[0]}",
        f"{numbers[1]} | {numbers[2]}",
        f"q{w.counter} if q{w.counter} > 1",
        "_",
    ]
    kept = [c for c in cases[:3] if w.chance(0.7)] or cases[:1]
    for case in [*kept, *cases[3:][: w.rng.randint(0, 1)]]:
        with w.block_of(f"case {case}:", uniform=False, breaks=breaks):
            statements(w, 2)
    w.place.depth -= 1
    w.counter += 1


@writes(1, loops, lambda w: bool(sliceable(w)))
def over_array(w: Writer) -> None:
    """``for x in a``, with ``enumerate``, ``zip`` or ``reversed``."""
    arrays = [a for a in sliceable(w) if len(a.shape) == 1]
    if not arrays:
        return view(w)
    array = w.pick(arrays)
    item, counter = w.fresh("n"), w.fresh("n")
    form = w.rng.randrange(4)
    head = (
        f"for {item} in {array.name}:",
        f"for {counter}, {item} in enumerate({array.name}):",
        f"for {item}, {counter} in zip({array.name}, range({w.rng.randint(1, 4)})):",
        f"for {item} in reversed({array.name}):",
    )[form]
    with w.block_of(head, **inside_loop(w, False)):
        w.declare(item, array.type, fixed=True)
        if form in (1, 2):
            w.declare(counter, WEAK_INT, fixed=True, bits=SMALL)
        statements(w, 2)


@writes(0.6, loops, lambda w: any(len(a.shape) > 1 for a in sliceable(w)))
def over_rows(w: Writer) -> None:
    """``for row in m``: each is a view."""
    array = w.pick([a for a in sliceable(w) if len(a.shape) > 1])
    w.counter += 1
    name = f"row{w.counter}"
    with w.block_of(f"for {name} in {array.name}:", **inside_loop(w, False)):
        w.arrays.append(ArrayName(name, array.type, array.shape[1:], static=array.static))
        statements(w, 2)


@writes(0.8, loops)
def over_tuple(w: Writer) -> None:
    """``for x in (a, b)``, which is written out round by round."""
    kind = w.scalar()
    items = [expression(w, kind, 2) for _ in range(w.rng.randint(1, 3))]
    listed = ", ".join(small(w, not_constant(w, i) if i.constant else i) for i in items)
    item, counter = w.fresh("n"), w.fresh("n")
    counted = w.chance(0.3)
    head = f"for {counter}, {item} in enumerate(({listed},)):" if counted else ""
    with w.block_of(head or f"for {item} in ({listed},):", **inside_loop(w, False)):
        w.declare(item, kind, fixed=True)
        if counted:
            w.declare(counter, WEAK_INT, fixed=True, bits=2, constant=True)
        statements(w, 2)


@writes(0.7, loops)
def loop_else(w: Writer) -> None:
    """``for … else``, with a ``break``."""
    name = w.fresh("n")
    with w.block_of(f"for {name} in range({w.rng.randint(0, 4)}):", **inside_loop(w, False)):
        w.declare(name, WEAK_INT, fixed=True, bits=2)
        statements(w, 1)
        w.line(f"if {condition(w, 1)}:")
        w.line("    break")
    with w.block_of("else:", uniform=False, breaks=w.place.breaks and not w.place.uniform):
        statements(w, 2)


@writes(0.7, loops)
def repeat_else(w: Writer) -> None:
    """``while … else``, with a ``break``."""
    name = w.fresh("c")
    w.line(f"{name} = 0")
    w.declare(name, WEAK_INT, fixed=True, bits=3)
    with w.block_of(f"while {name} < {w.rng.randint(1, 4)}:", **inside_loop(w, False)):
        w.line(f"{name} += 1")
        w.line(f"if {condition(w, 1)}:")
        w.line(f"    {w.pick(('break', 'continue'))}")
        statements(w, 2)
    with w.block_of("else:", uniform=False, breaks=w.place.breaks and not w.place.uniform):
        statements(w, 2)


@writes(0.7, lambda w: w.place.depth < 2)
def local_function(w: Writer) -> None:
    """A lambda or a nested function, called at once."""
    kind = w.scalar()
    w.counter += 1
    name, parameter = f"f{w.counter}", f"e{w.counter}"
    with w.inside(captures=True):
        w.declare(parameter, kind, fixed=True)
        result = w.scalar()
        body = value(w, result)
    given = value(w, kind)
    if w.chance(0.5):
        w.line(f"{name} = lambda {parameter}: {body}")
    else:
        w.line(f"def {name}({parameter}):")
        w.line(f"    return {body}")
    target = w.fresh()
    w.line(f"{target} = {name}({given})")
    w.declare(target, result)


@writes(0.7)
def star(w: Writer) -> None:
    """Starred unpacking, and a nested one."""
    kinds = [w.scalar() for _ in range(4)]
    texts = [f"({value(w, k)})" for k in kinds]
    first = w.fresh()
    second = another(w, [first])
    rest = w.fresh("t")
    if w.chance(0.5):
        w.line(f"{first}, *{rest}, {second} = {', '.join(texts)}")
        w.declare(first, kinds[0])
        w.declare(second, kinds[3])
    else:
        w.line(f"({first}, {rest}), {second} = ({texts[0]}, ({texts[1]}, {texts[2]})), {texts[3]}")
        w.declare(first, kinds[0])
        w.declare(second, kinds[3])


@writes(0.5, lambda w: bool(w.arrays))
def declared_type(w: Writer) -> None:
    """``x: float32 = …``: the annotation converts."""
    kind = w.strong()
    source = kind if kind.dtype.kind is DTypeKind.BOOL else absorbed(w, kind)
    made = expression(w, source, 2)
    if made.constant:
        made = element(w, w.pick(w.arrays))
        kind = made.type
    name = f"x{w.counter}"
    w.counter += 1
    shown = "boolean" if kind.dtype.kind is DTypeKind.BOOL else str(kind.dtype)
    w.line(f"{name}: {shown} = {made.text}")
    w.declare(name, kind)
