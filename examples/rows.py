"""Softmax and layer normalization of rows: a block for each row, which stays in registers.

A block loads its row as vectors of four numbers into a local array of constant length. Reductions
of the block and one store follow, so that each number is loaded once and stored once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from report import checked, parser, show

from pycu2c import cuda, device, float32, kernel
from pycu2c.cuda import block

ROWS, VECTOR = "float4[:, ::1]", cuda.float4.numpy
EPSILON = 1e-5


@device
def load_row(items, x):
    """Load the vectors of a row, striped over the threads; those beyond the end are 0."""
    for i in range(items.shape[0]):
        j = cuda.threadIdx.x + i * cuda.blockDim.x
        v = x[j] if j < len(x) else cuda.float4(0, 0, 0, 0)
        items[i, 0], items[i, 1], items[i, 2], items[i, 3] = v.x, v.y, v.z, v.w


@device
def store_row(out, items):
    """Store the vectors of a row."""
    for i in range(items.shape[0]):
        j = cuda.threadIdx.x + i * cuda.blockDim.x
        if j < len(out):
            out[j] = cuda.float4(items[i, 0], items[i, 1], items[i, 2], items[i, 3])


@device
def fill_missing(items, size, value):
    """Assign a value to the items beyond the end of a row of ``size`` vectors."""
    for i in range(items.shape[0]):
        if cuda.threadIdx.x + i * cuda.blockDim.x >= size:
            for c in range(4):
                items[i, c] = value


@device
def sum_of(items):
    """Return the sum of the row whose items the threads have."""
    return block.all_reduce(items.ravel())


@device
def largest_of(items):
    """Return the largest element of the row whose items the threads have."""
    return block.all_reduce(items.ravel(), max)


@functools.cache
def softmax_kernel(backend: Any, threads: int, vectors: int) -> Any:
    """Return the kernel for rows of at most ``threads * vectors`` vectors."""

    @kernel(f"{ROWS}, {ROWS}", backend=backend, launch_bounds=threads, wraparound=False)
    def softmax_rows(out, x):
        items = cuda.local.array((vectors, 4), float32)
        load_row(items, x[cuda.blockIdx.x])
        fill_missing(items, x.shape[1], -np.inf)
        largest = largest_of(items)
        for i in range(vectors):
            for c in range(4):
                items[i, c] = np.exp(items[i, c] - largest)
        scale = 1 / sum_of(items)
        for i in range(vectors):
            for c in range(4):
                items[i, c] *= scale
        store_row(out[cuda.blockIdx.x], items)

    return softmax_rows


@functools.cache
def layer_norm_kernel(backend: Any, threads: int, vectors: int) -> Any:
    """Return the kernel for rows of at most ``threads * vectors`` vectors."""

    signature = ", ".join([ROWS] * 4)

    @kernel(signature, backend=backend, launch_bounds=threads, wraparound=False)
    def normalize_rows(out, x, weight, bias):
        size = x.shape[1]
        items, squares = [cuda.local.array((vectors, 4), float32) for _ in range(2)]
        scales, offsets = [cuda.local.array((vectors, 4), float32) for _ in range(2)]
        load_row(items, x[cuda.blockIdx.x])
        mean = sum_of(items) / (4 * size)
        fill_missing(items, size, mean)
        for i in range(vectors):
            for c in range(4):
                items[i, c] -= mean
                squares[i, c] = items[i, c] * items[i, c]
        variance = sum_of(squares) / (4 * size)
        scale = 1 / np.sqrt(variance + float32(EPSILON))
        load_row(scales, weight[0])
        load_row(offsets, bias[0])
        for i in range(vectors):
            for c in range(4):
                items[i, c] = items[i, c] * scale * scales[i, c] + offsets[i, c]
        store_row(out[cuda.blockIdx.x], items)

    return normalize_rows


def launch(make: Callable[..., Any], backend: str, out: Any, *arrays: Any) -> Any:
    """Launch a kernel on arrays of float32 whose last axis has a multiple of 4 numbers.

    On a GPU, a thread has four vectors, as long as 1024 threads suffice. On the CPU, a block is one
    thread.
    """
    rows, columns = out.shape
    vectors = columns // 4
    on_cpu = isinstance(out, np.ndarray) and backend != "cuda"
    threads = 1 if on_cpu else min(-(-vectors // 128) * 32, 1024)
    compiled = make(backend, threads, -(-vectors // threads))
    compiled[rows, threads](*(a.reshape(-1, columns).view(VECTOR) for a in (out, *arrays)))
    return out


def softmax(x: Any, out: Any, backend: str = "auto") -> Any:
    """Store the exponentials of each row, divided by their sum."""
    return launch(softmax_kernel, backend, out, x)


def layer_norm(x: Any, weight: Any, bias: Any, out: Any, backend: str = "auto") -> Any:
    """Store each row with mean 0 and variance 1, times ``weight`` plus ``bias``."""
    return launch(layer_norm_kernel, backend, out, x, weight, bias)


def softmax_by_numpy(x: Any) -> Any:
    exponentials = np.exp(x - x.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def layer_norm_by_numpy(x: Any, weight: Any, bias: Any) -> Any:
    difference = x - x.mean(axis=1, keepdims=True)
    variance = (difference * difference).mean(axis=1, keepdims=True)
    return difference / np.sqrt(variance + np.float32(EPSILON)) * weight + bias


def main(arguments: list[str] | None = None) -> None:
    given = parser(__doc__, size=1000, meaning="rows").parse_args(arguments)
    random = np.random.default_rng(5)
    for columns in (16, 1000, 4096):
        x = random.standard_normal((given.size, columns), np.float32)
        weight, bias = random.standard_normal((2, columns), np.float32)
        out = np.zeros_like(x)
        difference = softmax(x, out, given.backend) - softmax_by_numpy(x)
        checked(f"softmax of {columns} columns", np.abs(difference).max(), 1e-6)
        layer_norm(x, weight, bias, out, given.backend)
        difference = out - layer_norm_by_numpy(x, weight, bias)
        checked(f"layer norm of {columns} columns", np.abs(difference).max(), 1e-4)
    show(softmax_kernel(given.backend, 1, 1024), layer_norm_kernel(given.backend, 1, 1024))


if __name__ == "__main__":
    main()
