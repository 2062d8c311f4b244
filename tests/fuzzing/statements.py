"""Statements: one function for each production, and a table of them.

A production writes its lines and keeps the program well defined: a thread writes elements of its
own, loops end, barriers stand where every thread of the block comes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fuzzing.expressions import (
    absorbed,
    any_expression,
    condition,
    conversion,
    element,
    expression,
    index_below,
    library_call,
    literal,
    type_name,
)
from fuzzing.writing import SMALL, ArrayName, Made, Variable, Writer
from pycu2c.dtypes import Kind
from pycu2c.operators import OPERATORS, POW, SHL, SHR, Operator, truth
from pycu2c.types import WEAK_INT, Scalar, join

DEPTH = 3  # of expressions
NESTING = 3  # of blocks


def statements(w: Writer, most: int) -> None:
    """Up to ``most`` statements, while the budget lasts."""
    for _ in range(w.rng.randint(1, most)):
        if w.budget <= 0:
            return
        w.budget -= 1
        rows = [(row.weight, row) for row in STATEMENTS if row.applies(w)]
        w.weighted(rows).write(w)


def value(w: Writer, kind: Scalar) -> str:
    """An expression for a variable or element of a type; a weak int stays small."""
    made = expression(w, kind, w.rng.randint(1, DEPTH))
    return small(w, made)


def small(w: Writer, made: Made) -> str:
    if made.type != WEAK_INT or made.bits <= SMALL:
        return made.text
    return f"{made.operand} {w.pick(('% 1009', '% -1009', '& 4095'))}"


def storable(w: Writer, kind: Scalar) -> str:
    """A value of any type that an element of ``kind`` takes."""
    if w.chance(0.6):
        return value(w, kind)
    made = any_expression(w, w.rng.randint(1, DEPTH))
    whole = kind.dtype.is_integer
    if made.constant or (whole and made.type.dtype.is_float):
        converted = conversion(w, kind, 2) or literal(w, kind)
        return converted.text
    return made.text


# ---- names -----------------------------------------------------------------------------------


def declare(w: Writer) -> None:
    """A new variable, or an old name for something else."""
    kind = w.scalar()
    text = value(w, kind)
    name = w.fresh()
    w.line(f"{name} = {text}")
    w.declare(name, kind)


def redeclare(w: Writer) -> None:
    """A name of this block gets a value of another type: another live range."""
    here = [v for v in w.scopes[-1] if not v.fixed and v.name[0] in "vp"]
    if not here:
        return declare(w)
    variable = w.pick(here)
    kind = w.scalar()
    w.line(f"{variable.name} = {value(w, kind)}")
    variable.type, variable.uniform = kind, False


def assign(w: Writer) -> None:
    variable = w.pick(_assignable(w))
    if w.chance(0.5):
        text = f"{variable.name} = {value(w, variable.type)}"
    else:
        text = _augmented(w, variable.name, variable.type)
    w.line(text)
    variable.uniform = False


def _assignable(w: Writer) -> list[Variable]:
    return w.variables(lambda v: not v.fixed)


def _augmented(w: Writer, target: str, kind: Scalar) -> str:
    """``target op= value`` that leaves the type as it is."""
    if kind == WEAK_INT:
        return f"{target} = ({target} {w.pick('+-*^&|')} ({value(w, kind)})) % 1009"
    rows = [o for o in OPERATORS if o is not POW and _keeps(o, kind)]
    if not rows:
        return f"{target} = {value(w, kind)}"
    operator = w.pick(rows)
    partners = [kind, *(t for t in (WEAK_INT, kind) if operator.operands(kind, t) == kind)]
    partner = w.pick(partners)
    if operator in (SHL, SHR):
        return f"{target} {operator.symbol}= {w.rng.randrange(kind.dtype.bits + 2)}"
    return f"{target} {operator.symbol}= {value(w, partner)}"


def _keeps(operator: Operator, kind: Scalar) -> bool:
    common = operator.operands(kind, kind)
    return operator.result is not truth and common == kind and operator.result(common) == kind


def join_after_if(w: Writer) -> None:
    """A variable that gets two types in two arms, and has their join where they meet."""
    first, second = w.scalar(), w.scalar()
    if Kind.BOOL in (first.dtype.kind, second.dtype.kind):
        second = first
    texts = value(w, first), value(w, second)
    name = w.fresh("j")
    w.line(f"if {condition(w, 1)}:")
    w.line(f"    {name} = {texts[0]}")
    w.line("else:")
    w.line(f"    {name} = {texts[1]}")
    w.declare(name, join(first, second), fixed=True)


def join_in_loop(w: Writer) -> None:
    """``s = 0`` and ``s = s + x`` in a loop: the type of both, from the start."""
    kind = w.pick([v.type for v in w.variables(lambda v: not v.type.weak)] or [w.scalar()])
    if kind.dtype.kind is Kind.BOOL or kind.weak:
        return declare(w)
    name, counter = w.fresh("s"), w.fresh("n")
    w.line(f"{name} = {w.pick(('0', '1', '0.0' if kind.dtype.is_float else '2'))}")
    with w.block_of(f"for {counter} in range({w.rng.randint(0, 4)}):", uniform=False):
        w.declare(counter, WEAK_INT, fixed=True, bits=3)
        w.line(f"{name} = {name} {w.pick('+-*')} {Made(value(w, kind), kind).operand}")
    w.declare(name, kind, fixed=True)


def maybe_assigned(w: Writer) -> None:
    """A variable that only one path assigns reads 0 on the other."""
    kind = w.scalar()
    text = value(w, kind)
    w.counter += 1
    name = f"u{w.counter}"
    w.line(f"if {condition(w, 1)}:")
    w.line(f"    {name} = {text}")
    w.declare(name, kind, fixed=True)


def unpack(w: Writer) -> None:
    """``a, b = x, y``, also through a tuple in a variable."""
    kinds = [w.scalar() for _ in range(w.rng.randint(2, 3))]
    texts = [value(w, k) for k in kinds]
    names: list[str] = []
    for _ in kinds:
        names.append(_another(w, names))
    packed = ", ".join(f"({t})" for t in texts)
    if w.chance(0.4):
        whole = w.fresh("t")
        w.line(f"{whole} = ({packed})")
        packed = w.pick((whole, ", ".join(f"{whole}[{i}]" for i in range(len(kinds)))))
    w.line(f"{', '.join(names)} = {packed}")
    for name, kind in zip(names, kinds, strict=True):
        w.declare(name, kind)


def _another(w: Writer, taken: Sequence[str]) -> str:
    name = w.fresh()
    return name if name not in taken else w.fresh("w")


def swap(w: Writer) -> None:
    """Variables of one type change places."""
    first = w.pick(_assignable(w))
    same = w.variables(lambda v: not v.fixed and v.type == first.type and v.name != first.name)
    if not same:
        return assign(w)
    second = w.pick(same)
    w.line(f"{first.name}, {second.name} = {second.name}, {first.name}")
    first.uniform = second.uniform = False


def chained(w: Writer) -> None:
    kind = w.scalar()
    text = value(w, kind)
    first = w.fresh()
    second = _another(w, [first])
    w.line(f"{first} = {second} = {text}")
    w.declare(first, kind)
    w.declare(second, kind)


# ---- elements --------------------------------------------------------------------------------


def store(w: Writer) -> None:
    """To an element of the thread, plain or augmented."""
    array = w.pick(w.written())
    target = f"{array.name}[{w.pick(array.own)}]"
    if w.chance(0.7):
        w.line(f"{target} = {storable(w, array.type)}")
    else:
        w.line(_augmented(w, target, array.type))


def store_approximate(w: Writer) -> None:
    array = w.pick(w.approximate)
    kind = w.pick((array.type, array.type, array.type))
    w.line(f"{array.name}[{w.pick(array.own)}] = {library_call(w, kind, 1)}")


def count(w: Writer) -> None:
    """An atomic addition; what it gives depends on the order and is not used."""
    array = w.pick(w.accumulators)
    index = ", ".join(index_below(w, n) for n in array.shape)
    index = f"({index})" if len(array.shape) > 1 else index
    w.line(f"cuda.atomic.add({array.name}, {index}, {value(w, array.type)})")


def local_array(w: Writer) -> None:
    """An array of the thread, filled before it is read."""
    kind = w.strong()
    shape = w.pick(((2,), (4,), (5,), (2, 3), (3, 2)))
    name = w.fresh("m")
    w.line(
        f"{name} = cuda.local.array({shape[0] if len(shape) == 1 else shape}, {type_name(kind)})"
    )
    counters = [w.fresh("n") for _ in shape]
    depth = w.place.depth
    with w.inside(depth=depth, uniform=False):
        for counter, length in zip(counters, shape, strict=True):
            w.line(f"for {counter} in range({length}):")
            w.place.depth += 1
            w.declare(counter, WEAK_INT, fixed=True, bits=3)
        w.line(f"{name}[{', '.join(counters)}] = {storable(w, kind)}")
    w.place.depth = depth
    w.arrays.append(ArrayName(name, kind, shape, own=_indices_of_its_own(w, shape)))


def _indices_of_its_own(w: Writer, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Any element of a local array is the thread's own: by constants, and by what stays fixed."""
    names = [v.name for v in w.variables(lambda v: v.fixed and v.type == WEAK_INT)]

    def index(length: int) -> str:
        if names and w.chance(0.4):
            return f"{w.pick(names)} % {length}"
        return str(w.rng.randrange(-length, length))

    return tuple(", ".join(map(index, shape)) for _ in range(3))


