"""Programs of the kinds that numba's CUDA documentation shows, with ``pycu2c`` for ``numba`` in the
imports and nothing else changed. A program runs where there is a GPU on that, else on the CPU; the
rest of what ``cuda.jit`` does on each target is in the other tests."""

# mypy: ignore-errors

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from pycu2c import boolean, cuda, float32, float64, int32, types, vectorize
from pycu2c.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32
from pycu2c.cuda_driver import driver


@pytest.fixture(params=["cpu", *(["cuda"] if driver.available() else [])], autouse=True)
def where(request):
    if request.param == "cpu":
        request.getfixturevalue("without_gpus")
    return request.param


# ---- adding vectors ----------------------------------------------------------------------------


def test_vectors_are_added():
    @cuda.jit
    def add(a, b, c):
        tid = cuda.grid(1)
        size = len(c)
        if tid < size:
            c[tid] = a[tid] + b[tid]

    n = 10_000
    a = cuda.to_device(np.random.random(n))
    b = cuda.to_device(np.random.random(n))
    c = cuda.device_array_like(a)
    add.forall(len(a))(a, b, c)
    np.testing.assert_array_equal(c.copy_to_host(), a.copy_to_host() + b.copy_to_host())

    per_block = 256
    blocks = (len(a) + per_block - 1) // per_block
    add[blocks, per_block](a, b, c)
    np.testing.assert_array_equal(c.copy_to_host(), a.copy_to_host() + b.copy_to_host())


# ---- heat in a bar, all blocks in step -----------------------------------------------------------


def test_heat_flows_along_a_bar():
    size, steps = 1001, 200
    start = np.zeros(size)
    start[200:300] = 100.0
    buf_0 = cuda.to_device(start)
    buf_1 = cuda.device_array_like(buf_0)

    @cuda.jit
    def solve(buf_0, buf_1, timesteps, k):
        i = cuda.grid(1)
        if i >= len(buf_0):
            return
        grid = cuda.cg.this_grid()
        for step in range(timesteps):
            if (step % 2) == 0:
                data, next_data = buf_0, buf_1
            else:
                data, next_data = buf_1, buf_0
            curr_temp = data[i]
            if i == 0:
                next_temp = curr_temp + k * (data[i + 1] - (2 * curr_temp))
            elif i == len(data) - 1:
                next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp))
            else:
                next_temp = curr_temp + k * (data[i - 1] - (2 * curr_temp) + data[i + 1])
            next_data[i] = next_temp
            grid.sync()

    solve.forall(len(start))(buf_0, buf_1, steps, 0.25)
    want = start.copy()
    for _ in range(steps):
        padded = np.concatenate([[0], want, [0]])
        want = want + 0.25 * (padded[:-2] - 2 * want + padded[2:])
    np.testing.assert_allclose(buf_0.copy_to_host(), want)


# ---- rows, one after the other -------------------------------------------------------------------


def test_rows_are_computed_in_order():
    sig = (int32[:, ::1],)

    @cuda.jit(sig)
    def sequential_rows(matrix):
        col = cuda.grid(1)
        g = cuda.cg.this_grid()
        rows = matrix.shape[0]
        cols = matrix.shape[1]
        for row in range(1, rows):
            opposite = cols - col - 1
            matrix[row, col] = matrix[row - 1, opposite] + 1
            g.sync()

    matrix = np.empty((64, 256), dtype=np.int32)
    matrix[0] = np.arange(256)
    arguments = matrix.copy()
    overload = sequential_rows.overloads[sig]
    blockdim = 32
    griddim = 256 // blockdim
    assert overload.max_cooperative_grid_blocks(blockdim) >= 1
    sequential_rows[griddim, blockdim](arguments)
    for row in range(1, 64):
        matrix[row] = matrix[row - 1][::-1] + 1
    np.testing.assert_array_equal(arguments, matrix)


# ---- matrices ------------------------------------------------------------------------------------

TPB = 16


@cuda.jit
def matmul(A, B, C):
    i, j = cuda.grid(2)
    if i < C.shape[0] and j < C.shape[1]:
        tmp = 0.0
        for k in range(A.shape[1]):
            tmp += A[i, k] * B[k, j]
        C[i, j] = tmp


