"""Weak constants that reach a strong type: each way there, with constants that do not fit."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest

from pycu2c import CompileError
from pycu2c.kernels.kernel import Kernel
from support.kernels_from_text import module_from
from support.launching import run

HEADER = """
import numpy as np
from pycu2c import cuda, device, kernel
from pycu2c.types import *

GLOBAL = {c}
RECORD = np.dtype([("x", np.{t})])

@device
def one_return(x, chosen):
    if chosen:
        return x
    return {c}

@device
def two_results(x, chosen):
    if chosen:
        return x, x
    return {c}, {c}

@device
def constant():
    return {c}

@device
def add_default(x, k={c}):
    return x + k

@device
def add(x, k):
    return x + k

@device
def add_indirectly(x, k):
    return add(x, k)

@device
def clamp(x, low, high):
    return min(max(x, low), high)

@device("{t}({t}, {t})")
def add_declared(x, k):
    return x + k

@device("{t}({t})")
def declared_result(x):
    return {c}

@device
def parameter_join(x, k, chosen):
    if chosen:
        k = x
    return k

@device
def countdown(x: {t}, k: int, n: int) -> {t}:
    return x + k if n < 1 else countdown(x, k, n - 1)

"""

# ``x`` is an element of the strong type, ``out`` and ``a`` are arrays of it, ``n`` is an int
DIRECT = {
    "store": "out[0] = {c}",
    "global": "out[0] = GLOBAL",
    "operand": "out[0] = x + {c}",
    "annotation": "y: {t} = {c}\nout[0] = y",
    "augmented assignment": "x += {c}\nout[0] = x",
    "augmented element": "out[0] += {c}",
    "declared argument": "out[0] = add_declared(x, {c})",
    "declared result": "out[0] = declared_result(x)",
    "conditional expression": "out[0] = x if n > 0 else {c}",
    "and": "out[0] = x and {c}",
    "or": "out[0] = x or {c}",
    "branch": "if n > 0:\n    y = x\nelse:\n    y = {c}\nout[0] = y",
    "loop": "y = {c}\nfor i in range(n):\n    y = a[i]\nout[0] = y",
    "match": "match n:\n    case 0:\n        y = x\n    case _:\n        y = {c}\nout[0] = y",
    "item of a tuple": "out[0] = (x, {c})[n]",
    "loop over a tuple": "for y in (1, {c}):\n    x = x + y\nout[0] = x",
    "comprehension": "out[0] = sum([x + k for k in (1, {c})])",
    "lambda": "out[0] = (lambda y: y if n > 0 else {c})(x)",
    "min": "out[0] = min(x, {c})",
    "clip": "out[0] = np.clip(x, 0, {c})",
    "where": "out[0] = np.where(n > 0, x, {c})",
    "selp": "out[0] = cuda.selp(n > 0, x, {c})",
    "atomic": "cuda.atomic.max(out, 0, {c})",
    "shared array": "s = cuda.shared.array(4, {t})\ns[0] = {c}\nout[0] = s[0]",
    "field": "s = cuda.local.array(4, RECORD)\ns[0].x = {c}\nout[0] = s[0].x",
    "slice": "out[0:2] = {c}",
    "slice of a tuple": "out[0:2] = (1, {c})",
    "conversion": "out[0] = {t}({c})",
    "shift": "out[0] = x << {c}",
}
INDIRECT = {
    "return": "out[0] = one_return(x, n > 0)",
    "returned tuple": "q, r = two_results(x, n > 0)\nout[0] = r",
    "local function": "def f(c):\n    if c:\n        return x\n    return {c}\nout[0] = f(n > 0)",
    "captured variable": "k = {c}\ndef f(y):\n    return y + k\nout[0] = f(x)",
    "local default": "def f(y, k={c}):\n    return y + k\nout[0] = f(x)",
    "default": "out[0] = add_default(x)",
    "argument": "out[0] = add(x, {c})",
    "argument of an argument": "out[0] = add_indirectly(x, {c})",
    "one of two calls": "out[0] = add(x, n) + add(x, {c})",
    "named argument": "k = {c}\nout[0] = add(x, k)",
    "recursion": "out[0] = countdown(x, {c}, n)",
    "result": "out[0] = constant()",
    "result as an operand": "out[0] = x + constant()",
    "assigned parameter": "out[0] = parameter_join(x, {c}, n > 0)",
    "stored choice": "out[0] = 1 if n > 0 else {c}",
    "choice beside a number": "out[0] = int(n) if n > 0 else {c}",
    "named choice": "y = 1 if n > 0 else {c}\nout[0] = y",
    "name": "y = {c}\nout[0] = y",
    "named operand": "y = {c}\nout[0] = x + y",
    "name with two constants": "y = {c}\nif n > 0:\n    y = 1\nout[0] = y",
    "name of a name": "start = {c}\ny = start\nfor i in range(n):\n    y = a[i]\nout[0] = y",
    "arithmetic on names": "y = {c}\nz = y + 1\nout[0] = x + (z - 1)",
    "exchanged names": "y, z = {c}, 1\ny, z = z, y\nout[0] = z",
    "walrus": "out[0] = x + (y := {c})",
    "item of constants": "out[0] = (1, {c})[n]",
    "item of a table": "out[0] = (1, 2, 3, {c})[n]",
    "item as an operand": "out[0] = x + (1, 2, 3, {c})[n]",
    "item of a row": "out[0] = x + ((1, 2), (3, {c}))[n][n]",
    "named item of a table": "y = (1, 2, 3, {c})[n]\nout[0] = y",
    "item of a name": "t = (1, {c})\nout[0] = x + t[1]",
    "limit of a function": "out[0] = clamp(x, 0, {c})",
    "named atomic": "k = {c}\ncuda.atomic.max(out, 0, k)",
    "named in a local array": "s = cuda.local.array(4, {t})\nk = {c}\ns[0] = k\nout[0] = s[0]",
    "named conversion": "k = {c}\nout[0] = {t}(k)",
    "named shift": "k = {c}\nout[0] = x >> k",
}
WAYS = DIRECT | INDIRECT
NO_FLOAT = {"shift", "named shift", "atomic", "named atomic"}

TOO_WIDE = [
    ("uint8", "300"),
    ("uint8", "-1"),
    ("int8", "200"),
    ("int8", "-129"),
    ("uint16", "-1"),
    ("int16", "2**15"),
    ("uint32", "-1"),
    ("int32", "2**31"),
    ("uint64", "-1"),
    ("int64", "2**63"),
]


def kernel_of(body: str, dtype: str, constant: str, folder: Path) -> Kernel:
    head = f'@kernel("void({dtype}[:], {dtype}[:], int64)")\ndef k(out, a, n):\n    x = a[0]\n'
    lines = textwrap.indent(body.format(t=dtype, c=constant), "    ")
    text = HEADER.format(t=dtype, c=constant) + head + lines + "\n"
    result: Kernel = module_from(text, folder).k
    return result


def is_rejected(body: str, dtype: str, constant: str, folder: Path) -> bool:
    try:
        kernel_of(body, dtype, constant, folder)
    except CompileError as error:
        return error.code == "constant-range"
    return False


@pytest.mark.parametrize(("dtype", "constant"), TOO_WIDE)
def test_a_constant_that_does_not_fit_is_an_error_on_every_way(
    dtype: str, constant: str, tmp_path: Path
) -> None:
    ways = WAYS.items()
    accepted = [way for way, body in ways if not is_rejected(body, dtype, constant, tmp_path)]
    assert accepted == []


@pytest.mark.parametrize("constant", ["300.5", "-1.0", "float('nan')"])
def test_a_float_constant_fits_an_integer_element(constant: str, tmp_path: Path) -> None:
    stores = (
        "store",
        "name",
        "name with two constants",
        "stored choice",
        "result",
        "item of a table",
    )
    accepted = [way for way in stores if not is_rejected(WAYS[way], "uint8", constant, tmp_path)]
    assert accepted == []


@pytest.mark.parametrize(("dtype", "constant"), [("uint8", "7"), ("int32", "-7"), ("uint64", "3")])
@pytest.mark.parametrize("way", WAYS)
def test_a_constant_that_fits_is_exact(
    way: str, dtype: str, constant: str, target: str, tmp_path: Path
) -> None:
    if constant == "-7" and "shift" in way:
        pytest.skip("a shift by a negative number is undefined")
    kernel = kernel_of(WAYS[way], dtype, constant, tmp_path)
    arguments = (np.zeros(4, dtype), np.ones(4, dtype), 1)
    expected = run(kernel, (1, 1), arguments, "python")[0]
    assert run(kernel, (1, 1), arguments, target)[0].tolist() == expected.tolist()


@pytest.mark.parametrize(("dtype", "constant"), [("float32", "1e300"), ("float16", "100000")])
@pytest.mark.parametrize("way", ["store", "operand", "return", "name", "argument", "result"])
def test_a_constant_beyond_a_float_type_is_infinite(
    way: str, dtype: str, constant: str, target: str, tmp_path: Path
) -> None:
    kernel = kernel_of(WAYS[way], dtype, constant, tmp_path)
    arguments = (np.zeros(4, dtype), np.ones(4, dtype), 0)
    assert run(kernel, (1, 1), arguments, target)[0][0] == np.inf


RUN_TIME = {
    "a counter": "y = -1\nfor i in range(n):\n    y = i\nout[0] = y",
    "a sum": "y = -1\nfor i in range(n):\n    y += 0\nout[0] = y",
    "an argument of the kernel": "out[0] = int(n) - 3",
    "a branch": "y = int(n)\nif n < 5:\n    y = -1\nout[0] = y",
    "exchanged numbers": "y, z = -1, int(n) - 3\nfor i in range(n):\n    y, z = z, y\nout[0] = z",
}


@pytest.mark.parametrize("way", RUN_TIME)
def test_a_number_that_is_computed_wraps(way: str, target: str, tmp_path: Path) -> None:
    kernel = kernel_of(RUN_TIME[way], "uint8", "0", tmp_path)
    expected = 1 if way == "a counter" else 255
    arguments = (np.zeros(4, np.uint8), np.ones(4, np.uint8), 2)
    assert run(kernel, (1, 1), arguments, target)[0][0] == expected


COMPARED = {"x < {c}": 0, "k = {c}\nr = x < k": 0, "add(0, {c}) < x": 1}


@pytest.mark.parametrize("body", COMPARED)
def test_a_comparison_with_a_constant_is_exact(body: str, target: str, tmp_path: Path) -> None:
    text = (body if "r =" in body else f"r = {body}") + "\nout[0] = r"
    kernel = kernel_of(text, "uint64", "-1", tmp_path)
    arguments = (np.zeros(4, np.uint64), np.ones(4, np.uint64), 0)
    assert run(kernel, (1, 1), arguments, target)[0][0] == COMPARED[body]


@pytest.mark.parametrize(
    "use", ["out[0] = k > n", "out[0] = k // 2", "y = np.float64(k)", "y = x < k", "y = add(k, n)"]
)
def test_a_name_does_not_hold_more_than_int64(use: str, tmp_path: Path) -> None:
    assert is_rejected(f"k = 2**63\n{use}", "int64", "0", tmp_path)


def test_a_name_holds_the_bits_of_a_uint64(target: str, tmp_path: Path) -> None:
    kernel = kernel_of("k = 2**64 - 2\nout[0] = k\nout[1] = x & k", "uint64", "0", tmp_path)
    arguments = (np.zeros(4, np.uint64), np.full(4, 7, np.uint64), 0)
    assert run(kernel, (1, 1), arguments, target)[0].tolist()[:2] == [2**64 - 2, 6]


def test_the_error_shows_the_constant_and_its_conversion(tmp_path: Path) -> None:
    body = "start = -1\nbest = start\nfor i in range(n):\n    best = a[i]\nout[0] = best"
    with pytest.raises(CompileError) as caught:
        kernel_of(body, "uint8", "0", tmp_path)
    (diagnostic,) = caught.value.diagnostics
    constant, conversion = diagnostic.labels
    assert constant.text == "-1 does not fit `uint8`"
    assert conversion.text == "here it becomes `uint8`"
    assert conversion.span.line == constant.span.line + 1


def test_all_constants_that_do_not_fit_are_reported(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        kernel_of("y, z = -1, 300\nout[0] = y\nout[1] = z", "uint8", "0", tmp_path)
    assert [d.labels[0].text.split()[0] for d in caught.value.diagnostics] == ["-1", "300"]
