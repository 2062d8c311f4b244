"""Statements of the language on every target, compared with plain Python."""

# ruff: noqa: B007, B020, F821, F841

from __future__ import annotations

import ctypes
import math
import mmap

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, kernel
from pycu2c.base.types import float64
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.specialization import generate_text
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run
from support.plain_python import N, ThreadEndsError, run_in_python
from support.random_statements import program

PRIMES = (2, 3, 5, 7)
POINTS = ((1, 2.5), (3, 4.5), (5, -1.0))
SPANS = range(2, 11, 3)
MODE = "fast"


class Mode:
    SLOW = 1
    FAST = 2


@device
def first_above(t, limit):
    for x in t:
        if x > limit:
            return x
    return -1


@device
def dot(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += x * y
    return total


# ---- for over tuples ---------------------------------------------------------------------------


@kernel
def tuple_display(out):
    i = cuda.grid(1)
    total = 0
    for k in (i, 2 * i, 7):
        total = total * 3 + k
    out[i] = total + k


@kernel
def list_display(out):
    i = cuda.grid(1)
    total = 0
    for k in [3, 1, i]:
        total = total * 2 + k
    out[i] = total


@kernel
def global_tuple(out):
    i = cuda.grid(1)
    total = 0
    for p in PRIMES:
        if i % p == 0:
            total += p
    out[i] = total


@kernel
def unpacked_items(out):
    i = cuda.grid(1)
    total = 0.0
    for a, b in POINTS:
        total += a * b * i
    for a, (b, *c) in ((1, (i, 2, 3)), (4, (5, 6, i))):
        total += a * b + c[0] * c[1]
    out[i] = total


@kernel
def a_type_for_each_round(out):
    i = cuda.grid(1)
    total = 0.0
    for x in (i, 2.5, np.float32(0.1)):
        half = x // 2
        total += half + x * 0.1
    out[i] = total


@kernel
def functions_in_a_tuple(out):
    i = cuda.grid(1)
    total = 0.0
    for f in (math.sqrt, math.cos, lambda x: x + 0.5):
        total += f(i + 1.0)
    out[i] = total


@kernel
def carried_over_rounds(out):
    i = cuda.grid(1)
    last = i
    for x in (1, 2.5, 3):
        both = last + x
        last = x * both
    out[i] = last


@kernel
def items_are_fixed_before(data, out):
    i = cuda.grid(1)
    a, b = i, i + 1
    total = 0
    for x in (a, b, a + b, data[i]):
        a = 10
        b = x
        data[i] = 5
        total = total * 10 + x
    out[i] = total + a + b + data[i]


@kernel
def the_target_is_in_the_tuple(out):
    i = cuda.grid(1)
    x, y = i, i + 3
    total = 0
    for x in (y, x, x + y):
        total = total * 5 + x
    out[i] = total


@kernel
def evaluated_in_order(out):
    i = cuda.grid(1)
    x = i
    total = 0
    for a, b in zip((x * 3, x), ((x := i % 5), x + 1)):
        total = total * 10 + a + b
    for k, a in enumerate((x, x + 1), (x := x + 7)):
        total = total * 3 + k * a
    for k in range(x, (x := x + 3) + x, (x := 2)):
        total += k
    out[i] = total + x


@kernel
def no_items(out):
    i = cuda.grid(1)
    x = i
    for x in ():
        x = undefined_name
    else:
        x += 1
    for x, y in zip((), (1, 2)):
        x = y
    out[i] = x


@kernel
def break_in_a_written_loop(out):
    i = cuda.grid(1)
    found = -1
    for p in PRIMES:
        if p > i:
            found = p
            break
        found -= 1
    out[i] = found * 10 + p


@kernel
def continue_in_a_written_loop(out):
    i = cuda.grid(1)
    total = 0
    for p in PRIMES:
        if i % p == 1:
            total += 100
            continue
        total += p
    for p in PRIMES:
        if i % 2:
            if i % p == 1:
                continue
            total += 1
        else:
            total += 2
        total *= 2
    out[i] = total


@kernel
def break_and_continue(out):
    i = cuda.grid(1)
    total = 0
    for p in PRIMES:
        if i % 2:
            if i % p == 1:
                continue
            if i % p == 2:
                break
            total += 1
        total += p
    else:
        total += 1000
    out[i] = total


@kernel
def written_loop_with_else(out):
    i = cuda.grid(1)
    for p in PRIMES:
        if i % p == 0:
            kind = p
            break
    else:
        kind = 0
    out[i] = kind


@kernel
def else_that_jumps(out):
    i = cuda.grid(1)
    count = 0
    for k in range(10):
        for p in PRIMES:
            if (k + i) % p == 0:
                break
            count += 1
        else:
            if k == 7:
                break
            continue
        count += 10
    out[i] = count


@kernel
def decided_break(out):
    i = cuda.grid(1)
    for position, p in enumerate(PRIMES):
        if p == 5:
            break
        out[i] += p * i
    else:
        out[i] = undefined_name
    out[i] += position


@kernel
def decided_continue(out):
    i = cuda.grid(1)
    total = 0
    for x in (1, 2):
        total += x
        continue
    else:
        total += 100
    for x in (1, "two", 3, None):
        if x is None:
            continue
        if x == "two":
            continue
        total += x * i
    out[i] = total


@kernel
def return_in_a_written_loop(out):
    i = cuda.grid(1)
    out[i] = 0
    for p in PRIMES:
        if i == p:
            out[i] = p
            return
        out[i] += p


@kernel
def nested_written_loops(out):
    i = cuda.grid(1)
    total = 0
    for group in ((1, 2), (3,), (), (i, 5, 6)):
        for x in group:
            for y in (x, 0.5):
                total += x * y
                if total > 40:
                    break
    out[i] = total


@kernel
def written_loop_in_a_loop(out):
    i = cuda.grid(1)
    a, b = 0, 1
    for _ in range(i):
        for step in (1, -1):
            a, b = b, a + step
    out[i] = a * 100 + b


@kernel
def called_with_tuples(out):
    i = cuda.grid(1)
    out[i] = first_above(PRIMES, i) + dot((1, i), (2.5, 3)) + dot((i,), (0.5,))


@kernel
def characters(out):
    i = cuda.grid(1)
    total = 0
    for c in "fast":
        if c in MODE:
            total += i
    out[i] = total


# ---- for over arrays, enumerate, zip, reversed -------------------------------------------------


@kernel
def elements(data, out):
    i = cuda.grid(1)
    total = x = 0
    for x in data:
        total += x * i
    out[i] = total + x


@kernel
def numbered_elements(data, out):
    i = cuda.grid(1)
    total = k = 0
    for k, x in enumerate(data):
        total += k * x
        k = 2 * k + x
        total += k
    out[i] = total + k
    for k, x in enumerate(data, 3):
        if k > i:
            break
        out[i] += k * x


@kernel
def pairs_of_elements(data, other, out):
    i = cuda.grid(1)
    total = 0
    for x, y in zip(data, other):
        total += x * y
    for k, (x, y) in enumerate(zip(data, other)):
        total += k * x - y
    out[i] = total


@kernel
def mixed_zip(data, out):
    i = cuda.grid(1)
    total = 0
    for x, w in zip(data, (1, 2.5, 3)):
        total += x * w + i
    for k, (x, p) in enumerate(zip(data, PRIMES), i):
        total += k * x * p
    for p, k in zip(PRIMES, range(i)):
        total += p * k
        if total > 300:
            break
    else:
        total += 1000
    out[i] = total


@kernel
def short_zip(data, out):
    i = cuda.grid(1)
    x = p = -1
    for x, p in zip(data, PRIMES):
        out[i] += x * p
    out[i] += x + p


@kernel
def local_elements(out):
    i = cuda.grid(1)
    table = cuda.local.array(4, float64)
    for k, p in enumerate(PRIMES):
        table[k] = p * i
    total = 0.0
    for x, p in zip(table, PRIMES):
        total += x + p
    for x in reversed(table):
        total = total * 2 + x
    out[i] = total


@kernel
def ranges_in_functions(out):
    i = cuda.grid(1)
    total = 0
    for k, x in enumerate(range(i, 3 * i, 4)):
        total = total % 99991 * 3 + k * x
    for x in reversed(range(i)):
        total = total % 99991 * 3 + x
    for x in reversed(range(20, i, -3)):
        total = total % 99991 * 3 + x
    for x, y in zip(range(i), range(5, 0, -1)):
        total = total % 99991 * 3 + x * y
    for x in SPANS:
        total += x
    for k, x in enumerate(reversed(range(2, i, 5)), start=2):
        total += k * x
    for x in reversed(PRIMES):
        total = total * 2 + x
    for x, y in reversed(POINTS):
        total += x * int(y)
    out[i] = total


@kernel
def literal_indices(out):
    i = cuda.grid(1)
    t = (i, 0.5, (1, 2))
    total = 0.0
    for k in (0, 1, -2):
        total += t[k] * 2
    for _ in range(2):
        for k, (j, f) in enumerate(((2, "one"), (1, "two"))):
            if f == "one":
                total += t[j][k]
            elif k != 1:
                total += undefined_name
    out[i] = total


@kernel
def rows(matrix, out):
    i = cuda.grid(1)
    total = 0
    for row in matrix:
        for x in row:
            total = total * 2 + x
    for k, row in enumerate(matrix):
        total += k * row[-1]
    for x, y in zip(matrix[1], matrix[:, 1]):
        total += x * y * i
    out[i] = total


@kernel
def array_for_else(data, out):
    i = cuda.grid(1)
    for k, x in enumerate(data):
        if x * x == i:
            out[i] = k
            break
    else:
        out[i] = -1


# ---- while, else -------------------------------------------------------------------------------


@kernel
def while_else(out):
    i = cuda.grid(1)
    n = i
    while n > 3:
        n -= 3
        if n == 10:
            break
    else:
        n += 100
    while n > 50:
        n -= 7
    else:
        n *= 2
    while False:
        n = undefined_name
    else:
        n += 1
    while True:
        n += 1
        if n % 5 == 0:
            break
    else:
        n = -1
    out[i] = n


@kernel
def for_else(out):
    i = cuda.grid(1)
    for k in range(2, i):
        if i % k == 0:
            break
        if i == 13:
            continue
    else:
        k = 0
    out[i] = k + i


@kernel
def walrus_in_a_condition(out):
    i = cuda.grid(1)
    n = i
    steps = 0
    while (half := n // 2) > 0:
        n = half
        if n == 5:
            continue
        steps += 1
        if steps == 4:
            break
    else:
        steps += 10
    out[i] = steps * 100 + half


# ---- match -------------------------------------------------------------------------------------


@kernel
def match_numbers(out):
    i = cuda.grid(1)
    match i % 7:
        case 0:
            x = 1
        case 1 | 2:
            x = 2.5
        case -1:
            x = 3
        case Mode.FAST | 3:
            x = 4
        case y if y > 5:
            x = y
        case _:
            x = -1
    out[i] = x


@kernel
def match_without_default(out):
    i = cuda.grid(1)
    x = i
    match i:
        case 3:
            x = 30
        case x if i < 10:
            x += 1000
        case 20 | 21 as z if z == 21:
            x = z * 2
    out[i] = x


@kernel
def match_floats(data, out):
    i = cuda.grid(1)
    match data[i] * 0.5:
        case 0.5:
            out[i] = 1
        case -1.0 | 2:
            out[i] = 2
        case True:
            out[i] = undefined_name
        case other:
            out[i] = other


@kernel
def match_tuples(out):
    i = cuda.grid(1)
    a, b = i % 3, i % 4
    match (a, b):
        case (0, 0):
            x = 1
        case (0, y) | (y, 0):
            x = y * 10
        case [1, b] if b > 2:
            x = b * 100
        case (c, d, e):
            x = undefined_name
        case (c, *rest) as whole:
            x = c + rest[0] * 1000 + len(whole)
        case _:
            x = undefined_name
    out[i] = x + b


@kernel
def match_nested(out):
    i = cuda.grid(1)
    total = 0
    for t in ((1, i), (9, (2, i)), (4,), 5, "six", None, (7, 8, 9, i)):
        match t:
            case (1, x):
                total += x
            case (x, (2 | 5 as z, y)):
                total += x * y
            case [x]:
                total += x
            case 5:
                total += 5
            case "six":
                total += 6
            case None:
                total += 7
            case (first, *middle, last):
                total += first * len(middle) + last
    out[i] = total


@kernel
def match_bools(out):
    i = cuda.grid(1)
    match i > 5, i:
        case True, 7:
            out[i] = 1
        case True, x if x > 30:
            out[i] = 2
        case False, _:
            out[i] = 3


@kernel
def match_strings(out):
    i = cuda.grid(1)
    match MODE:
        case "slow":
            out[i] = undefined_name
        case "fast":
            out[i] = i
        case _:
            out[i] = undefined_name


@kernel
def match_once(data, out):
    i = cuda.grid(1)
    match put(data, i):
        case 1:
            out[i] = 10
        case 2 | 3:
            out[i] = 20
        case x:
            out[i] = x
    match i:
        case i if i > 30:
            out[i] += 1
        case 4:
            i += 1
            out[i - 1] += i


@device
def put(array, index):
    array[index] += 1
    return array[index] % 5


# ---- leaving, deleting, declaring --------------------------------------------------------------


@kernel
def raising(out):
    i = cuda.grid(1)
    assert out[i] < 0, f"{i} is {out[i]}"
    if i % 3 == 0:
        raise ThreadEndsError(f"{i}")
    for k in range(i):
        if k == 20:
            raise ThreadEndsError
    out[i] = i


@device
def checked(x):
    if x == 7:
        raise ThreadEndsError
    for k in range(x):
        if k == 20:
            raise ThreadEndsError("late")
    return x + 0.5, x


@device
def twice_checked(x):
    half, _ = checked(x)
    return checked(x // 2)[1] + half


@device
def reject(out, x):
    if x % 5 == 0:
        raise ThreadEndsError
    out[x] += 1


@kernel
def raising_in_functions(out):
    i = cuda.grid(1)
    reject(out, i)
    if i > 30 and twice_checked(i) > 0:
        out[i] = 1

    def inner(y):
        if y == 11:
            raise ThreadEndsError
        return y

    n = 0
    while n < inner(i) + checked(3)[1]:
        n += 1
    out[i] = twice_checked(n) + n


@kernel
def asserted(out):
    i = cuda.grid(1)
    assert i >= 0
    assert out[i] < i, "text"
    ...
    out[i] = i


@kernel
def deleting(out):
    i = cuda.grid(1)
    x = 5
    y = x * i
    del x
    x = 0.5
    t = (x, y)
    del x, (y)
    out[i] = t[0] + t[1]


@kernel
def declared(out):
    i = cuda.grid(1)
    x: float64 = i
    x = 3
    x = x / 2 + i
    y: float
    y = i
    out[i] = x + y / 4


@kernel
def converted(out):
    i = cuda.grid(1)
    x: int32 = i
    x = i * 0.75
    y: float32
    y = 0.1
    x += 1
    out[i] = x * 1000 + y


FLOATS = [
    unpacked_items, a_type_for_each_round, functions_in_a_tuple, carried_over_rounds,
    nested_written_loops, called_with_tuples, literal_indices, local_elements, match_numbers,
    deleting, declared, raising_in_functions,
]  # fmt: skip
WHOLE = [
    tuple_display, evaluated_in_order, list_display, global_tuple,
    the_target_is_in_the_tuple, no_items,
    break_in_a_written_loop, continue_in_a_written_loop, break_and_continue,
    written_loop_with_else, else_that_jumps, decided_break, decided_continue,
    return_in_a_written_loop, written_loop_in_a_loop, characters, ranges_in_functions,
    while_else, for_else, walrus_in_a_condition, match_without_default, match_tuples,
    match_nested, match_bools, match_strings, raising, asserted,
]  # fmt: skip


@pytest.mark.parametrize("k", FLOATS + WHOLE, ids=lambda k: k.name)
def test_statement(k, target):
    out = np.full(N, -5, np.float64 if k in FLOATS else np.int64)
    result = run(k, (5, 8), [out], target)
    np.testing.assert_allclose(result[0], run_in_python(k, [out])[0], rtol=1e-12)


@pytest.mark.parametrize("k", FLOATS + WHOLE, ids=lambda k: k.name)
def test_compilers_take_the_code_without_a_warning(k):
    out = "float64[::1]" if k in FLOATS else "int64[::1]"
    built = k.launcher.compiler.build(parse_signature(out))
    assert check_warnings(generate_text(built, "cpu").text) == ""
    made = generate_text(built, "cuda")
    binary = nvrtc.compile(made.text, made.entry, "sm_90", cache=False)
    assert binary.log.strip("\0\n ") == ""


DATA = np.array([3, -1, 4, 1, 5, -9, 2, 6] * 5, np.int64)


@pytest.mark.parametrize("dtype", ["int64", "float32"])
def test_data(dtype, target):
    data = (DATA / 2 if dtype == "float32" else DATA).astype(dtype)
    out = np.full(N, 2, dtype)
    for k in (
        elements, numbered_elements, mixed_zip, short_zip, array_for_else, match_floats,
        items_are_fixed_before,
    ):  # fmt: skip
        result = run(k, (5, 8), [data, out], target)
        right = run_in_python(k, [data, out])
        for one, other in zip(result, right):
            np.testing.assert_allclose(one, other, rtol=1e-4)


@pytest.mark.parametrize("lengths", [(5, 5), (3, 7), (7, 2), (0, 3), (2, 0)])
def test_a_zip_ends_with_the_shortest(lengths, target):
    data, other = (np.arange(2.0, n + 2) for n in lengths)
    for k in (pairs_of_elements, short_zip):
        arguments = [data, other] if k is pairs_of_elements else [data]
        out = np.full(N, 1.0)
        result = run(k, (5, 8), [*arguments, out], target)[-1]
        np.testing.assert_allclose(result, run_in_python(k, [*arguments, out])[-1])


def test_rows(target):
    matrix = np.arange(12, dtype=np.int64).reshape(3, 4)
    for view in (matrix, matrix.T, matrix[:, ::-1], matrix[::2, 1:3]):
        out = np.zeros(N, np.int64)
        result = run(rows, (5, 8), [view, out], target)[-1]
        np.testing.assert_array_equal(result, run_in_python(rows, [view, out])[-1])


def test_the_subject_is_evaluated_once(target):
    data, out = np.arange(N), np.zeros(N, np.int64)
    result = run(match_once, (5, 8), [data, out], target)
    for one, other in zip(result, run_in_python(match_once, [data, out])):
        np.testing.assert_array_equal(one, other)


def test_declared_locals_convert(target):
    """What Python's annotations do not do."""
    result = run(converted, (5, 8), [np.zeros(N, np.float32)], target)[0]
    whole = (np.arange(N) * 0.75).astype(np.int32) + 1
    np.testing.assert_allclose(result, whole * 1000 + 0.1, rtol=1e-6)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
def test_a_random_program(seed, target, tmp_path):
    k = module_from(program(seed), tmp_path).k
    arguments = [np.array([4, -1, 6]), np.ones(N, np.int64)]
    result = run(k, (5, 8), arguments, target)
    np.testing.assert_array_equal(result[1], run_in_python(k, arguments)[1], err_msg=program(seed))


def test_no_element_is_read_beyond_the_shortest():
    """A page that cannot be read begins where the array ends."""
    page = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * page)
    libc = ctypes.CDLL(None, use_errno=True)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(start + page), page, 0) == 0
    data = np.frombuffer(memory, np.float64, 1, page - 8)
    try:
        result = run_in_place(short_zip, (1, 1), [data, np.zeros(1)])
    finally:
        libc.mprotect(ctypes.c_void_p(start + page), page, 3)
    assert result[0] == 2


def run_in_place(kernel, configuration, arguments):
    fresh = Kernel(kernel.python, backend="cpu")
    fresh[configuration](*arguments)
    return arguments[-1]


@pytest.mark.parametrize("length", [3, 25, 60])
def test_a_type_travels_along_a_chain_of_any_length(length, target, tmp_path):
    """Each round of the loop hands 1.5 on to the next name, and each walk its type."""
    names = [f"a{k}" for k in range(length)]
    handed = [f"{name} = {following}" for name, following in zip(names, [*names[1:], "1.5"])]
    lines = [f"{' = '.join(names)} = 0", f"for _ in range({length}):"]
    lines += [f"    {line}" for line in handed]
    body = "\n".join(f"    {line}" for line in [*lines, "out[0] = a0"])
    text = f"from pycu2c import kernel\n\n\n@kernel\ndef k(out):\n{body}\n"
    k = module_from(text, tmp_path).k
    assert run(k, (1, 1), [np.zeros(1)], target)[0][0] == 1.5


@kernel
def ranges_to_the_ends(bounds, out):
    """So many rounds, ten at most, and the last number."""
    i = cuda.grid(1)
    start, stop, step = bounds[i, 0], bounds[i, 1], bounds[i, 2]
    up, down, other, last = 0, 0, 0, 0
    for k in range(start, stop, 3):
        up += 1
        last = k
        if up == 10:
            break
    for k in range(start, stop, -3):
        down += 1
        if down == 10:
            break
    for k in range(start, stop, step):
        other += 1
        if other % 2:
            continue
        if other == 10:
            break
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = up, down, other, last


ENDS = (-(2**63), -(2**63) + 5, -(2**62), -1, 0, 4, 2**62, 2**63 - 8, 2**63 - 1)


@pytest.mark.parametrize("step", [1, 2, 7, -1, -4, 2**62, 2**63 - 1, -(2**63)])
def test_no_range_exceeds_64_bits(step, target):
    """C's counter would wrap at the last step, and go on."""
    bounds = np.array([(a, b, step) for a in ENDS for b in ENDS], np.int64)
    expected = []
    for start, stop, _ in bounds.tolist():
        ups = range(start, stop, 3)[:10]
        others = range(start, stop, step)[:10]
        last = ups[-1] if ups else 0
        expected.append((len(ups), len(range(start, stop, -3)[:10]), len(others), last))
    out = np.zeros((len(bounds), 4), np.int64)
    result = run(ranges_to_the_ends, (len(bounds), 1), [bounds, out], target)[1]
    assert result.tolist() == [list(row) for row in expected]


@kernel
def to_an_argument(n, out):
    rounds = 0
    for k in range(n - 3, n, 2):
        rounds += 1
        if rounds == 10:
            break
    out[cuda.grid(1)] = rounds


@pytest.mark.parametrize("n", [5, 2**63 - 1, 2**63 - 2, 2**62, np.int64(2**63 - 1), np.int64(7)])
def test_a_range_up_to_an_argument_near_the_end(n, target):
    assert run(to_an_argument, (1, 4), [n, np.zeros(4, np.int64)], target)[1].tolist() == [2] * 4


@pytest.mark.parametrize("n", ["int64", "int32", "int"])
@pytest.mark.parametrize("language", ["c", "cuda"])
def test_a_grid_stride_range_has_no_iteration_counter(n, language):
    @kernel
    def scaled(x, n):
        for i in range(cuda.grid(1), n, cuda.gridsize(1)):
            x[i] *= 2

    assert "rounds" not in scaled.inspect(language, f"void(float32[::1], {n})")


@device
def halved_once(a, r):
    while a > 1:
        a = a * float32(0.5)
        if r == 0:
            x = a
    return x + a


@device
def exchanged_once(s, t, r):
    cuda.syncthreads()
    if r == 0:
        x = s[3 - t]
    for k in range(r - 2):
        y = k
    cuda.syncthreads()
    return x + y


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
def test_locals_of_a_function_are_reset_at_each_call(target):
    """Where its body becomes a part of the caller's loop, too."""

    @kernel
    def k(out):
        s = cuda.shared.array(4, float32)
        t = cuda.threadIdx.x
        s[t] = t
        cuda.syncthreads()
        for r in range(5):
            out[r, t] = halved_once(float32(t), r)
            out[r + 5, t] = exchanged_once(s, t, r)

    result = run(k, (1, 4), [np.zeros((10, 4), np.float32)], target)[0]
    ends = np.array([0, 1, 1, 0.75], np.float32)
    assert result[0].tolist() == [0, 1, 2, 1.5]
    assert result[1:5].tolist() == [ends.tolist()] * 4
    assert result[5:].tolist() == [[3, 2, 1, 0], [0] * 4, [0] * 4, [0] * 4, [1] * 4]
