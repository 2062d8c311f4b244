"""Warps on the CPU: which lowering a kernel gets, and that both give equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, kernel
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.compiler import generate
from pycu2c.declarations.signatures import parse_signature
from pycu2c.pipeline import TARGETS
from support.c_compilers import check_warnings
from support.launching import run

ALL = 0xFFFFFFFF
Shape = tuple[int, int, int]


def text_of(k: Any, signature: str, block: Shape | None, target: str = "cpu") -> str:
    built = k.launcher.compiler.build(parse_signature(signature))
    return generate(
        built.module, TARGETS[target], LaunchAssumptions(index32_safe=True, block=block)
    ).text


def in_steps(k: Any, signature: str, block: Shape | None) -> bool:
    return "_step(" in text_of(k, signature, block)


@kernel
def warp_sums(data, out):
    x = data[cuda.grid(1)]
    for d in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(ALL, x, d)
    if cuda.laneid == 0:
        out[cuda.grid(1) // 32] = x


@kernel
def block_sum(data, out):
    """Two levels: the first warp adds what the warps have found."""
    partial = cuda.shared.array(32, float32)
    lane, warp = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    x = data[cuda.grid(1)]
    for d in (16, 8, 4, 2, 1):
        x += cuda.shfl_down_sync(ALL, x, d)
    if lane == 0:
        partial[warp] = x
    cuda.syncthreads()
    if warp == 0:
        x = partial[lane] if lane < cuda.blockDim.x // 32 else float32(0)
        d = 16
        while d > 0:
            x += cuda.shfl_down_sync(ALL, x, d)
            d //= 2
        if lane == 0:
            out[cuda.blockIdx.x] = x


@kernel
def first_half(data, out):
    """Half a warp exchanges values by itself."""
    t = cuda.threadIdx.x
    x = data[t]
    if t % 32 < 16:
        x = cuda.shfl_xor_sync(0xFFFF, x, 1)
    else:
        x = -x
    out[t] = x


@kernel
def rows(data, out):
    """Blocks of two axes: a row is a warp if it has 32 threads."""
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    value = data[y, x]
    if y > 0:
        value = cuda.shfl_up_sync(ALL, value, 1)
    out[y, x] = value


@device
def compacted(keep: bool) -> int:
    """Where a lane's value goes among those that are kept."""
    return cuda.popc(cuda.ballot_sync(ALL, keep) & cuda.lanemask_lt())


@kernel
def compact(data, counts, out):
    """Each warp packs what is positive; lanes past the end return first."""
    i, n = cuda.grid(1), data.size
    if i >= n:
        return
    x = data[i]
    place = compacted(x > 0)
    warp = cuda.blockIdx.x * 3 + cuda.threadIdx.x // 32
    if x > 0:
        out[warp * 32 + place] = x
    here = cuda.activemask()
    if cuda.laneid == 0:
        counts[warp] = cuda.popc(here)
    cuda.syncwarp()


@kernel
def until_all_agree(data, out):
    """A loop that goes on while a barrier says so."""
    t = cuda.threadIdx.x
    rounds = 0
    while cuda.syncthreads_or(data[t] > rounds):
        rounds += 1
    out[t] = rounds + 1000 * cuda.syncthreads_count(data[t] > 3)


@kernel
def warps_take_turns(data, out):
    """Barriers in both arms: one warp writes while another waits, and then reads."""
    box = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        for k in range(4):
            box[t] = data[t] * (k + 1)
            cuda.syncthreads()
            cuda.syncthreads()
    else:
        total = 0
        for _ in range(4):
            cuda.syncthreads()
            total += box[t - 32]
            cuda.syncthreads()
        out[t - 32] = total


@kernel
def leave_apart(data, out):
    """One warp leaves a loop with a barrier, and meets the other at barriers after it."""
    box = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    box[t] = data[t]
    for k in range(6):
        if t < 32 and k == 3:
            break
        cuda.syncthreads()
        x = box[63 - t]
        cuda.syncthreads()
        box[t] += x
    if t < 32:
        for k in range(3):
            cuda.syncthreads()
            cuda.syncthreads()
            box[t] -= k
    out[t] = box[t]


@kernel
def rounds_of_warps(data, out):
    """Each warp goes round as often as its first lane says."""
    t = cuda.threadIdx.x
    count = cuda.shfl_sync(ALL, data[t], 0)
    x = data[t]
    for k in range(count % 7):
        x = cuda.shfl_xor_sync(ALL, x, 1 + k) + k
    out[t] = x


def numbers(count: int, kind: type = np.int32) -> np.ndarray[Any, Any]:
    return np.random.default_rng(3).integers(-9, 9, count).astype(kind)


