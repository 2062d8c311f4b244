"""What launches take: names, defaults, the rest; None, strings, functions, dtypes; tuples,
named tuples, records and frozen dataclasses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, float32, int32, kernel
from pycu2c.kernels.kernel import Kernel
from support.kernels_from_text import module_from


def launched(k: Kernel, target: str, *arguments: Any, **named: Any) -> Any:
    """What a kernel writes to its first argument, four elements of float32."""
    fresh = Kernel(k.python, backend=target, signature=k.signature, options=k.options)
    out = np.zeros(4, np.float32)
    fresh[1, 4](out, *arguments, **named)
    return out.tolist()


# ---- names, defaults, the rest -----------------------------------------------------------------


@kernel
def line(out, slope, offset=1, *, scale=2):
    i = cuda.grid(1)
    out[i] = (slope * i + offset) * scale


@pytest.mark.parametrize(
    ("arguments", "named", "expected"),
    [
        ((1,), {}, [2, 4, 6, 8]),
        ((1, 0), {}, [0, 2, 4, 6]),
        ((1,), {"offset": 2}, [4, 6, 8, 10]),
        ((), {"offset": 0, "slope": 3, "scale": 1}, [0, 3, 6, 9]),
        ((1.5,), {"scale": np.float32(1)}, [1, 2.5, 4, 5.5]),
    ],
)
def test_names_and_defaults(arguments, named, expected, target):
    assert launched(line, target, *arguments, **named) == expected


def test_every_argument_by_name(target):
    out = np.zeros(4, np.float32)
    Kernel(line.python, backend=target)[1, 4](scale=1, slope=1, out=out)
    assert out.tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, r"line takes 2 to 4 arguments \(out, slope, offset, scale\), 1 given: slope miss"),
        ((1, 2, 3), {}, "4 given"),
        ((1,), {"offse": 2}, "line has no parameter 'offse': did you mean offset"),
        ((1,), {"zzz": 2}, "no parameter 'zzz': it has out, slope, offset, scale"),
        ((1,), {"slope": 2}, "line: slope is given twice, by position and by name"),
    ],
)
def test_calls_that_do_not_fit(arguments, named, message):
    with pytest.raises(LaunchError, match=message):
        launched(line, "cpu", *arguments, **named)


@kernel
def summed(out, first, *rest, times=1):
    i = cuda.grid(1)
    total = first
    for value in rest:
        total += value
    out[i] = total * times


@pytest.mark.parametrize(
    ("arguments", "named", "expected"),
    [((5,), {}, 5), ((5, 1), {}, 6), ((5, 1.5, 2), {"times": 2}, 17)],
)
def test_the_rest_is_a_tuple(arguments, named, expected, target):
    assert launched(summed, target, *arguments, **named) == [expected] * 4


def test_the_rest_has_no_name():
    with pytest.raises(LaunchError, match="no parameter 'rest'"):
        launched(summed, "cpu", 1, rest=(1, 2))
    with pytest.raises(LaunchError, match=r"takes 2 or more arguments \(out, first, times, \*rest"):
        launched(summed, "cpu")


def test_a_default_may_be_an_array(target):
    weights = np.arange(4.0)

    @kernel
    def weighted(out, w=weights):
        i = cuda.grid(1)
        out[i] = w[i] * 2

    assert launched(weighted, target) == [0, 2, 4, 6]
    weights[0] = 5
    assert launched(weighted, target) == [10, 2, 4, 6]


def test_names_without_a_grid(target):
    out = np.zeros(100, np.float32)

    @kernel(backend=target, block=32)
    def filled(n, out, value=1):
        i = cuda.grid(1)
        if i < n:
            out[i] = value

    filled(out=out, n=70)
    assert out.sum() == 70


# ---- what is known when the kernel is compiled -------------------------------------------------


@kernel
def masked(out, mask=None):
    i = cuda.grid(1)
    out[i] = 1 if mask is None else mask[i]


def test_none_is_specialised_away(target):
    assert launched(masked, target) == [1] * 4
    assert launched(masked, target, np.arange(4)) == [0, 1, 2, 3]
    assert "mask" not in masked.inspect("cuda", "float32[::1], None").replace("masked", "")


@kernel
def moded(out, mode):
    i = cuda.grid(1)
    out[i] = i + 1 if mode == "up" else -i


def test_strings_choose(target):
    assert launched(moded, target, "up") == [1, 2, 3, 4]
    assert launched(moded, target, "down") == [0, -1, -2, -3]


@device
def doubled(x):
    return 2 * x


@kernel
def applied(out, f, dtype):
    i = cuda.grid(1)
    out[i] = f(dtype(i) + 1)


@pytest.mark.parametrize("dtype", [np.float32, float32, np.dtype("float32")])
@pytest.mark.parametrize(
    ("function", "expected"), [(doubled, [2, 4, 6, 8]), (math.sqrt, None), (np.sqrt, None)]
)
def test_functions_and_dtypes(function, expected, dtype, target):
    expected = expected or np.sqrt(np.arange(1, 5, dtype=np.float32)).tolist()
    assert launched(applied, target, function, dtype) == expected


def test_equal_sources_are_compiled_once():
    fresh = Kernel(applied.python, backend="cpu")
    out = np.zeros(4, np.float32)
    for dtype in (np.float32, float32, np.dtype("float32")):
        fresh[1, 4](out, doubled, dtype)
    assert len(fresh.launcher._typed) == 1
    words = Kernel(moded.python, backend="cpu")
    for word in ("up", "".join(("u", "p")), "down"):
        words[1, 4](out, word)
    assert len(words.launcher._typed) == 2


def test_a_plain_function_is_reported_at_its_call():
    with pytest.raises(CompileError, match=r"wrap it: device\(lambda …\)"):
        launched(applied, "cpu", lambda x: x, np.float32)


# ---- tuples ------------------------------------------------------------------------------------


class Point(NamedTuple):
    x: float32
    y: int


@dataclass(frozen=True)
class Settings:
    scale: float
    at: Point
    data: Any
    mode: str = "add"


@dataclass
class Loose:
    scale: float


@kernel
def placed(out, p):
    i = cuda.grid(1)
    out[i] = p[0] * i + p[1]


@kernel
def named(out, p):
    i = cuda.grid(1)
    out[i] = p.x * i + p.y


@kernel
def keyed(out, p):
    i = cuda.grid(1)
    out[i] = p["x"] * i + p["y"]


RECORD = np.array([(2.5, 1)], dtype=[("x", "f4"), ("y", "i4")])


def test_a_tuple(target):
    assert launched(placed, target, (2.5, 1)) == [1, 3.5, 6, 8.5]
    assert launched(placed, target, (np.float32(2.5), np.int8(1))) == [1, 3.5, 6, 8.5]


@pytest.mark.parametrize("value", [Point(2.5, 1), RECORD[0], RECORD.view(np.recarray)[0]])
def test_fields(value, target):
    assert launched(named, target, value) == [1, 3.5, 6, 8.5]


def test_keys_of_a_record(target):
    assert launched(keyed, target, RECORD[0]) == [1, 3.5, 6, 8.5]


def test_a_record_is_passed_by_value(target):
    @kernel
    def summed_parts(out, p):
        i = cuda.grid(1)
        out[i] = p.at[0] + p.at[1] + p.size.w * i

    value = np.zeros(1, [("at", "f4", (2,)), ("size", [("w", "i2")])])[0]
    value["at"], value["size"]["w"] = (1, 2), 3
    assert launched(summed_parts, target, value) == [3, 6, 9, 12]


@kernel
def configured(out, s):
    i = cuda.grid(1)
    out[i] = s.scale * s.data[i] + s.at.x + s.at.y
    if s.mode == "add":
        out[i] += 100


def test_a_frozen_dataclass(target):
    settings = Settings(2.0, Point(0.5, 1), np.arange(4.0))
    assert launched(configured, target, settings) == [101.5, 103.5, 105.5, 107.5]
    quiet = Settings(2.0, Point(0.5, 1), np.arange(4.0), "quiet")
    assert launched(configured, target, quiet) == [1.5, 3.5, 5.5, 7.5]


@kernel
def copied(pair, empty):
    i = cuda.grid(1)
    (source, into), factor = pair
    into[i] = source[i] * factor


def test_arrays_inside_of_tuples_are_written(target):
    into = np.zeros(4)
    fresh = Kernel(copied.python, backend=target)
    fresh[1, 4](((np.arange(4.0), into), 2), ())
    assert into.tolist() == [0, 2, 4, 6]


def test_a_grid_may_follow_from_an_array_in_a_tuple(target):
    @kernel(backend=target, block=32)
    def halved(n, pair):
        i = cuda.grid(1)
        if i < len(pair[1]):
            pair[1][i] = pair[0] / n

    out = np.zeros(100)
    halved(2, (5, out))
    assert out.tolist() == [2.5] * 100


def test_errors_name_the_item():
    into = np.zeros(4)
    into.flags.writeable = False
    fresh = Kernel(copied.python, backend="cpu")
    with pytest.raises(LaunchError, match=r"argument 1 \(pair\), item 1, item 2 is written"):
        fresh[1, 4](((np.arange(4.0), into), 2), ())
    with pytest.raises(LaunchError, match=r"argument 1 \(pair\), item 2 is a list.*pass a tuple"):
        fresh[1, 4](((into, into), [2]), ())
    with pytest.raises(LaunchError, match=r"argument 2 \(s\), item at is a dict.*named tuple"):
        launched(configured, "cpu", Settings(1.0, {"x": 1}, into))
    with pytest.raises(LaunchError, match=r"argument 2 \(s\) is a Loose, which can .*frozen=True"):
        launched(configured, "cpu", Loose(1.0))


# ---- declared signatures -----------------------------------------------------------------------


@kernel("void(float32[:], (int32, float32), None)")
def declared(out, p, z):
    i = cuda.grid(1)
    if z is None:
        out[i] = p[0] * p[1]


def test_a_declared_tuple(target):
    assert launched(declared, target, (2, 1.25), None) == [2.5] * 4
    assert str(declared.signature) == "(float32[:], (int32, float32), None)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2.5, 1.0), None), r"argument 2 \(p\), item 1 is declared `int32`, given 2.5"),
        (((2, 1.0, 3), None), r"declared `\(int32, float32\)`, given `\(int, float, int\)`"),
        (((2, 1.0), 3), r"argument 3 \(z\) is declared `None`, given 3"),
        ((np.zeros(2), None), r"declared `\(int32, float32\)`, given `float64\[::1\]`"),
        ((7, None), r"argument 2 \(p\) is declared `\(int32, float32\)`, given 7"),
    ],
)
def test_values_that_a_declared_tuple_rejects(arguments, message):
    with pytest.raises(LaunchError, match=message):
        launched(declared, "cpu", *arguments)


@kernel
def annotated(out: float32[:], q: Point, t: tuple[int32, float], *, z: None = None):
    i = cuda.grid(1)
    out[i] = q.x * q.y + t[0] * t[1]


def test_annotations(target):
    assert str(annotated.signature) == ("(float32[:], (x: float32, y: int), (int32, float), None)")
    assert launched(annotated, target, (1.5, 2), (1, 2.0)) == [5] * 4
    assert launched(annotated, target, Point(1.5, 2), (1, 2.0)) == [5] * 4


def test_unions_are_typed_for_each_launch(tmp_path, target):
    text = """
    from pycu2c import cuda, float32, kernel

    @kernel
    def chosen(out: float32[:], n: int | None):
        i = cuda.grid(1)
        out[i] = 7 if n is None else n
    """
    for head in ("", "from __future__ import annotations\n"):
        body = "\n".join(line[4:] for line in text.splitlines())
        chosen = module_from(head + body, tmp_path).chosen
        assert chosen.signature is None
        assert launched(chosen, target, None) == [7] * 4
        assert launched(chosen, target, 3) == [3] * 4


def test_a_number_that_is_no_integer_is_rejected():
    @kernel("float32[:], int32")
    def whole(out, n):
        out[0] = n

    for value in (math.inf, math.nan, 2.5, 2**40, 1j):
        with pytest.raises(LaunchError, match=r"argument 2 \(n\) is declared `int32`, given"):
            launched(whole, "cpu", value)


@kernel("float32[:], float32")
def declared_float(out, x):
    out[cuda.grid(1)] = x


@pytest.mark.parametrize(
    "arguments", [1e300, -1e39, 10**400, -(2**200), np.float64(1e300), np.float64(0.1)]
)
def test_a_declared_float_holds_what_it_is_given(arguments: Any, target: str) -> None:
    with pytest.raises(LaunchError, match=r"is declared `float32`, given .*: declare a wider"):
        launched(declared_float, target, arguments)


@pytest.mark.parametrize(
    "arguments", [math.inf, -math.inf, 3.25, 0.1, np.float64(math.inf), 2**100, np.float64(0.5)]
)
def test_a_declared_float_takes_infinities_and_rounds_floats(arguments: Any, target: str) -> None:
    assert launched(declared_float, target, arguments) == [float(np.float32(arguments))] * 4


def test_a_declared_float_takes_nan(target: str) -> None:
    for arguments in (math.nan, np.float64(math.nan)):
        assert all(map(math.isnan, launched(declared_float, target, arguments)))


def test_a_kernel_declared_for_several_signatures(target):
    @kernel(signature=["void(float32[:], float32)", "void(int32[:], int32)", "float64[:], float64"])
    def add(out, n):
        out[cuda.grid(1)] += n

    assert add.signature is None
    assert len(add.launcher.signatures) == 3
    for dtype in ("f4", "i4", "f8"):
        arguments = np.zeros(4, dtype)
        Kernel(add.python, backend=target, signature=list(add.declared))[1, 4](arguments, 2)
        assert arguments.tolist() == [2] * 4
    add[1, 4](np.zeros(4, "f8"), 2.5)
    assert str(add.launcher.latest) == "(float64[::1], float64)"
    with pytest.raises(LaunchError, match=r"add is declared for \(float32\[:\], .* given \(uint8"):
        add[1, 4](np.zeros(4, np.uint8), 2)


def test_an_array_type_is_no_argument() -> None:
    @kernel
    def k(out, kind):
        out[0] = 1

    with pytest.raises(LaunchError, match=r"argument 2 \(kind\) is an Array; kernels take"):
        k[1, 1](np.zeros(1), float32[:])
