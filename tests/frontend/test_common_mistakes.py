"""Common mistakes of users of numba, numpy, Python and C: one error each, with a hint."""

from __future__ import annotations

import re
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, kernel
from support.kernels_from_text import module_from

HEAD = """\
import math
import random
import time
from collections import namedtuple
from fractions import Fraction

import numpy as np

from pycu2c import cuda, device, float32, int32, kernel

weights, settings, seen = [1, 2, 3], {"scale": 2}, {1, 2}
table, pair, third, count = np.zeros(3), (1, 2), Fraction(1, 3), 0
Point = namedtuple("Point", "x y")


class Config:
    scale = 2

    @property
    def broken(self):
        raise ValueError("no file")


config, blank, swapped = Config(), object(), table.astype(">f8")
on_device = cuda.to_device(table)


def helper(x):
    return x * 2


@device
def nothing(x):
    y = x


@device
def scaled(x, factor):
    return x * factor


@device
def masked(x):
    return x & 1


@device
def applied(f, x):
    return f(x)


@device
def put(a):
    a[0] = 1


@kernel
def other(a):
    a[0] = 1


@kernel(backend="python")
def k(a, b, m, z, r, p, n, w, mode):
"""

# each block is the body of a kernel: one error, whose carets stand under the text after its code;
# after | what the help says
BLOCKS = """
b[:] = a * 2  # E[type-needed]: a | index it

c = a + b  # E[type-needed]: a | index it

b[0] = m[0]  # E[type-needed]: m[0] | index it

b[0] = a[0, 1]  # E[index-count]: a[0, 1] | a[i], where i is a number, and not a tuple

b[[0, 1]] = 1  # E[slice]: [0, 1] | a[i]

b[a > 0] = 1  # E[type-needed]: a | index it

b["x"] = 1  # E[assignment-target]: b["x"] | a[i] = …

b[0] = a["x"]  # E[name]: "x" | index it with integers

b[cuda.grid(1) / 2] = 1  # E[index-type]: cuda.grid(1) / 2 | divide with `//`

b[0] = a[1.0]  # E[index-type]: 1.0 | without a point

b[0] = a[True]  # E[index-type]: True | convert it with int(...)

b[0] = swapped[0]  # E[global-value]: swapped | newbyteorder

b[0] = blank.scale  # E[name]: blank.scale | before the kernel is compiled

b[0] = a.dtype  # E[type-needed]: a.dtype | float32(x)

b[0] = np.float128(a[0])  # E[call]: np.float128 | use float64

b[0] = cuda.shfl_sync(-1, a[0], 1, 5)  # E[argument-type]: 5 | 1, 2, 4, 8, 16, 32

found = []
found.append(1)  # E[subset]: found.append | a variable for the number of used items

items = [1, 2.5, 3]
items[0] = 5  # E[assignment-target]: items | cuda.local.array

items = []
for x in a:
    items = items + [x]  # E[join]: items | a tuple keeps its length

items = [1, (2, 3)]
b[0] = items[cuda.grid(1)]  # E[constant-needed]: cuda.grid(1) | same length

items = [x * 2 for x in a]  # E[constant-needed]: a | write a loop

b[0] = sum(a)  # E[constant-needed]: a | write a loop

b[0] = max(a)  # E[constant-needed]: a | write a loop

b[0] = max(*a)  # E[starred]: *a | write the items one by one

b[0] = max(a[0], a[1], key=abs)  # E[argument-count]: key=abs | compare in a loop

b[0] = a.dot(a)  # E[subset]: a.dot | write a loop

a.fill(0)  # E[subset]: a.fill | each thread

b[0] = a.astype(np.int32)  # E[subset]: a.astype | int32(x)

b[0] = a.item()  # E[subset]: a.item | leave it out

if cuda.grid(1) < a.length:  # E[subset]: a.length | len(a)
    b[0] = 1

if cuda.grid(1) < a.shape:  # E[type-needed]: a.shape | t[0]
    b[0] = 1

if cuda.grid(1) < a.shape(0):  # E[call]: a.shape | brackets
    b[0] = 1

b[0] = a.shape[1]  # E[index-range]: 1 | only the index 0

a.shape = (4, 2)  # E[assignment-target]: a.shape | before the launch

t = np.zeros(4)  # E[call]: np.zeros | cuda.local.array

b[0] = np.dot(a, a)  # E[call]: np.dot | write a loop

b[0] = np.linalg.norm(a)  # E[call]: np.linalg.norm | write a loop

b[0] = np.random.rand()  # E[call]: np.random.rand | cuda.random has random numbers

b[0] = random.random()  # E[call]: random.random | cuda.random has random numbers

b[0] = time.time()  # E[call]: time.time | around the launch

b[0] = sorted(a)[0]  # E[call]: sorted | write a loop

if issubclass(n, int):  # E[call]: issubclass | a.dtype
    b[0] = 1

b[0] = len(str(n))  # E[call]: str | store numbers

b[0] = pow(2, 3, 5)  # E[argument-count]: pow(2, 3, 5) | base, exp

b[0] = helper(a[0])  # E[call]: helper | decorate helper with @device

other(a)  # E[call]: other | @device

q = Config()  # E[call]: Config | in a tuple

if mode.startswith("f"):  # E[call]: mode.startswith | ==
    b[0] = 1

kept = cuda.local.array(4, float32)
cuda.atomic.add(kept, 0, 1.0)  # E[argument-type]: kept | write a[i] += …

b[0] = mode  # E[type-needed]: mode | can be compared

b[0] = math.sqrt("2")  # E[type-needed]: "2" | pass a number

b[0] = w * 2  # E[type-needed]: w | if x is not None

w[0] = 1  # E[type-needed]: w | if x is not None

n[0] = 1  # E[type-needed]: n | only arrays and tuples

b[0] = math.sqrt  # E[type-needed]: math.sqrt | call it

i = cuda.threadIdx
b[i] = 0  # E[type-needed]: i | cuda.threadIdx.x

b[cuda.threadIdx.w] = 0  # E[name]: cuda.threadIdx.w | x, y, z

b[threadIdx.x] = 0  # E[name]: threadIdx | cuda.threadIdx

__syncthreads()  # E[name]: __syncthreads | cuda.syncthreads()

atomicAdd(b, 0, 1)  # E[name]: atomicAdd | cuda.atomic.add

atomicCAS(b, 0, 1, 2)  # E[name]: atomicCAS | cuda.atomic.cas(array, index, old, value)

cuda.atomic.inc(b, 0, 1)  # E[argument-type]: cuda.atomic.inc(b, 0, 1) | uint32

b[0] = sqrt(a[0])  # E[name]: sqrt | math.sqrt

b[0] = numpy.sqrt(a[0])  # E[name]: numpy | import numpy

for i in prange(4):  # E[name]: prange | range

cuda.syncthread()  # E[name]: cuda.syncthread | cuda.syncthreads

i = cuda.threadidx.x  # E[name]: cuda.threadidx | cuda.threadIdx

b[0] = math.sqr(a[0])  # E[name]: math.sqr | math.sqrt

index = 0
b[indx] = 0  # E[name]: indx | index

b[0] = true  # E[name]: true | True

x: float33 = 1  # E[name]: float33 | float32

x: float32[:] = a  # E[dtype]: float32[:] | leave it out

x: settings = 1  # E[dtype]: settings | float32

x: list = [1]  # E[dtype]: list | float32

t = cuda.shared.array(4, "flaot32")  # E[dtype]: "flaot32" | float32

t = cuda.shared.array(4, float)  # E[dtype]: float | float64 or float32

t = cuda.shared.array(n, float32)  # E[shape]: n | k[grid, block, stream, bytes]

t = cuda.shared.array(4)  # E[argument-count]: cuda.shared.array(4) | (shape, dtype, alignment=0)

i = cuda.grid()  # E[argument-count]: cuda.grid() | (ndim)

i = cuda.grid(4)  # E[argument-type]: 4 | 1, 2 or 3

i, j = cuda.grid(1)  # E[unpack]: i, j | one name

cuda.atomic.add(b[0], 1)  # E[argument-count]: cuda.atomic.add(b[0], 1) | (array, index, value)

b[0] = scaled(a[0], fcator=2)  # E[argument-count]: fcator=2 | factor

np.add(a[0], 1, where=b)  # E[argument-count]: where=b | (a, b)

b[0] = nothing(a[0])  # E[type-needed]: nothing(a[0]) | return

b[0] = masked(a[0])  # E[operand-type]: x | int(...)

if a[0] > 0 & a[1] > 0:  # E[operand-type]: a[1] | `and`
    b[0] = 1

b[0] = z[0] * 2  # E[store-type]: z[0] * 2 | z.real

cuda.atomic.add(a, 0, z[0])  # E[store-type]: z[0] | z.real

b[0] = z[0] // 2  # E[operand-type]: z[0] // 2 | z.real

b[0] = weights[0]  # E[global-value]: weights | tuple

b[0] = on_device[0]  # E[global-value]: on_device | arrays as arguments

weights.append(1)  # E[call]: weights.append | tuple

b[0] = settings["scale"]  # E[global-value]: settings | one global for each key

for key in settings.items():  # E[call]: settings.items | named tuple
    b[0] = 1

if n in seen:  # E[comparison]: seen | tuple
    b[0] = 1

table[0] = 1  # E[assignment-target]: table[0] | argument

table[0] += 1  # E[assignment-target]: table[0] | argument

cuda.atomic.add(table, 0, 1)  # E[assignment-target]: table | argument

put(table)  # E[assignment-target]: a[0] | argument

pair[0] = 1  # E[assignment-target]: pair | cuda.local.array

b[0] = third  # E[type-needed]: third | as arguments

b[0] = config * 2  # E[type-needed]: config | as arguments

b[0] = config.broken  # E[global-value]: config.broken | before the kernel

t = (1, 2) * 2.0  # E[type-needed]: (1, 2) | t[0]

for i in len(a):  # E[iterable]: len(a) | range(n)
    b[i] = 1

for i in range(len(a) / 2):  # E[argument-type]: len(a) / 2 | `//`
    b[i] = 1

for i in range(m.shape):  # E[type-needed]: m.shape | t[0]
    b[i] = 1

for x in a:
    total += x  # E[name]: total | before the loop

best = None
for x in a:
    if best is None or x > best:
        best = x  # E[join]: best | a number first
b[0] = best

c = a if n > 0 else m  # E[array-assign]: m | between their elements

r[0].z = 1  # E[name]: r[0].z | x, y

b[0] = r[0].xx  # E[name]: r[0].xx | did you mean `x`?

r[0] += 1  # E[type-needed]: r[0] | r.x

v = cuda.local.array(2, cuda.float4)
v[0] += 1  # E[type-needed]: v[0] | write it for each component

b[0] = r[0] + 1  # E[type-needed]: r[0] | r.x

r[0] = (1, 2, 3)  # E[store-type]: r[0] | field by field

r.x = 1  # E[type-needed]: r.x | a[i].x

b[0] = p.z  # E[subset]: p.z | x, y

p.x = 2  # E[assignment-target]: p | variables

return a[0]  # E[return-type]: a[0] | out[i] = …

print("%d" % n)  # E[string]: "%d" % n | print(f

del b[0]  # E[delete]: b[0] | assign 0

b[0] == 1  # E[unused-value]: b[0] == 1 | b[0] = 1

cuda.syncthreads  # E[unused-value]: cuda.syncthreads | cuda.syncthreads()

i = 0
++i  # E[unused-value]: ++i | i += 1
"""