F32, I32 = np.float32, np.int32
CASES: dict[str, tuple[Any, str, tuple[int, Any], list[Any], bool]] = {
    # kernel, signature, launch, arguments, whether it goes in steps
    "warp sums": (
        warp_sums, "float32[::1], float32[::1]", (3, 64),
        [numbers(192, F32), np.zeros(6, F32)], False,
    ),
    "block sum": (
        block_sum, "float32[::1], float32[::1]", (3, 128),
        [numbers(384, F32), np.zeros(3, F32)], False,
    ),
    "half a warp": (
        first_half, "int32[::1], int32[::1]", (1, 64),
        [numbers(64), numbers(64)], True,
    ),
    "rows of 32": (
        rows, "int32[:, ::1], int32[:, ::1]", (1, (32, 4)),
        [numbers(128).reshape(4, 32), np.zeros((4, 32), I32)], False,
    ),
    "rows of 64": (
        rows, "int32[:, ::1], int32[:, ::1]", (1, (64, 4)),
        [numbers(256).reshape(4, 64), np.zeros((4, 64), I32)], False,
    ),
    "ballots": (
        compact, "int32[::1], int32[::1], int32[::1]", (2, 72),
        [numbers(130), np.zeros(6, I32), np.zeros(192, I32)], False,
    ),
    "votes of a block": (
        until_all_agree, "int32[::1], int64[::1]", (1, 50),
        [numbers(50), np.zeros(50, np.int64)], False,
    ),
    "barriers in both arms": (
        warps_take_turns, "int32[::1], int64[::1]", (1, 64),
        [numbers(32), np.zeros(32, np.int64)], True,
    ),
    "a loop that one warp leaves": (
        leave_apart, "int32[::1], int64[::1]", (1, 64),
        [numbers(64), np.zeros(64, np.int64)], True,
    ),
    "as often as one lane says": (
        rounds_of_warps, "int32[::1], int64[::1]", (1, 96),
        [numbers(96), np.zeros(96, np.int64)], False,
    ),
}  # fmt: skip


def shape_of(block: Any) -> Shape:
    x, y, z = (*(block if isinstance(block, tuple) else (block,)), 1, 1)[:3]
    return x, y, z


@pytest.mark.parametrize("name", CASES)
def test_the_selected_lowering(name: str) -> None:
    k, signature, (_, block), _, steps = CASES[name]
    assert in_steps(k, signature, shape_of(block)) is steps


@pytest.mark.parametrize("name", CASES)
def test_the_same_as_the_reference(name: str, target: str) -> None:
    k, _, launch, arguments, _ = CASES[name]
    expected = run(k, launch, arguments, "python")
    result = run(k, launch, arguments, target)
    assert not all(np.array_equal(a, b) for a, b in zip(arguments, expected))
    for right, computed in zip(expected, result, strict=True):
        np.testing.assert_allclose(computed, right, rtol=1e-6)


@pytest.mark.parametrize("target", ["cpu", "cpu-resumable"])
@pytest.mark.parametrize("name", CASES)
def test_compilers_have_no_warnings(name: str, target: str) -> None:
    k, signature, (_, block), _, _ = CASES[name]
    for shape in (shape_of(block), None):
        assert check_warnings(text_of(k, signature, shape, target)) == ""


@pytest.mark.parametrize(
    ("k", "block", "steps"),
    [
        (block_sum, None, True),  # of any shape: what is a warp?
        (block_sum, (32, 4, 1), True),  # threadIdx.x // 32 is 0 everywhere: uniform, after all
        (block_sum, (96, 1, 1), False),
        (warp_sums, None, False),
    ],
)
def test_the_shape_of_the_blocks_decides(k: Any, block: Shape | None, steps: bool) -> None:
    result = in_steps(k, "float32[::1], float32[::1]", block)
    assert result is (steps and block != (32, 4, 1))


def test_rows_that_are_no_warps() -> None:
    signature = "int32[:, ::1], int32[:, ::1]"
    assert in_steps(rows, signature, (16, 4, 1))
    assert in_steps(rows, signature, None)


@kernel
def counted_at_two_barriers(a, out):
    t = cuda.threadIdx.x
    if t % 3 == 0:
        out[t] = cuda.syncthreads_count(a[t] > 0)
    else:
        out[t] = 1000 + cuda.syncthreads_count(a[t] < 0)


@pytest.mark.parametrize("target", ["python", "cpu", "cpu-resumable"])
def test_threads_wait_at_different_barriers(target: str) -> None:
    """CUDA leaves open what this does: an H100 never ends, so it is not asked."""
    a, t = numbers(96), np.arange(96)
    expected = np.where(t % 3 == 0, a > 0, a < 0).sum() + np.where(t % 3 == 0, 0, 1000)
    result = run(counted_at_two_barriers, (1, 96), [a, np.zeros(96, np.int64)], target)[1]
    assert result.tolist() == expected.tolist()
