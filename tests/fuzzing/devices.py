"""Device functions: how they are drawn, and the calls of them.

Numbers, arrays and records go in, by position and by name; one number comes out, or a tuple, or
nothing but what was written to an array.
"""

from __future__ import annotations

from fuzzing.expressions import any_type, expression, literal, makes
from fuzzing.statements import another, small, statements, store, value, writes
from fuzzing.writing import (
    FLOATS,
    SMALL,
    STRONG,
    WEAK,
    ArrayName,
    DeviceName,
    Made,
    Place,
    RecordType,
    Writer,
)
from pycu2c.base.types import WEAK_INT, Scalar

Parameter = Scalar | ArrayName | RecordType


# ---- definitions -----------------------------------------------------------------------------


def draw_device(w: Writer, name: str) -> list[str]:
    """The lines of a function that the kernel of ``w`` may call from now on."""
    inner = Writer(w.rng, devices=w.devices, constants=w.constants)
    inner.place = Place(uniform=False, in_device=True)
    inner.budget = w.rng.randint(0, 5)
    shown: list[str] = []
    parameters: list[Parameter] = []
    writes_array = w.chance(0.3)
    if writes_array or w.chance(0.4):
        _take_array(w, inner, parameters, shown, writes_array)
    elif w.records and w.chance(0.4):
        _take_record(w, inner, parameters, shown)
    for position in range(w.rng.randint(0 if shown else 1, 3)):
        kind = w.pick((*STRONG, *FLOATS, *WEAK))
        parameters.append(kind)
        shown.append(f"p{position}")
        inner.declare(f"p{position}", kind)
    names = tuple(shown)
    defaults = _with_defaults(w, parameters, shown)
    rest = w.chance(0.15)
    if rest:
        shown.append("*rest")
        inner.declare("len(rest)", WEAK_INT, fixed=True, bits=2)
        inner.declare("sum(rest)", WEAK_INT, fixed=True, bits=SMALL + 2)
    results = () if writes_array else _results(w)
    _body(inner, results, parameters[0] if writes_array else None)
    w.devices.append(
        DeviceName(name, tuple(parameters), names, results, writes_array, defaults, rest)
    )
    return ["", "", "@device", f"def {name}({', '.join(shown)}):", *inner.lines]


def _take_array(
    w: Writer, inner: Writer, parameters: list[Parameter], shown: list[str], writes_array: bool
) -> None:
    """An array to read, or to write at ``k``."""
    if writes_array:
        arguments = w.pick([a for a in w.written() if a.whole])
        array = ArrayName("a", arguments.type, (1,), own=("k",))
        inner.declare("k", WEAK_INT, fixed=True, bits=6)
        shown += ["a", "k"]
    else:
        arguments = w.pick([a for a in w.arrays if not a.own and a.whole])
        array = ArrayName("a", arguments.type, arguments.shape)
        shown.append("a")
    parameters.append(array)
    inner.arrays.append(array)


def _take_record(w: Writer, inner: Writer, parameters: list[Parameter], shown: list[str]) -> None:
    record = w.pick(w.records).type
    for name, kind in record.fields:
        inner.declare(f"e.{name}", kind, fixed=True)
    parameters.append(record)
    shown.append("e")


def _with_defaults(w: Writer, parameters: list[Parameter], shown: list[str]) -> int:
    """Some of the last parameters get a value in ``shown``."""
    count = 0
    while w.chance(0.2) and count < len(parameters):
        kind = parameters[-1 - count]
        if not isinstance(kind, Scalar) or kind.dtype.is_half:  # a half has no Python spelling
            break
        shown[-1 - count] += f"={literal(w, kind).text}"
        count += 1
    return count


def _results(w: Writer) -> tuple[Scalar, ...]:
    count = w.pick((1, 1, 1, 2, 3))
    return tuple(w.pick((*STRONG, *FLOATS, *WEAK)) for _ in range(count))


def _body(inner: Writer, results: tuple[Scalar, ...], array: Parameter | None) -> None:
    inner.place.returns = results
    if inner.budget or array is not None:
        inner.budget += array is not None
        statements(inner, 4)
    if results:
        inner.line(f"return {', '.join(value(inner, kind) for kind in results)}")
    elif isinstance(array, ArrayName):
        inner.line(f"a[k] = {value(inner, array.type)}")


