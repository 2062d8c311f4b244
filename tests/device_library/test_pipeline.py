"""``pycu2c.cuda.pipeline``: asynchronous copies that each thread starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, float32, int32, kernel, uint64
from pycu2c.cuda import barrier, pipeline
from pycu2c.kernels.kernel import Kernel
from support.asynchronous import hopper_code
from support.launching import run

STAGES = 2


def make_sums(dtype: Any, size: int) -> Kernel:
    """Return a kernel that adds rows, which a pipeline of two stages loads; 32 copies a row."""
    count = size // np.dtype(dtype).itemsize

    @kernel
    def sums(out, rows, zfill):
        tile = cuda.shared.array((STAGES, 32 * count), dtype, alignment=16)
        at = cuda.threadIdx.x * count
        pipeline.memcpy_async(tile[0, at:], rows[0, at:], size)
        pipeline.commit()
        total = cuda.local.array(count, dtype)
        for n in range(count):
            total[n] = 0
        steps = rows.shape[0]
        for step in range(steps):
            if step + 1 < steps:
                to, source = tile[(step + 1) % STAGES, at:], rows[step + 1, at:]
                pipeline.memcpy_async(to, source, size, zfill)
            pipeline.commit()
            pipeline.wait_prior(1)
            cuda.syncthreads()
            for n in range(count):
                total[n] += tile[step % STAGES, (31 - cuda.threadIdx.x) * count + n]
            cuda.syncthreads()
        for n in range(count):
            out[at + n] = total[n]

    return sums


@pytest.mark.parametrize("zfilled", [0, 1])
@pytest.mark.parametrize(
    ("dtype", "size"),
    [(np.float32, 4), (np.float32, 8), (np.float32, 16), (np.int8, 4), (np.float64, 16)],
)
def test_a_pipeline_of_two_stages(target: str, dtype: Any, size: int, zfilled: int) -> None:
    count = size // np.dtype(dtype).itemsize
    rows = np.random.default_rng(1).integers(1, 9, (4, 32 * count)).astype(dtype)
    arguments = [np.zeros(32 * count, dtype), rows, zfilled * np.dtype(dtype).itemsize]
    out, *_ = run(make_sums(dtype, size), (1, 32), arguments, target)
    copies = rows.reshape(4, 32, count).copy()
    copies[1:, :, count - zfilled :] = 0
    assert (out == copies.sum(0, dtype=dtype)[::-1].reshape(-1)).all()


@kernel
def pass_halves(out, values):
    """The first warp copies to shared memory; the second one waits at a barrier, and reads."""
    half, bar = cuda.shared.array(32, float32), cuda.shared.array(1, uint64)
    lane = cuda.threadIdx.x % 32
    if cuda.threadIdx.x == 0:
        barrier.init(bar, 0, 32)
    cuda.syncthreads()
    if cuda.threadIdx.x < 32:
        pipeline.memcpy_async(half[lane:], values[lane:], 4)
        pipeline.arrive_on(bar, 0)
        barrier.arrive(bar, 0)
    else:
        barrier.wait_parity(bar, 0, 0)
        out[lane] = half[31 - lane]


def test_a_phase_ends_after_copies(target: str) -> None:
    values = np.arange(32, dtype=np.float32)
    out, _ = run(pass_halves, (1, 64), [np.zeros(32, np.float32), values], target)
    assert (out == values[::-1]).all()


def test_cuda_uses_the_instructions() -> None:
    for size, instruction in ((16, "cp.async.cg.shared"), (8, "cp.async.ca.shared")):
        arguments = np.zeros(64, np.float32), np.zeros((2, 64), np.float32), 0
        text, log = hopper_code(make_sums(np.float32, size), *arguments)
        assert instruction in text
        assert "cp.async.wait_group 1;" in text
        assert not log.strip("\0\n ")
    text, log = hopper_code(pass_halves, np.zeros(1, np.float32), np.zeros(1, np.float32))
    assert "cp.async.mbarrier.arrive.shared.b64" in text
    assert not log.strip("\0\n ")


@pytest.mark.parametrize(
    ("size", "dtype", "message"),
    [
        (12, float32, "4, 8 or 16 bytes, not 12"),
        (4, int32, "from an array of float32 to one of int32"),
        (4, np.float64, "no copy of 4 bytes"),
    ],
)
def test_copies_that_the_hardware_lacks(size: int, dtype: Any, message: str) -> None:
    source = float32 if size == 12 or dtype is int32 else np.float64

    @kernel
    def wrong(out):
        tile = cuda.shared.array(16, dtype)
        pipeline.memcpy_async(tile, out, size)

    types = (np.zeros(4, source.dtype.numpy if source is float32 else source),)
    with pytest.raises(CompileError, match=message):
        hopper_code(wrong, *types)