CASES = [block.strip("\n") for block in re.split(r"\n\n+", BLOCKS) if block.strip()]
_NOTE = re.compile(r"  # E\[([\w-]+)\]: (.*) \| (.*)")


def arguments() -> tuple[object, ...]:
    numbers = np.ones(8, np.float32)
    records = np.zeros(3, [("x", "f4"), ("y", "f8")])
    point = namedtuple("Point", "x y")(1, 2)
    square, waves = np.ones((2, 2), np.float32), np.ones(3, np.complex64)
    return numbers, numbers.copy(), square, waves, records, point, 3, None, "fast"


@pytest.mark.parametrize("case", CASES)
def test_a_first_mistake(case: str, tmp_path: Path) -> None:
    note = _NOTE.search(case)
    assert note is not None, "no comment says what is expected"
    code, caret, hint = note.groups()
    body = _NOTE.sub("", case)
    body += "\n    pass" if body.endswith(":") else ""
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path).k[1, 1](*arguments())
    (result,) = caught.value.diagnostics
    span = result.labels[0].span
    assert (result.code, text.splitlines()[span.line - 1][span.column : span.end_column]) == (
        code,
        caret,
    )
    assert result.labels[0].text
    assert hint in result.hint


BOTH_PLACES = {  # body -> the text under the carets of each label, in order
    "if n > 0:\n    c = a\nelse:\n    c = m\nc[0] = 1": ["m", "a"],
    "if n > 0:\n    c = (1, 2)\nelse:\n    c = 1\nb[0] = c": ["c", "c"],
    "c = a if n > 0 else m": ["m", "a"],
    "b[0] = total\ntotal = 1": ["total", "total"],
    "x = 1\ndel x\nb[0] = x": ["x", "x"],
    "x: int32 = 1\nx: float32 = 2\nb[0] = x": ["float32", "x"],
    "b[0] = masked(a[0])": ["x", "masked(a[0])"],
    "f = lambda q: missing\nb[0] = applied(f, n)": ["missing", "f(x)", "applied(f, n)"],
    "b[0] = scaled(a[0], x=n)": ["x=n", "a[0]"],
    "h, w, d = m.shape": ["h, w, d", "m.shape"],
    "r[0] = 1": ["r[0]", "1"],
}


