"""Divergent loops run as SIMD batches; results are equal on all targets."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from support.launching import run

SHAPES = [(2, 64), (3, 100), (5, 1), ((2, 2), (5, 7)), (1, (4, 3, 6)), (2, 33)]


def spread(shape):
    """A launch and as many numbers as it has threads, less a few."""
    grid, block = shape
    threads = int(np.prod(grid) * np.prod(block))
    return shape, max(1, threads - 5)


@device
def number():
    """Of the thread, over all of the grid."""
    width, height = cuda.blockDim.x, cuda.blockDim.y
    inside = cuda.threadIdx.x + width * (cuda.threadIdx.y + height * cuda.threadIdx.z)
    block = cuda.blockIdx.x + cuda.gridDim.x * cuda.blockIdx.y
    return block * width * height * cuda.blockDim.z + inside


@kernel
def escape(out, step, limit):
    i = number()
    if i >= len(out):
        return
    x = step * i
    z = x
    count = 0
    while count < limit and z < 100:
        z = z * z + x
        count += 1
    out[i] = count


@kernel
def newton(out, x):
    i = number()
    if i < len(out):
        a = x[i]
        y = a
        for _ in range(40):
            before = y
            y = (y + a / y) * x.dtype.type(0.5)
            if abs(y - before) <= x.dtype.type(1e-6) * y:
                break
        else:
            y = -y
        out[i] = y


@kernel
def skipping(out, x):
    i = number()
    if i >= len(out):
        return
    odd = even = np.int32(0)
    rest = x[i]
    while rest > 0:
        rest -= np.int32(3)
        if rest % 2 == 0:
            even += np.int32(1)
            continue
        if rest == 7:
            odd = np.int32(-1)
            break
        odd += rest
    out[i] = odd * np.int32(100) + even


@kernel
def nested(out, x):
    i = number()
    if i >= len(out):
        return
    total = np.int32(0)
    outer = x[i]
    while outer > 0:
        inner = outer
        for k in range(3):
            total += np.int32(k) ^ outer
        while inner > 0:
            total += inner
            if total % 5 == 4:
                break
            inner -= np.int32(2)
        else:
            total -= np.int32(1)
        outer -= np.int32(4)
        if total > 500:
            break
    out[i] = total


@kernel
def returning(out, x):
    i = number()
    if i >= len(out):
        return
    rest = x[i]
    out[i] = -2
    while True:
        rest -= np.int32(7)
        if rest == 1:
            return
        if rest < 0:
            break
    out[i] = rest


@device
def steps(n, limit):
    for k in range(limit):
        if n <= 1:
            return k
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    return -1


@kernel
def through_a_function(out, x):
    i = number()
    if i < len(out):
        found = steps(x[i], 30) if x[i] % 3 else 1000
        out[i] = found + (steps(x[i] + np.int32(1), 40) if found > 3 else 0)


@kernel
def no_thread_enters(out, x):
    i = number()
    if i < len(out):
        rest = x[i]
        while rest > 1000:
            rest -= np.int32(1)
        later = rest * np.int32(2)
        while later < -1000:
            later += np.int32(1)
        out[i] = later


@kernel
def with_barriers(out, x):
    shared = cuda.shared.array(128, np.int32)
    t = cuda.threadIdx.x + cuda.blockDim.x * (cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z)
    i = number()
    rest = x[i] if i < len(x) else np.int32(0)
    for _ in range(3):
        while rest > 10:
            rest -= np.int32(9)
        shared[t] = rest
        cuda.syncthreads()
        rest += shared[0] + np.int32(t)
        cuda.syncthreads()
    if i < len(out):
        out[i] = rest


WHOLE = [skipping, nested, returning, through_a_function, no_thread_enters, with_barriers]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("k", WHOLE, ids=lambda k: k.name)
def test_integers(k, shape, target):
    launch, n = spread(shape)
    x = np.random.default_rng(n).integers(0, 60, n).astype(np.int32)
    arguments = np.zeros(n, np.int32), x
    expected, _ = run(k, launch, arguments, "python")
    out, _ = run(k, launch, arguments, target)
    assert out.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_floats(shape, dtype, target):
    launch, n = spread(shape)
    arguments = np.zeros(n, np.int32), dtype(0.0131), 25
    assert run(escape, launch, arguments, target)[0].tolist() == escaped(n, dtype(0.0131), 25)
    x = np.linspace(0.1, 90, n).astype(dtype)
    out, _ = run(newton, launch, (np.zeros(n, dtype), x), target)
    np.testing.assert_allclose(out, np.sqrt(x), rtol=2e-6)


def escaped(n, step, limit):
    counts = []
    for i in range(n):
        x = z = step * type(step)(i)
        count = 0
        while count < limit and z < 100:
            z = z * z + x
            count += 1
        counts.append(count)
    return counts


@pytest.mark.parametrize(
    "k", [escape, newton, skipping, nested, returning, through_a_function], ids=lambda k: k.name
)
def test_divergent_loops_are_strip_mined(k):
    """One loop over the lanes of a strip, without jumps, is what compilers make vectors of."""
    kinds = {"escape": "int32[::1], float32, int", "newton": "float32[::1], float32[::1]"}
    text = k.inspect("c", kinds.get(k.name, "int32[::1], int32[::1]"))
    strips = text.split("int64_t strip = 0")[1]
    lanes = strips.split("#pragma omp simd")[1].split("if (any_active == 0)")[0]
    assert not any(word in lanes for word in ("goto", "continue", "while"))


@kernel
def left_in_the_middle(out, x):
    """What is changed before a lane leaves, and what it leaves behind."""
    i = number()
    if i < len(out):
        low = high = x[i]
        steps = 0
        while True:
            high = high + x.dtype.type(1)
            if high > 40:
                low = -low
                break
            if high > low * 3:
                low = low + x.dtype.type(1)
                steps += 3
            else:
                low = low + x.dtype.type(2)
            steps -= 1
            if steps > 30 and low > 2:
                break
        out[i] = low * 1000 + high + x.dtype.type(steps)


@kernel
def again_from_where_it_was(out, x):
    """The loop around it reads what the inner loop has left."""
    i = number()
    if i < len(out):
        z = x[i]
        total = 0
        for _ in range(3):
            while z > 0:
                z -= x.dtype.type(2)
                total += 1
            z += x.dtype.type(5)
        out[i] = x.dtype.type(total)


@kernel
def others_read_it(out, x):
    i = number()
    if i >= len(out):
        return
    z = x[i]
    if i % 3 == 0:
        n = 0
        while z < 100 and n < 40:
            z = z + z + 1
            n += 1
        out[i] = n
        return
    out[i] = z


@kernel
def others_have_left(out, x):
    i = number()
    if i >= len(out):
        return
    z = x[i]
    n = 0
    for turn in range(4):
        if i % 4 == turn:
            break
        while z < 100 and n < 9 * turn:
            z = z + z + 1
            n += 1
        z = turn + 1
    out[i] = z + n


KINDS_OF_EXITS = [left_in_the_middle, again_from_where_it_was, others_read_it, others_have_left]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.int16])
@pytest.mark.parametrize("k", KINDS_OF_EXITS, ids=lambda k: k.name)
def test_what_lanes_leave_behind(k, dtype, target):
    launch, n = spread((3, 100))
    arguments = np.zeros(n, dtype), np.arange(n).astype(dtype) % dtype(37)
    expected, _ = run(k, launch, arguments, "python")
    out, _ = run(k, launch, arguments, target)
    assert out.tolist() == expected.tolist()


@kernel
def left_before_an_empty_arm(out, x, limit):
    i = number()
    if i >= len(out):
        return
    y = z = x[i]
    count = 0
    while True:
        if count >= limit or z >= 100:
            break
        count += 1
        z = z * z + y
        if z > 4:
            pass
        else:
            for _ in range(-2, 3, 3):
                pass
    out[i] = count


def test_a_loop_ends_when_all_lanes_have_left(target):
    arguments = np.zeros(90, np.float32), np.linspace(0, 2, 90).astype(np.float32), 9
    expected = run(left_before_an_empty_arm, (2, 64), arguments, "python")[0]
    out = run(left_before_an_empty_arm, (2, 64), arguments, target)[0]
    assert out.tolist() == expected.tolist()


@kernel
def counted(out, x, limit):
    i = number()
    if i < len(out):
        z = x[i]
        steps = 0
        while steps < limit and z < 100:
            z = z * z + 1
            steps += 1
        out[i] = steps * 2 + i


@pytest.mark.parametrize("limit", [3, 2**30 - 1, 2**31 + 5, -(2**40)])
def test_a_limit_may_be_beyond_32_bits(limit, target):
    launch, n = spread((3, 100))
    arguments = np.zeros(n, np.int64), np.linspace(0.1, 90, n).astype(np.float32), limit
    expected = run(counted, launch, arguments, "python")[0]
    out = run(counted, launch, arguments, target)[0]
    assert out.tolist() == expected.tolist()


def rounds_of(k, kinds):
    """The C of the rounds that each lane of a strip does."""
    text = k.inspect("c", kinds, block=64)
    assert "round_ < 4" in text
    return text.split("round_ < 4")[1].split("state_ |=")[0]


def test_iterations_have_no_branches():
    rounds = rounds_of(counted, "int64[::1], float32[::1], int")
    assert "if" not in rounds
    assert "?" not in rounds


def test_what_is_not_read_later_runs_free():
    """Neither is chosen under a mask."""
    rounds = rounds_of(counted, "int64[::1], float32[::1], int")
    assert "z = z * z + 1.0f;" in rounds
    assert "pick_f32" in rounds_of(left_in_the_middle, "float32[::1], float32[::1]")


@kernel
def ones(out, x):
    i = number()
    if i < len(out):
        rest = x[i]
        count = 0
        while rest:
            rest &= rest - 1
            count += 1
        out[i] = count


def test_compilers_know_how_to_count_bits():
    assert "any_active" not in ones.inspect("c", "int32[::1], uint32[::1]")


@kernel
def flags(out, x):
    """Numbers that are true or not, changed in each round, or in some, or in a loop of others."""
    i = number()
    if i >= len(x):
        return
    met, odd, all_small, last = False, False, True, False
    k = 0
    while k < x[i]:
        met = met | (k * k == 49)
        odd = odd ^ ((k * 3) % 4 == 1)
        if k % 3 == 2:
            all_small = all_small & (k * 5 < 60)
        last = k * k > 20
        if met and k > 30:
            break
        k += 1
    out[i] = 1000 * met + 100 * odd + 10 * all_small + last


@pytest.mark.parametrize("shape", SHAPES)
def test_booleans_keep_their_value(shape, target):
    shape, count = spread(shape)
    x = np.random.default_rng(1).integers(0, 40, count).astype(np.int32)
    out = np.zeros(count, np.int32)
    expected = run(flags, shape, (out, x), "python")[0]
    assert np.array_equal(run(flags, shape, (out, x), target)[0], expected)


@kernel
def reported(out, x, known):
    i = number()
    if i < len(x):
        for k in range(x[i]):
            known = known + (k == 5)
        out[i] = known


@pytest.mark.parametrize("known", [np.bool_(False), np.bool_(True)])
def test_a_parameter_that_is_true_or_not_is_changed(known, target):
    x = np.arange(40, dtype=np.int32)
    (out, *_) = run(reported, (1, 64), (np.zeros(40, bool), x, known), target)
    assert np.array_equal(out, (x > 5) | known)
