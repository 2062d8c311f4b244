"""Products of small matrices by a warp."""

from __future__ import annotations

import numpy as np

from launching import run
from pycu2c import cuda, float16, float32, kernel
from pycu2c.cuda import wmma
from pycu2c.toolchain import cc, nvrtc


@kernel
def multiply(c, a, b):
    """Each warp one tile of the result; the last in shared memory."""
    row, column = 16 * cuda.blockIdx.y, 16 * cuda.blockIdx.x
    tile = cuda.shared.array((16, 16), float32)
    for n in range(cuda.threadIdx.x, 256, 32):
        tile[n // 16, n % 16] = 1
    wmma.mma_sync(tile, a[row : row + 16, :], b[:, column : column + 16])
    for n in range(cuda.threadIdx.x, 256, 32):
        c[row + n // 16, column + n % 16] = tile[n // 16, n % 16]


def test_a_product(target: str) -> None:
    rng = np.random.default_rng(1)
    a = rng.integers(-4, 5, (32, 48)).astype(np.float16)
    b = rng.integers(-4, 5, (48, 64)).astype(np.float16)
    (found, _, _) = run(multiply, ((4, 2), 32), [np.zeros((32, 64), np.float32), a, b], target)
    np.testing.assert_array_equal(found, a.astype(np.float32) @ b.astype(np.float32) + 1)


@kernel
def accumulate(c, a, b):
    wmma.mma_sync(c, a, b)
    wmma.mma_sync(c, a, b)


def test_sums_go_on(target: str) -> None:
    a = np.eye(16, dtype=np.float16) * 2
    b = np.arange(256, dtype=np.float16).reshape(16, 16)
    c = np.ones((16, 16), np.float32)
    (found, _, _) = run(accumulate, (1, 32), [c, a, b], target)
    np.testing.assert_array_equal(found, 1 + 4 * b.astype(np.float32))


@kernel
def transposed(c, a, b):
    wmma.mma_sync(c.T, b.T, a.T)
    wmma.mma_sync(c, a.T, b)


def test_matrices_may_lie_by_columns(target: str) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    (found, _, _) = run(transposed, (1, 32), [np.zeros((16, 16), np.float32), a, b], target)
    wide, other = a.astype(np.float32), b.astype(np.float32)
    np.testing.assert_array_equal(found, wide @ other + wide.T @ other)


def test_tensor_cores_do_it() -> None:
    types = (float32[:, ::1], float16[:, ::1], float16[:, ::1])
    made = nvrtc.compile(multiply.inspect("cuda", types), "multiply", "sm_80", kind="ptx")
    assert "wmma.mma.sync" in made.data.decode()
    assert cc.check_warnings(multiply.inspect("c", types)) == ""