# ---- control flow ----------------------------------------------------------------------------


def branch(w: Writer) -> None:
    """``if``, with ``elif`` and ``else``; sometimes on what the whole block agrees on."""
    uniform = w.place.uniform and w.chance(0.35)

    def test() -> str:
        return uniform_condition(w) if uniform else condition(w, 2)

    # leaving a loop from here, while others stay, would part them
    breaks = w.place.breaks and (uniform or not w.place.uniform)
    places = {"uniform": uniform, "breaks": breaks}
    with w.block_of(f"if {test()}:", **places):
        statements(w, 3)
    while w.chance(0.2):
        with w.block_of(f"elif {test()}:", **places):
            statements(w, 2)
    if w.chance(0.45):
        with w.block_of("else:", **places):
            statements(w, 3)


def uniform_condition(w: Writer) -> str:
    left = uniform_int(w)
    if w.chance(0.3):
        return f"{left} & 1"
    right = w.pick((str(w.rng.randrange(5)), uniform_int(w)))
    return f"{left} {w.pick(('<', '<=', '>', '>=', '==', '!='))} {right}"


def uniform_int(w: Writer) -> str:
    names = w.variables(lambda v: v.uniform and v.type == WEAK_INT)
    places = ["cuda.blockIdx.x", "cuda.gridDim.x", "cuda.blockDim.x", "cuda.blockIdx.y"]
    return w.pick([*[v.name for v in names] * 3, *places])


