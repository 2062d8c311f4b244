"""Small programs that were once compiled wrongly: each against the reference, on every target."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float32, float64, int64, kernel, uint32, uint64
from pycu2c.kernels.kernel import Kernel
from support.c_compilers import check_warnings
from support.launching import run


def longs(count: int = 24) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.zeros(count, np.int64)


@device
def bump(c, v):
    c[0] = c[0] * 3 + v
    return v


@device
def take(c):
    return cuda.atomic.add(c, 0, 1)


@device
def reversed_in_block(x):
    """Shared memory and barriers of its own: put into its caller on the CPU."""
    s = cuda.shared.array(8, int64)
    t = cuda.threadIdx.x
    s[t] = x
    cuda.syncthreads()
    found = s[7 - t]
    cuda.syncthreads()
    return found


@device
def twice_reversed(x):
    t = reversed_in_block(x) + reversed_in_block(x * 2)
    return reversed_in_block(t)


@device
def early_or_met(x, n):
    if n > 3:
        return x
    cuda.syncthreads()
    if n > 2:
        return x + 1
    return x + 5


@device
def set_to_five(out, i):
    out[i] = 5
    cuda.syncthreads()
    return i


@device
def floordiv_i64(a, b):
    return a // b + 1000


@device
def sqrt(x):
    return x * 2


# ---- loops ---------------------------------------------------------------------------------


@kernel
def start_before_stop(c, out, n):
    k = 0
    for i in range(c[0], bump(c, 5)):
        out[k] = i + 1
        k += 1
    for i in range(cuda.atomic.add(c, 0, 3), cuda.atomic.add(c, 0, 4) + 4):
        out[k] = i + 10
        k += 1


@kernel
def bound_is_the_loop_variable(c, out, n):
    for n in range(n):  # noqa: B020
        out[n] = n + 1
    c[0] = n


@kernel
def bound_assigned_in_the_loop(c, out, n):
    for k in range(n):
        n = k * 2
        out[k] = n + 1


@kernel
def step_assigned_in_the_loop(c, out, n):
    s = 2
    for k in range(0, n, s):
        s = k + 1
        out[k] = s
    s = -2
    if n > 4:
        s = 2
    for k in range(0, n, s):
        s = k + 1
        out[k + 8] = s


@kernel
def nested_loops_with_one_variable(c, out, n):
    i = 0
    for i in range(n):
        out[i] += i
        for i in range(i):  # noqa: B020
            out[i] += 1
        out[i + 8] += i
    c[0] = i + 1


# ---- values --------------------------------------------------------------------------------


@kernel
def literals_of_a_ternary(c, out, n):
    x = (2000000000 if n > 1 else 1) * 4
    out[0] = x
    out[1] = int(c[0]) + -(2147483647 if n > 1 else 5) - 100
    y = (uint32(1) if n > 1 else uint32(2)) - (uint32(4) if n > 1 else uint32(2))
    out[2] = int(y)
    out[3] = uint64(-(uint32(1) if n > 1 else uint32(2))) // 2


@kernel
def rotated_tuple(c, out, n):
    t = (1, 2, n)
    for _ in range(n):
        t = (t[1] + 1, t[2], t[0])
    out[0], out[1], out[2] = t


@kernel
def items_from_left_to_right(c, out, n):
    a, out[take(c)] = take(c), take(c)
    b, d = c[0], take(c)
    out[6] = a + b * 10 + d * 100


@kernel
def effect_in_a_value_that_nothing_reads(c, out, n):
    n += cuda.atomic.add(c, 0, 1)
    total = n
    total += cuda.atomic.add(c, 0, 2)


# ---- what a block runs together --------------------------------------------------------------


@kernel
def conditional_barriers(c, out, n):
    i = cuda.grid(1)
    if n < 2 and reversed_in_block(i) > 3:
        out[i] = 1
    out[i] += reversed_in_block(i) if n > 2 else 7
    c[i] = (n < 2 and reversed_in_block(2 * i)) + reversed_in_block(i)


@kernel
def barrier_in_a_loop_condition(c, out, n):
    i = cuda.grid(1)
    k = 0
    while reversed_in_block(k) < n:
        k += 1
    out[i] = k


@kernel
def memory_before_a_barrier(c, out, n):
    i = cuda.grid(1)
    c[i] = out[i] * 10 + set_to_five(out, i) + out[i]
    c[i] += set_to_five(c, i)
    out[set_to_five(c, i)] += min(set_to_five(out, i), out[i])


@kernel
def nested_block_functions(c, out, n):
    i = cuda.grid(1)
    c[i] = early_or_met(i, n) + early_or_met(i, 2) * 100
    out[i] = twice_reversed(i)


@kernel
def much_local_memory_over_a_barrier(c, out, n):
    i = cuda.grid(1)
    kept = cuda.local.array((400, 100), float64)  # 320000 bytes for each thread of the block
    for j in range(400):
        kept[j, n] = i * j
    cuda.syncthreads()
    for j in range(400):
        out[i] += int(kept[j, n])


@kernel
def divided_by_the_place_of_a_thread(c, out, n):
    """What threads compute that do not come there is 100 / 0."""
    t = cuda.threadIdx.x
    if t > 0:
        c[cuda.grid(1)] = cuda.match_any_sync(0xFE, 100 // t) + cuda.shfl_sync(0xFE, 100 % t, 7)
    out[cuda.grid(1)] = t + n


@kernel
def remainders_of_numbers_that_no_float_is(c, out, n):
    """The rounds of the loop are known, and written out."""
    i = cuda.grid(1)
    x = 2**62 + 2**60 + 1
    while x > 1000:
        cuda.syncthreads()
        out[i] += x % 7 + n
        x = x % (2**59 + 12345) // 1000
        cuda.syncthreads()
    c[i] = x


# ---- names -----------------------------------------------------------------------------------


@kernel
def names_of_helpers(c, out, n):
    i = cuda.grid(1)
    min_i64 = min(i - 2, n)
    mod_i64 = (i - 2) % 3
    mod_i32 = (i - 3) // 5
    out[i] = min_i64 + mod_i64 * 10 + mod_i32 * 100 + floordiv_i64(i - 3, -2) + min(mod_i64, i)
    out[i] += sqrt(i) + int(math.sqrt(9.0))


@kernel
def names_of_the_headers(errno, EOF, INT_MAX):
    sqrtf = cuda.grid(1)
    fabsf = math.sqrt(float32(sqrtf)) + abs(float32(sqrtf) - 3)
    M_PI = sqrtf + 1
    HUGE_VAL = M_PI + 1
    RAND_MAX, INT64_MAX, fmaxf, atomicAdd = 1, 2, 3, 4
    EOF[sqrtf] = M_PI + HUGE_VAL + RAND_MAX * INT64_MAX + fmaxf + max(INT_MAX, M_PI)
    cuda.atomic.add(errno, 0, atomicAdd)
    errno[sqrtf + 1] = int(fabsf * 1000)


KERNELS = [item for item in list(globals().values()) if isinstance(item, Kernel)]
_BLOCKS = {"conditional_barriers", "barrier_in_a_loop_condition", "memory_before_a_barrier",
           "nested_block_functions", "much_local_memory_over_a_barrier", "names_of_helpers",
           "divided_by_the_place_of_a_thread", "remainders_of_numbers_that_no_float_is",
           "names_of_the_headers"}  # fmt: skip


@pytest.mark.parametrize("tried", KERNELS, ids=lambda k: k.name)
@pytest.mark.parametrize("n", [1, 3, 5])
def test_the_cpu_agrees_with_the_reference(tried: Kernel, n: int) -> None:
    place = (2, 8) if tried.name in _BLOCKS else (1, 1)
    expected = run(tried, place, (longs(), longs(), n), "python")
    result = run(tried, place, (longs(), longs(), n), "cpu")
    assert any(np.any(array) for array in expected[:2]), "it does nothing"
    for got, target_value in zip(result[:2], expected[:2]):
        np.testing.assert_array_equal(got, target_value)
    assert check_warnings(tried.inspect("c", "int64[::1], int64[::1], int")) == ""


def test_a_value_in_place_of_a_function_is_named() -> None:
    with pytest.raises(TypeError, match="a kernel is a Python function, not 3"):
        kernel(3)  # type: ignore[call-overload]


@device
def returns_early(x, t):
    """Its locals have the names of the variables for the result and for ``return``."""
    returned, result = t < 4, np.float32(0.5)
    cuda.syncthreads()
    for _ in range(3):
        if x[t] > 100:
            return 5
        x[t] += 1 if returned else 2
        result += 1
    return int64(result)


@kernel
def calls_early(x):
    t = cuda.threadIdx.x
    x[t] += returns_early(x, t)


def test_names_of_locals_in_functions_with_barriers(target: str) -> None:
    x = run(calls_early, (1, 8), [np.arange(8)], target)[0]
    assert x.tolist() == [3, 4, 5, 6, 7, 8, 9, 10]
