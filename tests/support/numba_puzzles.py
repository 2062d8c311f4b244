"""Fourteen small exercises that many have learnt numba's CUDA by, from a map to a tiled matrix
product; each a function that is given the namespace ``cuda`` and gives the function to compile.

``PUZZLES`` has of each: the maker, the grid, the block, the arguments (the first one is written),
and what it must give.
"""

# mypy: ignore-errors

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import pycu2c as numba

TPB = 8


def maps(cuda):
    def call(out, a):
        here = cuda.threadIdx.x
        out[here] = a[here] + 10

    return call


def zips(cuda):
    def call(out, a, b):
        here = cuda.threadIdx.x
        out[here] = a[here] + b[here]

    return call


def guards(cuda):
    def call(out, a, size):
        here = cuda.threadIdx.x
        if here < size:
            out[here] = a[here] + 10

    return call


def maps_in_2d(cuda):
    def call(out, a, size):
        row = cuda.threadIdx.x
        column = cuda.threadIdx.y
        if row < size and column < size:
            out[row, column] = a[row, column] + 10

    return call


def broadcasts(cuda):
    def call(out, a, b, size):
        row = cuda.threadIdx.x
        column = cuda.threadIdx.y
        if row < size and column < size:
            out[row, column] = a[row, 0] + b[0, column]

    return call