@pytest.mark.parametrize("body", BOTH_PLACES)
def test_both_locations_of_a_conflict(body: str, tmp_path: Path) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path).k[1, 1](*arguments())
    (result,) = caught.value.diagnostics
    lines = text.splitlines()
    spans = [label.span for label in result.labels]
    assert [lines[s.line - 1][s.column : s.end_column] for s in spans] == BOTH_PLACES[body]


def test_a_mistake_in_a_function_is_reported_once(tmp_path: Path) -> None:
    text = HEAD + "    b[0] = masked(a[0])\n    b[1] = masked(a[1])\n    b[2] = masked(x=a[2])\n"
    with pytest.raises(CompileError) as caught:
        module_from(text, tmp_path).k[1, 1](*arguments())
    assert len(caught.value.diagnostics) == 1


def test_a_function_is_shown_by_its_name(tmp_path: Path) -> None:
    text = HEAD + "    def halved(q):\n        return missing\n    b[0] = applied(halved, n)\n"
    with pytest.raises(CompileError, match="called here, with `halved`, `int`"):
        module_from(text, tmp_path).k[1, 1](*arguments())


def _chain(kind: str, length: int) -> str:
    """A statement that nests as deeply as it is long."""
    if kind == "+":
        return "b[0] = " + " + ".join(["a[0]"] * length)
    if kind == "else":
        return "b[0] = " + "".join(f"{i} if n == {i} else " for i in range(length)) + "0"
    branches = (f"    elif n == {i}:\n        b[0] = {i}\n" for i in range(1, length))
    return "if n == 0:\n        b[0] = 0\n" + "".join(branches)