@cuda.jit
def fast_matmul(A, B, C):
    sA = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    sB = cuda.shared.array(shape=(TPB, TPB), dtype=float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    bpg = cuda.gridDim.x
    tmp = float32(0.0)
    for i in range(bpg):
        sA[ty, tx] = 0
        sB[ty, tx] = 0
        if y < A.shape[0] and (tx + i * TPB) < A.shape[1]:
            sA[ty, tx] = A[y, tx + i * TPB]
        if x < B.shape[1] and (ty + i * TPB) < B.shape[0]:
            sB[ty, tx] = B[ty + i * TPB, x]
        cuda.syncthreads()
        for j in range(TPB):
            tmp += sA[ty, j] * sB[j, tx]
        cuda.syncthreads()
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = tmp


@pytest.mark.parametrize("kernel", [matmul, fast_matmul])
@pytest.mark.parametrize("shapes", [((16, 16), (16, 16)), ((5, 23), (23, 37))])
def test_matrices_are_multiplied(kernel, shapes):
    x_h, y_h = (np.arange(math.prod(s), dtype=np.float32).reshape(s) for s in shapes)
    z_h = np.zeros((shapes[0][0], shapes[1][1]), np.float32)
    x_d, y_d, z_d = cuda.to_device(x_h), cuda.to_device(y_h), cuda.to_device(z_h)
    threadsperblock = (TPB, TPB)
    most = max(*shapes[0], *shapes[1])
    blockspergrid = (math.ceil(most / threadsperblock[0]), math.ceil(most / threadsperblock[1]))
    kernel[blockspergrid, threadsperblock](x_d, y_d, z_d)
    np.testing.assert_allclose(z_d.copy_to_host(), x_h @ y_h, rtol=1e-5)


# ---- an integral by chance -----------------------------------------------------------------------


def test_an_integral_is_estimated():
    nsamps = 100_000
    out = cuda.to_device(np.zeros(nsamps, dtype="float32"))
    rng_states = create_xoroshiro128p_states(nsamps, seed=42)

    @cuda.jit
    def mc_integrator_kernel(out, rng_states, lower_lim, upper_lim):
        size = len(out)
        gid = cuda.grid(1)
        if gid < size:
            samp = xoroshiro128p_uniform_float32(rng_states, gid)
            samp = samp * (upper_lim - lower_lim) + lower_lim
            y = func(samp)
            out[gid] = y * (upper_lim - lower_lim)

    @cuda.jit(device=True)
    def func(x):
        return 1.0 / (1.0 + math.exp(-x))

    @cuda.reduce
    def sum_reduce(a, b):
        return a + b

    mc_integrator_kernel.forall(nsamps)(out, rng_states, np.float32(-2), np.float32(2))
    assert abs(sum_reduce(out) / nsamps - 2) < 0.02


def test_pi_is_estimated():
    @cuda.jit
    def compute_pi(rng_states, iterations, out):
        thread_id = cuda.grid(1)
        inside = 0
        for _ in range(iterations):
            x = xoroshiro128p_uniform_float32(rng_states, thread_id)
            y = xoroshiro128p_uniform_float32(rng_states, thread_id)
            if x**2 + y**2 <= 1.0:
                inside += 1
        out[thread_id] = 4.0 * inside / iterations

    threads_per_block = 64
    blocks = 24
    rng_states = create_xoroshiro128p_states(threads_per_block * blocks, seed=1)
    out = np.zeros(threads_per_block * blocks, dtype=np.float32)
    compute_pi[blocks, threads_per_block](rng_states, 1000, out)
    assert abs(out.mean() - np.pi) < 0.01


# ---- sums ----------------------------------------------------------------------------------------


def test_a_block_adds_up():
    nelem = 1024
    a = cuda.to_device(np.arange(nelem))

    @cuda.jit
    def array_sum(data):
        tid = cuda.threadIdx.x
        size = len(data)
        if tid < size:
            i = cuda.grid(1)
            shr = cuda.shared.array(nelem, int32)
            shr[tid] = data[i]
            cuda.syncthreads()
            s = 1
            while s < cuda.blockDim.x:
                if tid % (2 * s) == 0:
                    shr[tid] += shr[tid + s]
                s *= 2
                cuda.syncthreads()
            if tid == 0:
                data[tid] = shr[tid]

    array_sum[1, nelem](a)
    assert a.copy_to_host()[0] == sum(range(nelem))


def test_reduce():
    @cuda.reduce
    def sum_reduce(a, b):
        return a + b

    a = (np.arange(1234, dtype=np.float64)) + 1
    assert sum_reduce(a) == a.sum()
    assert sum_reduce(a, init=10) == a.sum() + 10
    sum_reduce_by_call = cuda.Reduce(lambda a, b: a + b)
    assert sum_reduce_by_call(a) == a.sum()


# ---- sessions of users ---------------------------------------------------------------------------


def test_clicks_become_sessions():
    @cuda.jit
    def sessionize(user_id, timestamp, results):
        gid = cuda.grid(1)
        size = len(user_id)
        if gid >= size:
            return
        is_first_datapoint = gid == 0
        if not is_first_datapoint:
            new_user = user_id[gid] != user_id[gid - 1]
            timed_out = timestamp[gid] - timestamp[gid - 1] > session_timeout
            is_sess_boundary = new_user or timed_out
        else:
            is_sess_boundary = True
        if is_sess_boundary:
            results[gid] = gid
        grid = cuda.cg.this_grid()
        grid.sync()
        if is_sess_boundary:
            look_ahead = 1
            while results[gid + look_ahead] == 0:
                results[gid + look_ahead] = gid
                look_ahead += 1
                if gid + look_ahead == size - 1:
                    results[gid + look_ahead] = gid
                    break

    session_timeout = np.int64(np.timedelta64("3600", "s"))
    ids = cuda.to_device(np.array([1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4]))
    sec = cuda.to_device(
        np.array(
            [
                *(1, 2, 3, 5000, 5001, 5002),
                *(1, 1000, 2000, 3000),
                *(1, 4000, 8000, 8001, 8002, 8003, 20000),
                *(1, 2, 9),
            ],
            dtype="datetime64[s]",
        ).astype("int64")
    )
    results = cuda.to_device(np.zeros(len(ids)))
    sessionize.forall(len(ids))(ids, sec, results)
    want = [0, 0, 0, 3, 3, 3, 6, 6, 6, 6, 10, 11, 12, 12, 12, 12, 16, 17, 17, 17]
    assert results.copy_to_host().tolist() == want


# ---- functions of whole arrays -------------------------------------------------------------------


def test_vectorize():
    @vectorize([float32(float32, float32), float64(float64, float64)], target="cuda")
    def discriminant(a, b):
        return math.sqrt(b * b + 4 * a)

    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    got = discriminant(a, np.float32(2))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, np.sqrt(4 + 4 * a), rtol=1e-6)