def count_up(w: Writer) -> None:
    """``for`` over a range of any form, with a few rounds at most."""
    name = w.fresh("n")
    uniform = w.place.uniform and w.chance(0.4)
    head, bits = _range(w, uniform)
    with w.block_of(f"for {name} in range({head}):", **_inside_loop(w, uniform)):
        w.declare(name, WEAK_INT, fixed=True, uniform=uniform, bits=bits)
        statements(w, 3)


def _inside_loop(w: Writer, uniform: bool) -> dict[str, object]:
    together = uniform or w.place.together
    return {"uniform": uniform, "loops": w.place.loops + 1, "breaks": True, "together": together}


def _range(w: Writer, uniform: bool) -> tuple[str, int]:
    form = w.rng.randrange(6)
    few = w.rng.randint(0, 4)
    if form == 0:
        return str(few), 2
    if form == 1:
        return f"{w.rng.randint(-3, 1)}, {few}", SMALL
    if form == 2:
        return f"{few}, {w.rng.randint(-4, 2)}, {w.pick((-1, -2, -3))}", SMALL
    if form == 3:
        return f"{w.rng.randint(-5, 3)}, {w.rng.randint(-2, 9)}, {w.pick((2, 3, 4))}", SMALL
    bound = uniform_int(w) if uniform else small(w, expression(w, WEAK_INT, 1))
    if form == 4:
        return f"({bound}) % 4", 2
    step = w.pick(("1", "2", "-1", f"({bound}) % 3 + 1", f"-(({bound}) % 3) - 1"))
    return f"({bound}) % 5, {w.rng.randint(-2, 6)}, {step}", SMALL