@pytest.mark.parametrize("kind", ["+", "else", "elif"])
@pytest.mark.parametrize("backend", ["python", "cpu"])
def test_nesting_that_is_too_deep_is_rejected(kind: str, backend: str, tmp_path: Path) -> None:
    head = HEAD.replace('backend="python"', f'backend="{backend}"')
    with pytest.raises(CompileError, match="nested too deeply"):
        module_from(head + f"    {_chain(kind, 900)}\n", tmp_path).k[1, 1](*arguments())


LAUNCHES = [  # signature, arguments, what the error says
    (None, ([1.0], 1), r"argument 1 \(a\) is a list.*numpy.array"),
    (None, ({"x": 1}, 1), r"argument 1 \(a\) is a dict.*named tuple"),
    (None, (1.0, np.sum), r"argument 2 \(n\) is a .*: pass a function in Python, or a lambda"),
    (None, (np.ones(3),), r"takes 2 arguments \(a, n\), 1 given: n missing"),
    ("float32[:], int8", (np.ones(3), 1), r"astype\(numpy.float32\)"),
    ("float32[:], int8", (3, 1), r"declared `float32\[:\]`, given 3: pass an array"),
    ("float32[:], int8", (np.ones(3, "f4"), 300), "int8.*given 300.*from -128 to 127"),
    ("float32[:], int8", (np.ones(3, "f4"), 2.5), "given 2.5, and holds integers"),
    ("float32[:], int8", (np.ones(3, "f4"), np.ones(3)), r"pass one number, a\[0\]"),
    ("float32[:, :], int8", (np.ones(3, "f4"), 1), "reshape.* with 2 axes"),
    ("float32[:], int8", (np.ones((3, 3), "f4"), 1), "reshape.* with 1 axis"),
    ("float32[::1], int8", (np.ones(6, "f4")[::2], 1), "ascontiguousarray"),
]