# ---- a function for the CPU and for kernels ------------------------------------------------------


def test_a_python_function_serves_both():
    def hypot_of(x, y):
        return (x**2 + y**2) ** 0.5

    device_hypot = cuda.jit(hypot_of, device=True)

    @cuda.jit("void(float64[:], float64[:], float64[:])")
    def legs(a, b, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = device_hypot(a[i], b[i])

    a, b, out = np.arange(1.0, 100), np.arange(101.0, 200), np.zeros(99)
    legs[4, 32](a, b, out)
    np.testing.assert_allclose(out, [hypot_of(x, y) for x, y in zip(a, b)])


# ---- dynamic shared memory -----------------------------------------------------------------------


def test_two_arrays_in_dynamic_shared_memory():
    @cuda.jit
    def fill(x, out):
        floats = cuda.shared.array(shape=0, dtype=float32)[:2]
        ints = cuda.shared.array(shape=0, dtype=int32)[2:4]
        if cuda.threadIdx.x == 0:
            floats[0], floats[1] = 3.14, 2.72
            ints[0], ints[1] = 42, x[0]
        cuda.syncthreads()
        i = cuda.threadIdx.x
        if i < 2:
            out[i] = floats[i]
        elif i < 4:
            out[i] = ints[i - 2]

    out = np.zeros(4)
    fill[1, 32, 0, 16](np.array([7]), out)
    np.testing.assert_allclose(out, [3.14, 2.72, 42, 7], rtol=1e-6)


# ---- types by numba's names ----------------------------------------------------------------------


def test_signatures_of_several_kinds():
    @cuda.jit((types.Array(types.float32, 1, "C"), types.boolean))
    def negate(a, also):
        i = cuda.grid(1)
        if i < a.shape[0] and also:
            a[i] = -a[i]

    @cuda.jit(types.void(float32[::1], boolean))
    def double(a, also):
        i = cuda.grid(1)
        if i < a.shape[0] and also:
            a[i] *= 2

    a = np.arange(5, dtype=np.float32)
    negate[1, 8](a, True)
    double[1, 8](a, True)
    assert a.tolist() == [-2 * x for x in range(5)]
    (types_of_double,) = double.overloads
    assert re.search("float32", str(types_of_double))