# ---- calls -----------------------------------------------------------------------------------


@makes(2.5, any_type)
def device_call(w: Writer, kind: Scalar, depth: int) -> Made | None:
    """A call of a device function that gives this type, or an item of the tuple that it gives."""
    fitting = [d for d in w.devices if kind in d.results]
    if not fitting or w.chance(0.4):
        return None
    device = w.pick(fitting)
    arguments = _arguments(w, device, depth)
    if arguments is None:
        return None
    text = f"{device.name}({arguments})"
    if len(device.results) > 1:
        text += f"[{device.results.index(kind)}]"
    return Made(text, kind, SMALL)


@writes(1, lambda w: any(len(d.results) > 1 for d in w.devices))
def unpack_results(w: Writer) -> None:
    """``v, w = d(x)``"""
    device = w.pick([d for d in w.devices if len(d.results) > 1])
    arguments = _arguments(w, device, 2)
    if arguments is None:
        return
    names: list[str] = []
    for _ in device.results:
        names.append(another(w, names))
    w.line(f"{', '.join(names)} = {device.name}({arguments})")
    for name, kind in zip(names, device.results, strict=True):
        w.declare(name, kind)


def _arguments(w: Writer, device: DeviceName, depth: int) -> str | None:
    """The text between the parentheses; None where no array fits."""
    texts: list[str] = []
    for parameter in device.parameters:
        text = _argument(w, parameter, depth)
        if text is None:
            return None
        texts.append(text)
    if device.writes:
        return None
    return _listed(w, device, texts)


def _argument(w: Writer, parameter: Parameter, depth: int) -> str | None:
    match parameter:
        case Scalar():
            return _small(w, expression(w, parameter, depth - 1))
        case ArrayName():
            fits = [a for a in w.arrays if _fits(a, parameter)]
            return w.pick(fits).name if fits else None
        case RecordType():
            fits_too = [r.text for r in w.records if r.type == parameter]
            return w.pick(fits_too) if fits_too else None


def _listed(w: Writer, device: DeviceName, texts: list[str]) -> str:
    """Some arguments by name, some left to their defaults."""
    if device.rest and len(texts) == len(device.names):
        more = [small(w, expression(w, WEAK_INT, 1)) for _ in range(w.rng.randrange(4))]
        if more and w.chance(0.5):
            more = [f"*({', '.join(more)},)"]
        return ", ".join([*texts, *more])
    left = len(texts) - (w.rng.randint(0, device.defaults) if device.defaults else 0)
    named = w.rng.randint(0, left) if w.chance(0.3) and not device.rest else left
    by_name = [f"{n}={t}" for n, t in zip(device.names[named:left], texts[named:left])]
    w.rng.shuffle(by_name)
    return ", ".join([*texts[:named], *by_name])


def _small(w: Writer, made: Made) -> str:
    if made.type != WEAK_INT or made.bits <= SMALL:
        return made.text
    return f"{made.operand} % 1009"


def _fits(arguments: ArrayName, expected: ArrayName) -> bool:
    """Whether an array may be passed for reading."""
    if (
        arguments.type != expected.type
        or len(arguments.shape) != len(expected.shape)
        or arguments.own
    ):
        return False
    return arguments.whole and all(
        a >= b for a, b in zip(arguments.shape, expected.shape, strict=True)
    )


@writes(0.7, lambda w: bool(w.written()) and any(d.writes for d in w.devices))
def call_for_effect(w: Writer) -> None:
    """A device function that writes through its array."""
    device = w.pick([d for d in w.devices if d.writes])
    requested, *rest = device.parameters
    arrays = [a for a in w.written() if _takes(a, requested)]
    if not arrays:
        return store(w)
    array = w.pick(arrays)
    texts = [array.name, w.pick(array.own)]
    texts += [_small(w, expression(w, p, 2)) for p in rest if isinstance(p, Scalar)]
    w.line(f"{device.name}({_listed(w, device, texts)})")


def _takes(arguments: ArrayName, expected: Parameter) -> bool:
    assert isinstance(expected, ArrayName)
    return arguments.type == expected.type and len(arguments.shape) == 1 and arguments.whole