@pytest.mark.parametrize(("signature", "inputs", "message"), LAUNCHES)
def test_a_launch(
    signature: str | None, inputs: tuple[object, ...], message: str, tmp_path: Path
) -> None:
    text = f"""
        from pycu2c import kernel

        @kernel(signature={signature!r}, backend="python")
        def k(a, n):
            pass
        """
    with pytest.raises(LaunchError, match=message):
        module_from(text, tmp_path).k[1, 1](*inputs)


def test_a_grid_of_a_quotient(tmp_path: Path) -> None:
    k = module_from(HEAD.partition("@kernel(")[0], tmp_path).other
    with pytest.raises(LaunchError, match=r"round up: -\(-n // threads\)"):
        k[1000 / 256, 256](np.ones(1))


DEFINITIONS = {
    "@kernel(fast_math=True)\ndef k(a): pass": "did you mean fastmath",
    "@kernel('float33[:]')\ndef k(a): pass": "did you mean `float32`",
    "@kernel\ndef k(a: list): pass": "parameter a: .*list.* float32",
    "@kernel\n@staticmethod\ndef k(a): pass": "write @staticmethod above",
    "@kernel\n@classmethod\ndef k(a): pass": "write @staticmethod above",
    "@kernel\n@kernel\ndef k(a): pass": "remove the other decorator",
    "@device\n@kernel\ndef k(a): pass": "remove the other decorator",
    "@kernel\n@device\ndef k(a): pass": "remove the other decorator",
    "@kernel\n@functools.cache\ndef k(a): pass": "remove the other decorator",
    "@cuda.jit(fast_math=True)\ndef k(a): pass": "did you mean `fastmath`",
    "@kernel\ndef k(a): cuda.const.array_like(a)\nk.inspect('cuda', 'int32[:]')": (
        "name a numpy array that is defined outside"
    ),
    "@kernel\ndef k(a): cuda.syncwarps()\nk.inspect('cuda', 'int32[:]')": "did you mean",
    "@kernel\ndef k(a): a[0] = cuda.shfl_sync(1, 2)\nk.inspect('cuda', 'int32[:]')": (
        r"takes 3 to 4: \(mask, value, src_lane, width=32\)"
    ),
    "@kernel\ndef k(a): cuda.to_device(a)\nk.inspect('cuda', 'int32[:]')": (
        "(?s)`to_device` cannot be called in kernels.*is for the host: call it before the launch, "
        "and pass its result$"
    ),
    "@kernel\ndef k(a): s = cuda.stream()\nk.inspect('cuda', 'int32[:]')": "is for the host",
    "k = kernel(lambda a: a)\nk.inspect('cuda', 'int32')": "a kernel returns its results in arrays",
    "@kernel('float32[:], int32')\ndef k(a, n): s = [0.0] * n": r"cuda\.local\.array\(64",
    "@kernel('float32[:], int32')\ndef k(a): pass": r"2 types for \(a\)",
    "@kernel\ndef k(a): pass\nk.inspect('asm', 'int32')": "ptx, sass or ir.*'asm'",
}


