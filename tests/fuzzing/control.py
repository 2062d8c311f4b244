"""Control flow: branches, loops of every form, and jumps out of them."""

from __future__ import annotations

from fuzzing.expressions import absorbed, expression
from fuzzing.operations import condition
from fuzzing.statements import NESTING, loops, nests, small, statements, value, writes
from fuzzing.writing import SMALL, Writer
from pycu2c.base.types import WEAK_INT


@writes(3.5, nests)
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


@writes(2.5, loops)
def count_up(w: Writer) -> None:
    """``for`` over a range of any form, with a few rounds at most."""
    name = w.fresh("n")
    uniform = w.place.uniform and w.chance(0.4)
    head, bits = _range(w, uniform)
    with w.block_of(f"for {name} in range({head}):", **inside_loop(w, uniform)):
        w.declare(name, WEAK_INT, fixed=True, uniform=uniform, bits=bits)
        statements(w, 3)


def inside_loop(w: Writer, uniform: bool) -> dict[str, object]:
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


@writes(1.5, loops)
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
    with w.block_of(head, **inside_loop(w, uniform)):
        if head == "while True:":
            w.line(f"if {name} >= {most}:")
            w.line("    break")
        w.line(f"{name} += 1")
        statements(w, 3)


@writes(1.5, lambda w: w.place.breaks)
def leave_loop(w: Writer) -> None:
    """``break`` and ``continue``; the threads of the loop no longer go together then."""
    test = uniform_condition(w) if w.place.uniform else condition(w, 1)
    w.line(f"if {test}:")
    w.line(f"    {w.pick(('break', 'continue'))}")


@writes(0.4, lambda w: w.place.depth < NESTING and not w.place.together)
def leave(w: Writer) -> None:
    """An early return; in a device function, of a value."""
    w.line(f"if {condition(w, 2)}:")
    if w.place.returns:
        results = ", ".join(value(w, absorbed(w, kind)) for kind in w.place.returns)
        w.line(f"    return {results}")
        return
    w.line("    return")
    w.left = True