def blocks(cuda):
    def call(out, a, size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < size:
            out[i] = a[i] + 10

    return call


def blocks_in_2d(cuda):
    def call(out, a, size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        if i < size and j < size:
            out[i, j] = a[i, j] + 10

    return call


def shares(cuda):
    def call(out, a, size):
        shared = cuda.shared.array(4, numba.float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        here = cuda.threadIdx.x
        if i < size:
            shared[here] = a[i]
            cuda.syncthreads()
            out[i] = shared[here] + 10

    return call


def pools(cuda):
    def call(out, a, size):
        shared = cuda.shared.array(TPB, numba.float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        here = cuda.threadIdx.x
        if i < size:
            shared[here] = a[i]
        cuda.syncthreads()
        if i < size:
            total = 0.0
            for back in range(3):
                if here - back >= 0:
                    total += shared[here - back]
            out[i] = total

    return call


def dots(cuda):
    def call(out, a, b, size):
        shared = cuda.shared.array(TPB, numba.float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        here = cuda.threadIdx.x
        if i < size:
            shared[here] = a[i] * b[i]
        else:
            shared[here] = 0
        cuda.syncthreads()
        if here == 0:
            total = 0
            for k in range(size):
                total += shared[k]
            out[0] = total

    return call


def convolves(cuda):
    CONV = 4
    BOTH = TPB + CONV

    def call(out, a, b, a_size, b_size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        here = cuda.threadIdx.x
        window = cuda.shared.array(BOTH, numba.float32)
        weights = cuda.shared.array(CONV, numba.float32)
        if i < a_size:
            window[here] = a[i]
        if here < b_size:
            weights[here] = b[here]
        else:
            over = here - b_size
            if i - b_size + TPB < a_size and over < b_size:
                window[TPB + over] = a[i - b_size + TPB]
        cuda.syncthreads()
        if i < a_size:
            total = 0
            for k in range(b_size):
                if i + k < a_size:
                    total += window[here + k] * weights[k]
            out[i] = total

    return call


def sums_blocks(cuda):
    def call(out, a, size: int):
        cache = cuda.shared.array(TPB, numba.float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        here = cuda.threadIdx.x
        cache[here] = a[i] if i < size else 0
        cuda.syncthreads()
        step = 1
        while step < TPB:
            if here % (2 * step) == 0:
                cache[here] += cache[here + step]
            cuda.syncthreads()
            step *= 2
        if here == 0:
            out[cuda.blockIdx.x] = cache[0]

    return call


def sums_an_axis(cuda):
    def call(out, a, size: int):
        cache = cuda.shared.array(TPB, numba.float32)
        here = cuda.threadIdx.x
        batch = cuda.blockIdx.y
        if here < size:
            cache[here] = a[batch, here]
        else:
            cache[here] = 0
        cuda.syncthreads()
        for k in range(3):
            p = 2**k
            if here % (p * 2) == 0 and here + p < TPB:
                cache[here] = cache[here] + cache[here + p]
            cuda.syncthreads()
        if here == 0:
            out[batch, 0] = cache[0]

    return call


def multiplies(cuda):
    SIDE = 3

    def call(out, a, b, size: int):
        a_shared = cuda.shared.array((SIDE, SIDE), numba.float32)
        b_shared = cuda.shared.array((SIDE, SIDE), numba.float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        x = cuda.threadIdx.x
        y = cuda.threadIdx.y
        total = 0.0
        for start in range(0, size, SIDE):
            a_shared[x, y] = a[i, start + y] if i < size and start + y < size else 0
            b_shared[x, y] = b[start + x, j] if start + x < size and j < size else 0
            cuda.syncthreads()
            for k in range(min(SIDE, size - start)):
                total += a_shared[x, k] * b_shared[k, y]
            cuda.syncthreads()
        if i < size and j < size:
            out[i, j] = total

    return call


def _puzzle(maker, grid, block, out, *arguments, expected):
    inputs = (np.zeros(out, np.float32), *arguments)
    target_value = np.asarray(expected, np.float32).reshape(out)
    return SimpleNamespace(
        make=maker, grid=grid, block=block, arguments=inputs, expected=target_value
    )


def _row(n):
    return np.arange(n, dtype=np.float32)


def _square(n):
    return np.arange(n * n, dtype=np.float32).reshape(n, n)


def _pooled(a):
    return [a[max(0, i - 2) : i + 1].sum() for i in range(len(a))]


def _convolved(a, b):
    padded = np.concatenate([a, np.zeros(len(b))])
    return [padded[i : i + len(b)] @ b for i in range(len(a))]


PUZZLES = [
    _puzzle(maps, 1, 4, 4, _row(4), expected=_row(4) + 10),
    _puzzle(zips, 1, 4, 4, _row(4), _row(4), expected=2 * _row(4)),
    _puzzle(guards, 1, 8, 4, _row(4), 4, expected=_row(4) + 10),
    _puzzle(maps_in_2d, 1, (3, 3), (2, 2), _square(2), 2, expected=_square(2) + 10),
    _puzzle(
        broadcasts,
        1,
        (3, 3),
        (2, 2),
        _row(2).reshape(2, 1),
        _row(2).reshape(1, 2),
        2,
        expected=_row(2)[:, None] + _row(2),
    ),
    _puzzle(blocks, 3, 4, 9, _row(9), 9, expected=_row(9) + 10),
    _puzzle(
        blocks_in_2d, (2, 2), (3, 3), (5, 5), np.ones((5, 5), "f4"), 5, expected=[[11.0] * 5] * 5
    ),
    _puzzle(shares, 2, 4, 8, np.ones(8, "f4"), 8, expected=[11.0] * 8),
    _puzzle(pools, 1, TPB, 8, _row(8), 8, expected=_pooled(_row(8))),
    _puzzle(dots, 1, TPB, 1, _row(8), _row(8), 8, expected=[140.0]),
    _puzzle(convolves, 1, TPB, 6, _row(6), _row(3), 6, 3, expected=_convolved(_row(6), _row(3))),
    _puzzle(
        convolves, 2, TPB, 15, _row(15), _row(4), 15, 4, expected=_convolved(_row(15), _row(4))
    ),
    _puzzle(sums_blocks, 1, TPB, 1, _row(8), 8, expected=[28.0]),
    _puzzle(sums_blocks, 2, TPB, 2, _row(15), 15, expected=[28.0, 77.0]),
    _puzzle(
        sums_an_axis, (1, 4), TPB, (4, 1), _row(24).reshape(4, 6), 6, expected=[15, 51, 87, 123]
    ),
    _puzzle(
        multiplies,
        1,
        (3, 3),
        (2, 2),
        _square(2),
        _square(2).T.copy(),
        2,
        expected=_square(2) @ _square(2).T,
    ),
    _puzzle(
        multiplies,
        (3, 3),
        (3, 3),
        (8, 8),
        _square(8),
        _square(8).T.copy(),
        8,
        expected=_square(8) @ _square(8).T,
    ),
]