_IMPORTS = "import functools\nimport numpy as np\nfrom pycu2c import cuda, device, kernel\n"


@pytest.mark.parametrize("text", DEFINITIONS)
def test_a_definition(text: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=DEFINITIONS[text]):
        module_from(f"{_IMPORTS}{text}\n", tmp_path)


def launched(python: Any, *arguments: Any) -> str:
    """What is said of a launch of a kernel."""
    with pytest.raises((CompileError, LaunchError)) as raised:
        kernel(backend="cpu")(python)[1, 1](*arguments)
    return str(raised.value)


def test_an_element_has_an_index_for_each_axis():
    def rows(a, out):
        out[0] = a[1]

    def name(a, out):
        out[0] = a

    def added(a):
        a[0] += 1

    assert "write a[()] for its element; to write it, pass a.reshape(1)" in launched(
        added, np.array(1.0)
    )
    assert "a[i, j, k]; a has 3 axes" in launched(rows, np.zeros((2, 2, 2)), np.zeros(1))
    assert "one element at a time, a[i]" in launched(name, np.zeros(2), np.zeros(1))


def test_names_of_the_user_shadow_builtins():
    def typo(a):
        idx = cuda.grid(1)
        a[ixd] = idx  # noqa: F821

    def other(a):
        a[0] = rond(a[0])  # noqa: F821

    assert "did you mean `idx`?" in launched(typo, np.zeros(2))
    assert "did you mean `round`?" in launched(other, np.zeros(2))


def test_a_lambda_is_passed_as_a_device_function():
    def apply(a, function):
        a[0] = function(a[0])

    assert "device(lambda …)" in launched(apply, np.zeros(2), lambda x: x + 1)
    a = np.ones(1)
    kernel(backend="cpu")(apply)[1, 1](a, device(lambda x: x + 1))
    assert a[0] == 2


def test_loops_in_numpy_style():
    def steps(a):
        for x in range(0, 1, 0.1):  # type: ignore[call-overload]
            a[0] += x

    def counted(a):
        for i in np.arange(3):
            a[i] = 1

    assert "for i in range(n): x = start + i * step" in launched(steps, np.zeros(2))
    assert "write `for i in range(n): …`" in launched(counted, np.zeros(3))


def test_a_power_is_no_exclusive_or():
    def squared(a):
        a[0] = a[0] ^ 2

    assert "a power is written `**`" in launched(squared, np.zeros(2))


@pytest.mark.parametrize("dtype", ["O", "U3", "S3", "longdouble", "clongdouble"])
def test_dtypes_that_kernels_do_not_have(dtype: str):
    def cleared(a):
        a[0] = 0

    array = np.zeros(2, dtype)
    hint = re.search(r": pass what (\.\w+\([\w.\"]+\))", launched(cleared, array))
    assert hint is not None
    inputs = eval(f"array{hint[1]}")
    kernel(backend="cpu")(cleared)[1, 1](inputs)


def test_a_block_without_threads():
    def cleared(a):
        a[0] = 0

    with pytest.raises(LaunchError, match=r"at least 1 along x, not 0: it is the number of thr"):
        kernel(backend="cpu")(cleared)[1, 0]


def test_unassigned_variables_of_the_enclosing_function() -> None:
    @kernel(backend="python")
    def k(a: Any) -> None:
        a[0] = later

    with pytest.raises(CompileError, match="`later` of the enclosing function has no value yet"):
        k[1, 1](np.zeros(1))
    later = 3
    a = np.zeros(1)
    k[1, 1](a)
    assert a[0] == 3
