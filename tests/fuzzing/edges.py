"""Values at the ends of intervals and types, and atomic updates whose old value is used."""

from __future__ import annotations

from fuzzing.expressions import expression, not_constant
from fuzzing.operations import condition
from fuzzing.statements import assignable, augmented, nests, small, value, writes
from fuzzing.writing import INTEGERS, WIDEST, ArrayName, Writer
from pycu2c.base.types import WEAK_INT

_ENDS = tuple(
    sign * (1 << bits) + offset
    for bits in (0, 3, 7, 8, 15, 16, 30, 31, 32)
    for sign in (1, -1)
    for offset in (-1, 0, 1)
)
_LIMITS = tuple(1 << bits for bits in (7, 8, 15, 16, 31, 31, 32, 53))


@writes(1.5)
def bounded(w: Writer) -> None:
    """A Python int between two numbers, both of which it has in some thread; what is computed from
    it is near the end of a type, compared with that end and converted."""
    low, high = sorted((w.pick(_ENDS), w.pick((0, *_ENDS))))
    high += low == high  # no constant
    made = expression(w, WEAK_INT, 1)
    source = small(w, not_constant(w, made) if made.constant else made)
    step = max(1, (high - low) >> w.rng.randrange(6))
    name = w.fresh("b")
    first, last = (f"max({{}}, {low})", f"min({{}}, {high})")
    inner, outer = w.pick(((first, last), (last, first)))
    shifted = f"(({source}) - {w.rng.randrange(6)}) * {step}"
    w.line(f"{name} = {outer.format(inner.format(shifted))}")
    magnitude = max(abs(low), abs(high), 1)
    w.declare(name, WEAK_INT, fixed=True, bits=magnitude.bit_length())
    for _ in range(w.rng.randint(1, 3)):
        limit = w.pick(_LIMITS)
        derived = _near(w, name, magnitude, limit)
        kind, result = w.pick(INTEGERS), w.fresh()
        if w.chance(0.5):
            w.line(f"{result} = {kind.dtype}({derived})")
        else:
            end = w.pick((limit, -limit, low, high)) + w.rng.randint(-1, 1)
            test = f"{derived} {w.pick(('<', '<=', '>', '>=', '==', '!='))} {end}"
            w.line(f"{result} = {kind.dtype}(1) if {test} else {kind.dtype}(2)")
        w.declare(result, kind)


def _near(w: Writer, name: str, magnitude: int, limit: int) -> str:
    """The text of arithmetic on a variable of that magnitude; its results are near a limit."""
    factor = max(limit // magnitude + w.rng.randint(-1, 1), 1)
    divisor = w.pick((1, 2, 3, 7, 8, 10, 255, 256, 65535)) * w.pick((1, 1, -1))
    shift = w.rng.randrange(max(1, min(32, WIDEST - magnitude.bit_length())))
    return w.pick(
        (
            f"({name} * {factor})",
            f"({name} * {-factor})",
            f"({name} + {limit - magnitude + w.rng.randint(-1, 1)})",
            f"({-limit} - {name})",
            f"(-{name})",
            f"(~{name})",
            f"abs({name})",
            f"({name} // {divisor})",
            f"({name} % {divisor})",
            f"({name} & {limit - w.rng.randint(1, 5)})",
            f"({name} | {limit - 1})",
            f"({name} ^ {limit})",
            f"({name} >> {w.rng.randrange(33)})",
            f"({name} << {shift})",
        )
    )


def updatable(w: Writer) -> list[ArrayName]:
    """Arrays that other threads can access: atomics on local ones are rejected."""
    shared = [a for a in w.written() if a.whole and a.name[0] == "o"]
    return [a for a in shared if a.type in INTEGERS]


@writes(1, lambda w: bool(updatable(w)))
def use_old_value(w: Writer) -> None:
    """``x = x + atomic(…)``: the element is the thread's own, so that its old value is defined."""
    array = w.pick(updatable(w))
    index = w.pick(array.own)
    index = f"({index})" if len(array.shape) > 1 else index
    name = w.pick(("add", "sub", "max", "min", "and_", "or_", "xor", "exch"))
    old = f"cuda.atomic.{name}({array.name}, {index}, {value(w, array.type)})"
    same = [v for v in assignable(w) if v.type == array.type]
    if not same:
        result = w.fresh()
        w.line(f"{result} = {old}")
        w.declare(result, array.type)
        return
    variable = w.pick(same)
    symbol = w.pick("+-^|")
    w.line(
        w.pick(
            (
                f"{variable.name} = {variable.name} {symbol} {old}",
                f"{variable.name} = {old} {symbol} {variable.name}",
                f"{variable.name} {symbol}= {old}",
            )
        )
    )
    variable.uniform = False


@writes(0.7, nests)
def wrap_in_loop(w: Writer) -> None:
    """A small integer that wraps while a loop adds to it."""
    kind = w.pick([t for t in INTEGERS if t.dtype.bits <= 16])
    name, counter = w.fresh("s"), w.fresh("n")
    end = w.pick((kind.dtype.maximum, kind.dtype.minimum, kind.dtype.maximum // 2))
    w.line(f"{name} = {kind.dtype}({end})")
    w.declare(name, kind, fixed=True)
    with w.block_of(f"for {counter} in range({w.rng.randint(1, 4)}):", uniform=False):
        w.declare(counter, WEAK_INT, fixed=True, bits=3)
        w.line(augmented(w, name, kind))
        if w.chance(0.5):
            w.line(f"if {condition(w, 1)}:")
            w.line(f"    {augmented(w, name, kind)}")
