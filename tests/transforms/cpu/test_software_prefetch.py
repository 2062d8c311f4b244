"""insert_software_prefetches: prefetch the data of later iterations and blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, float64, int32, kernel, uint8
from support.launching import run


@kernel(block=(32,))
def scaled(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = 2 * x[i]


@kernel(block=(32,))
def counted(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        cuda.atomic.add(out, int(x[i]) % 4, 1)


@kernel(block=(32,))
def by_block(out, x):
    """What follows is next to it: processors foresee that."""
    for i in range(cuda.threadIdx.x, x.size, cuda.blockDim.x):
        out[i] = 2 * x[i]


@kernel(block=(32,))
def elsewhere(out, x):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = 2 * x[x.size - 1 - i]


@kernel(block=(32,))
def in_place(out, x):
    """Reads and writes one array."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] += x[i]


@kernel(block=(32,))
def reversed_blocks(out, x):
    """A kernel with barriers prefetches the elements of the next block."""
    part = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    if i < x.size:
        part[t] = int(x[i])
    cuda.syncthreads()
    if i < x.size:
        other = min(31, x.size - 1 - cuda.blockIdx.x * 32) - t
        out[i] = part[other]


@kernel(block=(32,))
def counted_together(counts, x):
    """Each OS thread has counts of its own."""
    part = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    cuda.atomic.add(counts, part[31 - t] % 4, 1)


@kernel(block=(32,))
def shifted(out, x):
    """No thread reads at its own place."""
    part = cuda.shared.array(32, np.int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = int(x[(i + 1) % x.size])
    cuda.syncthreads()
    if i < x.size:
        out[x.size - 1 - i] = part[31 - t]


def asked(made: Any, element: Any) -> list[str]:
    text = made.inspect("c", (element[::1], element[::1]))
    return [line.strip() for line in text.splitlines() if line.strip().startswith("prefetch_")]


@pytest.mark.parametrize("element", [uint8, int32, float32, float64])
def test_the_next_data_is_prefetched(element: Any) -> None:
    read, written = asked(scaled, element)
    assert "(&x[i_first], gridDim.x * 32, 32" in read
    assert written.startswith("prefetch_to_write_")
    assert "(&out[i_first], gridDim.x * 32, 32" in written


def test_an_array_is_prefetched_once() -> None:
    text = " ".join(asked(in_place, float32))
    assert text.count("prefetch_to_write_f32(&out[") == text.count("&out[") == 1
    assert text.count("prefetch_f32(&x[") == text.count("&x[") == 1


@pytest.mark.parametrize(("element", "blocks"), [(uint8, 128), (int32, 32), (float64, 16)])
def test_blocks_with_barriers_prefetch_a_later_block(element: Any, blocks: int) -> None:
    text = reversed_blocks.inspect("c", (element[::1], element[::1]))
    assert f"if (last_block - block > {blocks}) {{" in text
    read, written = asked(reversed_blocks, element)
    assert f"(&x[blockIdx.x * 32], {32 * blocks}LL, 32" in read
    assert written.startswith("prefetch_to_write_")
    assert f"(&out[blockIdx.x * 32], {32 * blocks}LL, 32" in written


def test_only_before_the_last_step() -> None:
    text = counted.inspect("c", (int32[::1], int32[::1]))
    assert "if (i_first + gridDim.x * 32 < x_len) {" in text


@pytest.mark.parametrize("made", [by_block, shifted])
def test_other_loops_prefetch_nothing(made: Any) -> None:
    assert not asked(made, float32)


def test_only_elements_at_the_own_index_are_prefetched() -> None:
    (line,) = asked(elsewhere, float32)
    assert line.startswith("prefetch_to_write_f32(&out[")


@pytest.mark.parametrize("size", [1, 64, 65, 1000])
@pytest.mark.parametrize("made", [scaled, counted, by_block, elsewhere, in_place])
def test_results_stay(made: Any, size: int, target: str) -> None:
    arguments = (np.zeros(max(size, 4), np.int32), np.arange(size, dtype=np.int32))
    blocks = 1 if made is by_block else 2
    expected = run(made, (blocks, 32), arguments, "python")[0]
    assert np.array_equal(run(made, (blocks, 32), arguments, target)[0], expected)


@pytest.mark.parametrize("size", [1, 31, 32, 6000])
def test_results_of_blocks_with_barriers_are_unchanged(size: int, target: str) -> None:
    arguments = (np.zeros(size, np.int32), np.arange(size, dtype=np.int32))
    blocks = (size + 31) // 32
    expected = run(reversed_blocks, (blocks, 32), arguments, "python")[0]
    assert np.array_equal(run(reversed_blocks, (blocks, 32), arguments, target)[0], expected)


@pytest.mark.parametrize("size", [1, 32, 6000])
def test_blocks_that_add_to_copies_stay(size: int, target: str) -> None:
    arguments = (np.zeros(4, np.int32), np.arange(size, dtype=np.int32))
    blocks = (size + 31) // 32
    expected = run(counted_together, (blocks, 32), arguments, "python")[0]
    assert np.array_equal(run(counted_together, (blocks, 32), arguments, target)[0], expected)