def repeat(w: Writer) -> None:
    """``while`` that counts to a few, and may be left before."""
    name = w.fresh("c")
    most = w.rng.randint(1, 4)
    uniform = w.place.uniform and w.chance(0.3)
    w.line(f"{name} = 0")
    test = f"{name} < {most}"
    if not uniform and w.chance(0.4):
        test = f"{test} and ({condition(w, 1)})"
    head = "while True:" if w.chance(0.25) else f"while {test}:"
    w.declare(name, WEAK_INT, fixed=True, uniform=uniform, bits=3)
    with w.block_of(head, **_inside_loop(w, uniform)):
        if head == "while True:":
            w.line(f"if {name} >= {most}:")
            w.line("    break")
        w.line(f"{name} += 1")
        statements(w, 3)


def leave_loop(w: Writer) -> None:
    """``break`` and ``continue``; the threads of the loop no longer go together then."""
    test = uniform_condition(w) if w.place.uniform else condition(w, 1)
    w.line(f"if {test}:")
    w.line(f"    {w.pick(('break', 'continue'))}")


def leave(w: Writer) -> None:
    """An early return; in a device function, of a value."""
    w.line(f"if {condition(w, 2)}:")
    result = w.place.returns
    if result is None:
        w.line("    return")
        w.left = True
        return
    w.line(f"    return {value(w, absorbed(w, result))}")


# ---- threads together ------------------------------------------------------------------------


def exchange(w: Writer) -> None:
    """Each thread writes a slot of shared memory; after a barrier all read all of it."""
    kind = w.strong()
    flat = len([n for n in w.block if n > 1]) <= 1 or w.chance(0.5)
    shape = (w.threads,) if flat else tuple(reversed(w.block))
    own = "t" if flat else "cuda.threadIdx.z, cuda.threadIdx.y, cuda.threadIdx.x"
    name = w.fresh("sh")
    w.line(
        f"{name} = cuda.shared.array({shape if len(shape) > 1 else shape[0]}, {type_name(kind)})"
    )
    w.line(f"{name}[{own}] = {storable(w, kind)}")
    w.line("cuda.syncthreads()")
    # the slots of threads that have left are not filled
    shared = ArrayName(name, kind, shape, own=(own,) if w.left else ())
    with w.inside(uniform=True):
        w.arrays.append(shared)
        if w.chance(0.6):  # in a variable that lives on behind the next barrier
            variable = w.fresh()
            w.line(f"{variable} = {element(w, shared).text}")
        else:
            variable = ""
            statements(w, 3)
    w.line("cuda.syncthreads()")
    if variable:
        w.declare(variable, kind)


