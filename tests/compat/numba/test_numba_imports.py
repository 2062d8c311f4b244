"""The documented examples with ``cuda`` and types imported from numba."""

from __future__ import annotations

import numpy as np
import pytest

import pycu2c
from pycu2c import kernel
from support.launching import run

numba = pytest.importorskip("numba")
pytest.importorskip("numba.cuda")

from numba import (  # noqa: E402
    cuda,
    float32,
    int32,
)
from numba.cuda import float4  # noqa: E402
from numba.cuda import grid as place  # noqa: E402


@kernel
def add_one(arr, out):
    i = cuda.grid(1)
    if i < len(arr):
        out[i] = arr[i] + 1


@kernel(signature=(float32[:], float32[:], int32))
def scale(arr, out, factor):
    i = cuda.grid(1)
    if i < len(arr):
        out[i] = arr[i] * factor


@kernel(block=(256,), shared_memory=256 * 4)
def reduce_sum(data, out):
    shared = cuda.shared.array(256, dtype=float32)
    i = place(1)
    tid = cuda.threadIdx.x
    if i < len(data):
        shared[tid] = data[i]
    else:
        shared[tid] = 0
    cuda.syncthreads()
    s = 128
    while s > 0:
        if tid < s:
            shared[tid] += shared[tid + s]
        cuda.syncthreads()
        s //= 2
    if tid == 0:
        cuda.atomic.add(out, cuda.blockIdx.x, shared[0])


def test_add_one(target):
    data = np.arange(40, dtype=np.int32)
    np.testing.assert_array_equal(run(add_one, (2, 32), [data, data], target)[1], data + 1)


def test_scale(target):
    data = np.arange(40, dtype=np.float32)
    result = run(scale, (2, 32), [data, np.zeros_like(data), 3], target)[1]
    np.testing.assert_array_equal(result, data * 3)


def test_reduce_sum(target):
    data = np.arange(500, dtype=np.float32)
    result = run(reduce_sum, (2, 256), [data, np.zeros(2, np.float32)], target)[1]
    np.testing.assert_array_equal(result, [data[:256].sum(), data[256:].sum()])


@pytest.mark.parametrize("given", [numba.void(float32[:], int32), (float32[:], int32)])
def test_a_signature_of_numba_may_be_the_first_argument(given):
    @kernel(given)
    def filled(out, value):
        out[cuda.grid(1)] = value

    assert str(filled.signature) == "(float32[:], int32)"


@kernel
def vectors(a, out):
    tile = cuda.shared.array(4, cuda.float32x4)
    i = cuda.grid(1)
    tile[i] = a[i]
    cuda.syncthreads()
    v = tile[3 - i]
    out[i] = cuda.float4(v.x, cuda.float2(v.y, i), float4(v).w)


def test_vectors(target):
    a = np.arange(16, dtype=np.float32).view(pycu2c.float4.numpy)
    result = run(vectors, (1, 4), [a, np.zeros_like(a)], target)[1]
    np.testing.assert_array_equal(result["x"], a["x"][::-1])
    np.testing.assert_array_equal(result["z"], np.arange(4))
    np.testing.assert_array_equal(result["w"], a["w"][::-1])


@kernel
def exchanged(a, out):
    i = cuda.grid(1)
    x = cuda.shfl_down_sync(0xFFFFFFFF, a[i], 1) + cuda.popc(cuda.activemask()) * 0
    mask = cuda.ballot_sync(0xFFFFFFFF, a[i] > 0)
    below = mask & cuda.lanemask_lt()
    cuda.syncwarp()
    out[i] = x + (below >> cuda.laneid) + cuda.warpsize + cuda.syncthreads_count(a[i] > 3)


@kernel
def synchronizes_the_grid(a):
    value = a[cuda.grid(1) - 1]
    cuda.cg.this_grid().sync()
    a[cuda.grid(1)] = value


def test_names_of_warps_and_grids():
    a = np.arange(32, dtype=np.int32)
    result = run(exchanged, (1, 32), [a, np.zeros_like(a)], "python")[1]
    np.testing.assert_array_equal(result, np.append(a[1:], 31) + 32 + 28)
    text = exchanged.inspect("cuda", "int32[::1], int32[::1]")
    assert "__shfl_down_sync(0xffffffff, a[i], 1)" in text
    assert "+ 32 + __syncthreads_count(a[i] > 3);" in text


def test_the_barrier_of_the_grid(target):
    a = np.arange(6, dtype=np.int32)
    result = run(synchronizes_the_grid, (2, 3), [a], target)[0]
    np.testing.assert_array_equal(result, np.roll(a, 1))
