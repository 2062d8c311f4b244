"""Constructs of the language, each run on every target: control flow, tuples, indices, calls.

The expected result is what the same Python gives when it is run for each index.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import pycu2c as renamed
from pycu2c import CompileWarning, LaunchWarning, cuda, device, float32, int32, kernel
from pycu2c.base.types import float64
from pycu2c.cuda import grid as place
from support.launching import run
from support.plain_python import N, run_in_python

SCALE = 3
OFFSETS = (1, 2, 3)
HALF = np.float32(0.5)


@device
def clamp(x, low, high):
    """A chain of returns."""
    if x < low:
        return low
    if x > high:
        return high
    return x


@device
def twice(x):
    return clamp(x * 2, 0, 50)


@device
def put(array, index, value):
    array[index] = value


@device
def row_sum(matrix, row):
    total = np.int64(0)
    for j in range(matrix.shape[1]):
        total += matrix[row, j]
    return total


@device
def euclid(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@kernel
def if_chain(out):
    i = cuda.grid(1)
    if i < 10:
        x = 1
    elif i < 20:
        x = 2
    elif i == 25:
        x = 3
    else:
        x = i
    out[i] = x


@kernel
def while_break_continue(out):
    i = cuda.grid(1)
    k = 0
    total = 0
    while True:
        k += 1
        if k % 2 == 0:
            continue
        if k > i:
            break
        total += k
    out[i] = total


@kernel
def for_forms(out):
    i = cuda.grid(1)
    total = 0
    for a in range(i):
        total += a
    for b in range(i, 2 * i):
        total += b
    for c in range(50, i, -7):
        total -= c
    for d in range(-3, 4, 2):
        total += d
    out[i] = total


@kernel
def for_step_of_either_sign(out):
    i = cuda.grid(1)
    step = i - 20
    total = 0
    if step != 0:
        for a in range(10, 10 + step * 3, step):
            total = total * 3 + a
    out[i] = total


@kernel
def loop_variable_after(out):
    i = cuda.grid(1)
    k = -1
    for k in range(i):
        if k == 7:
            break
    out[i] = k


@kernel
def loop_variable_assigned(out):
    i = cuda.grid(1)
    total = 0
    for k in range(5):
        total += k
        k = k * i
        total += k
    out[i] = total


@kernel
def bound_changes_inside(out):
    i = cuda.grid(1)
    n = i
    count = 0
    for _ in range(n):
        n = 0
        count += 1
    out[i] = count + n


@kernel
def nested_break(out):
    i = cuda.grid(1)
    hits = 0
    for a in range(6):
        for b in range(6):
            if a * b > i:
                break
            hits += 1
        if a == 4:
            continue
        hits += 10
    out[i] = hits


@kernel
def early_return(out):
    i = cuda.grid(1)
    if i % 3 == 0:
        return
    for k in range(i):
        if k == 20:
            out[i] = 99
            return
    out[i] = i


@kernel
def swap_and_tuples(out):
    i = cuda.grid(1)
    a, b = i, 2 * i
    a, b = b, a
    a, b = b + 1, a + b
    c = d = a - b
    pair = (a, b)
    x, (y, z) = c, (d, pair[1])
    out[i] = a * 1000 + b * 100 + x + y + z + pair[-2]


@kernel
def swap_elements(data, out):
    i = cuda.grid(1)
    local = cuda.local.array(3, float64)
    local[0] = data[i]
    local[1] = data[i] + 1
    local[2] = 0
    local[0], local[1] = local[1], local[0]
    local[2], local[0] = local[0], local[2]
    out[i] = local[0] * 100 + local[1] * 10 + local[2]


@kernel
def ternary_and_values(out):
    i = cuda.grid(1)
    a = i % 3
    b = i % 5
    both = a and b
    either = a or b
    chosen = 7 if not a else (b if b > 2 else -1)
    out[i] = both * 100 + either * 10 + chosen


@kernel
def short_circuit(out):
    i = cuda.grid(1)
    safe = 0
    if (i > 5 and out[i - 6] >= 0 and i != 8) or i == 2:
        safe = 1
    out[i] = safe


@kernel
def negative_indices(data, out):
    i = cuda.grid(1)
    if i < len(out):
        out[i] = data[-1] + data[-i - 1] * 2 + data[i - 5] + data[i - len(data)]


@kernel
def frozen_values(out):
    i = cuda.grid(1)
    out[i] = i * SCALE + OFFSETS[1] + len(OFFSETS) + math.pi * HALF


@kernel
def other_spellings(out):
    i = place(1)
    j = renamed.cuda.threadIdx.x + renamed.cuda.blockIdx.x * renamed.cuda.blockDim.x
    out[i] = i + j * 2


@kernel
def calls(out):
    i = cuda.grid(1)
    put(out, i, clamp(i, 5, 30) + twice(i) + euclid(i + 6, 36))


@kernel
def rows(matrix, out):
    i = cuda.grid(1)
    if i < matrix.shape[0]:
        out[i] = row_sum(matrix, i) + matrix.size + matrix.ndim


@kernel
def widening(data, out):
    i = cuda.grid(1)
    total = 0.0
    for _ in range(4):
        total += data[i] * 0.5
    count = 1
    half = count / 2
    out[i] = total + half


@kernel
def two_lives(out):
    i = cuda.grid(1)
    x = i + 5
    k = x // 2
    x = 1.5
    out[i] = k + x


@kernel
def augmented(data, out):
    i = cuda.grid(1)
    out[i] += 1
    out[i] *= i
    out[i] -= data[i]
    out[i] //= 3
    out[i] %= 7
    out[i] **= 2
    x = i
    x <<= 2
    x |= 1
    x &= 0xFF
    x ^= 5
    x >>= 1
    out[i] += x


@kernel
def parameter_reassigned(out, n, x):
    i = cuda.grid(1)
    n = n + i
    x = x * 0.5 + n
    n *= 0.5
    out[i] = n + x


@kernel
def chained_compare(out):
    i = cuda.grid(1)
    out[i] = (3 < i <= 9) + (20 > i > 15 != i) * 2 + (i == i != 3) * 4


@kernel
def maths(data, out):
    i = cuda.grid(1)
    x = abs(data[i]) + 1.0
    y = math.sqrt(x) + math.exp(-x) + math.atan2(x, 2.0) + math.log(x) + np.sin(x)
    out[i] = y + math.floor(x) + math.ceil(x) + round(x * 3) + max(x, 2.5) - min(x, 1, 3)


@kernel
def local_matrix(out):
    i = cuda.grid(1)
    table = cuda.local.array((2, 3), int32)
    for a in range(2):
        for b in range(3):
            table[a, b] = i * (a + 1) + b
    out[i] = table[1, 2] - table[0][1] + table[-1, -3]


@kernel
def constant_branch(out):
    i = cuda.grid(1)
    if SCALE > 2:
        out[i] = 1
    else:
        out[i] = not_defined_anywhere  # noqa: F821


FLOAT = [frozen_values, widening, two_lives, maths, swap_elements, parameter_reassigned]
PLAIN = [
    if_chain, while_break_continue, for_forms, for_step_of_either_sign, loop_variable_after,
    loop_variable_assigned, bound_changes_inside, nested_break, early_return, swap_and_tuples,
    ternary_and_values, other_spellings, calls, chained_compare, local_matrix, constant_branch,
    frozen_values, two_lives,
]  # fmt: skip


@pytest.mark.parametrize("k", PLAIN, ids=lambda k: k.name)
def test_construct(k, target):
    out = np.full(N, -5, np.float64 if k in FLOAT else np.int64)
    result = run(k, (5, 8), [out], target)
    if k is other_spellings:
        right = [np.arange(N) * 3]
    else:
        right = run_in_python(k, [out])
    np.testing.assert_allclose(result[0], right[0], rtol=1e-12)


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "int8"])
def test_data(dtype, target):
    data = np.arange(-20, 20).astype(dtype)
    for k, out_type in (
        (swap_elements, "float64"), (negative_indices, dtype), (widening, "float64"),
        (maths, "float64"), (augmented, "int32"),
    ):  # fmt: skip
        if k is augmented and dtype.startswith("float"):
            continue
        out = np.full(N, 2, out_type)
        result = run(k, (5, 8), [data, out], target)
        right = run_in_python(k, [data, out])
        np.testing.assert_allclose(result[1], right[1], rtol=1e-5)


def test_short_circuit_guards_the_index(target):
    """Each thread reads what none writes: one thread per launch block keeps it in order."""
    out = np.zeros(6, np.int64)
    result = run(short_circuit, (1, 6), [out], target)[0]
    np.testing.assert_array_equal(result, [0, 0, 1, 0, 0, 0])


def test_rows(target):
    matrix = np.arange(12, dtype=np.int16).reshape(3, 4)
    for view in (matrix, matrix.T, matrix[:, ::-1], matrix[::2, 1:3]):
        out = np.zeros(4, np.int64)
        result = run(rows, (1, 8), [view, out], target)[1]
        right = view.sum(axis=1) + view.size + 2
        np.testing.assert_array_equal(result[: len(right)], right)


@pytest.mark.parametrize(("n", "x"), [(3, 2.5), (np.int32(3), np.float32(2.5)), (True, 4)])
def test_numbers_as_arguments(n, x, target):
    out = np.zeros(N)
    result = run(parameter_reassigned, (5, 8), [out, n, x], target)[0]
    right = run_in_python(parameter_reassigned, [out, n, x])[0]
    np.testing.assert_allclose(result, right, rtol=1e-6)


def test_closure(target):
    def made(factor):
        @kernel
        def scaled(out):
            i = cuda.grid(1)
            out[i] = i * factor

        return scaled

    for factor in (2, 5):
        result = run(made(factor), (1, 8), [np.zeros(8)], target)[0]
        np.testing.assert_array_equal(result, np.arange(8) * factor)


def test_globals_are_frozen_until_recompiled():
    @kernel(backend="cpu")
    def reads(out):
        out[0] = SCALE

    out = np.zeros(1)
    global SCALE
    reads[1, 1](out)
    try:
        SCALE = 11
        with pytest.warns(LaunchWarning, match="`SCALE` changed after reads was compiled"):
            reads[1, 1](out)
        assert out[0] == 3
        reads.recompile()
        reads[1, 1](out)
        assert out[0] == 11
    finally:
        SCALE = 3


def test_a_value_on_some_paths_only_warns_and_reads_0(target):
    @kernel
    def sometimes(out):
        i = cuda.grid(1)
        if i > 3:
            x = 7
        out[i] = x

    with pytest.warns(CompileWarning, match="`x` may have no value here"):
        result = run(sometimes, (1, 8), [np.full(8, -1)], target)[0]
    np.testing.assert_array_equal(result[4:], 7)
    if target != "python":
        np.testing.assert_array_equal(result[:4], 0)


@device
def assigned_if(condition):
    if condition:
        value = 7
    cuda.syncthreads()
    return value


@kernel
def calls_twice(out):
    i = cuda.grid(1)
    for k in range(2):
        out[i] = out[i] * 10 + assigned_if(k == 0)


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
def test_each_call_of_a_function_with_a_barrier_has_its_own_variables(target):
    if target == "python":
        pytest.skip("Python raises UnboundLocalError")
    np.testing.assert_array_equal(run(calls_twice, (2, 4), [np.zeros(8, int)], target)[0], 70)


def test_launch_forms():
    @kernel(backend="cpu")
    def count(out):
        cuda.atomic.add(out, 0, 1)

    for configuration, threads in [
        ((2, 3), 6), (((2, 2), (3, 1)), 12), (([2], (1, 1, 5)), 10),
        ((np.int64(4), 2, None), 8), ((1, 2, 0, 64), 2),
    ]:  # fmt: skip
        out = np.zeros(1, np.int32)
        count[configuration](out)
        assert out[0] == threads


def test_an_array_inside_of_an_assigned_expression(target):
    @kernel
    def counted(out):
        y = len(cuda.shared.array(4, float32))
        z = cuda.local.array(2, float32) is None
        out[0] = y + z

    assert run(counted, (1, 1), [np.zeros(1)], target)[0][0] == 4


def test_float32_stays_float32():
    @kernel(signature=(float32[::1],))
    def literals(data):
        i = cuda.grid(1)
        data[i] = (data[i] * 2.0 + 1) / 3 - i + math.sqrt(data[i])

    assert "double" not in literals.inspect("cuda")
    assert "2.0f" in literals.inspect("cuda")