def reduce(w: Writer) -> None:
    """A tree of sums in shared memory."""
    kind = w.strong()
    if kind.dtype.kind is Kind.BOOL or w.threads & (w.threads - 1) or w.left:
        return exchange(w)
    name, step = w.fresh("sh"), w.fresh("c")
    w.line(f"{name} = cuda.shared.array({w.threads}, {type_name(kind)})")
    w.line(f"{name}[t] = {value(w, kind)}")
    w.line("cuda.syncthreads()")
    w.line(f"{step} = {w.threads} // 2")
    with w.block_of(f"while {step} > 0:"):
        with w.block_of(f"if t < {step}:"):
            w.line(f"{name}[t] = {name}[t] {w.pick('+*')} {name}[t + {step}]")
        w.line("cuda.syncthreads()")
        w.line(f"{step} {w.pick(('//= 2', '>>= 1'))}")
    variable = w.fresh()
    w.line(f"{variable} = {name}[{w.rng.randrange(-w.threads, w.threads)}]")
    w.line("cuda.syncthreads()")
    w.declare(variable, kind)


def rounds(w: Writer) -> None:
    """A loop that all threads run, with an exchange in each round."""
    name = w.fresh("n")
    bound = w.pick((str(w.rng.randint(1, 3)), f"({uniform_int(w)}) % 3 + 1"))
    with w.block_of(f"for {name} in range({bound}):", **_inside_loop(w, True) | {"breaks": False}):
        w.declare(name, WEAK_INT, fixed=True, uniform=True, bits=2)
        exchange(w)
        statements(w, 2)


def call_for_effect(w: Writer) -> None:
    """A device function that writes through its array, or meets the block inside."""
    fitting = [d for d in w.devices if d.writes]
    if not fitting:
        return store(w)
    device = w.pick(fitting)
    arrays = [a for a in w.written() if _takes(a, device.parameters[0])]
    if not arrays:
        return store(w)
    array = w.pick(arrays)
    own = w.pick(array.own)
    rest = [value(w, p) for p in device.parameters[1:] if isinstance(p, Scalar)]
    w.line(f"{device.name}({', '.join([array.name, own, *rest])})")


def _takes(given: ArrayName, wanted: Scalar | ArrayName) -> bool:
    assert isinstance(wanted, ArrayName)
    return given.type == wanted.type and len(given.shape) == 1


@dataclass(frozen=True, slots=True)
class Production:
    """A way to write a statement, where ``applies`` says that it may stand."""

    weight: float
    applies: Callable[[Writer], bool]
    write: Callable[[Writer], None]


def _always(_: Writer) -> bool:
    return True


def _nests(w: Writer) -> bool:
    return w.place.depth < NESTING and w.budget > 0


def _loops(w: Writer) -> bool:
    return _nests(w) and w.place.loops < 2


def _together(w: Writer) -> bool:
    return w.place.uniform and not w.place.in_device and w.place.depth < NESTING


def _has_variable(w: Writer) -> bool:
    return bool(_assignable(w))


STATEMENTS: tuple[Production, ...] = (
    Production(4, _always, declare),
    Production(1, lambda w: not w.place.loops, redeclare),
    Production(4, _has_variable, assign),
    Production(1, lambda w: w.place.depth < NESTING, join_after_if),
    Production(1, _loops, join_in_loop),
    Production(0.4, lambda w: w.place.depth < NESTING, maybe_assigned),
    Production(1, _always, unpack),
    Production(0.7, _has_variable, swap),
    Production(0.4, _always, chained),
    Production(5, lambda w: bool(w.written()), store),
    Production(1, lambda w: bool(w.approximate), store_approximate),
    Production(0.8, lambda w: bool(w.accumulators), count),
    Production(0.8, lambda w: _nests(w) and bool(w.arrays), local_array),
    Production(3.5, _nests, branch),
    Production(2.5, _loops, count_up),
    Production(1.5, _loops, repeat),
    Production(1.5, lambda w: w.place.breaks, leave_loop),
    Production(0.4, lambda w: w.place.depth < NESTING and not w.place.together, leave),
    Production(2, lambda w: _together(w) and bool(w.arrays), exchange),
    Production(0.7, lambda w: _together(w) and _loops(w) and bool(w.arrays), reduce),
    Production(0.8, lambda w: _together(w) and _loops(w) and bool(w.arrays), rounds),
    Production(
        0.7, lambda w: any(d.writes for d in w.devices) and bool(w.written()), call_for_effect
    ),
)
