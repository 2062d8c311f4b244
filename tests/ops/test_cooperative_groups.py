"""Cooperative groups: the block, the grid, and tiles of a warp."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import CompileError, cuda, int32, kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.launching import run


@kernel
def places(out):
    block, grid = cuda.cg.this_thread_block(), cuda.cg.this_grid()
    i = grid.thread_rank()
    out[0, i] = block.thread_rank()
    out[1, i] = block.size()
    out[2, i] = block.group_index().x
    out[3, i] = block.thread_index().y
    out[4, i] = block.dim_threads()[0]
    out[5, i] = grid.size()
    out[6, i] = grid.num_blocks()
    out[7, i] = grid.block_rank()


def test_places(target: str) -> None:
    (result,) = run(places, ((3, 2), (4, 2)), [np.full((8, 48), -1, np.int64)], target)
    i = np.arange(48)
    expected = [i % 8, 8, i // 8 % 3, i % 8 // 4, 4, 48, 6, i // 8]
    np.testing.assert_array_equal(result, np.stack([np.broadcast_to(e, 48) for e in expected]))


@kernel
def summed(a, out):
    """The sum of each tile of 8 threads."""
    tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 8)
    i = cuda.grid(1)
    x = a[i]
    for step in (4, 2, 1):
        x += tile.shfl_down(x, step)
    if tile.thread_rank() == 0:
        out[cuda.blockIdx.x * tile.meta_group_size() + tile.meta_group_rank()] = x


def test_sums_of_tiles(target: str) -> None:
    a = np.arange(96, dtype=np.float32)
    (_, result) = run(summed, (2, 48), [a, np.zeros(12, np.float32)], target)
    np.testing.assert_array_equal(result, a.reshape(-1, 8).sum(axis=1))


@kernel
def answered(a, out):
    block = cuda.cg.this_thread_block()
    warp = cuda.cg.tiled_partition(block, 32)
    tile = cuda.cg.tiled_partition(warp, 4)
    i = block.thread_rank()
    x = a[i]
    out[0, i] = tile.shfl(x, 2)
    out[1, i] = tile.shfl_up(x, 1)
    out[2, i] = tile.shfl_xor(x, 3)
    out[3, i] = tile.any(x > 5) + 2 * tile.all(x > 5)
    out[4, i] = tile.ballot(x > 5)
    out[5, i] = tile.match_any(x)
    bits, alike = tile.match_all(x)
    out[6, i] = bits + 100 * alike
    out[7, i] = tile.meta_group_rank() + 10 * tile.meta_group_size() + 1000 * tile.size()
    out[8, i] = warp.shfl(x, 31) + 100 * warp.meta_group_rank()
    tile.sync()
    block.sync()


def test_collective_operations_of_tiles(target: str) -> None:
    rng = np.random.default_rng(1)
    a = np.sort(rng.integers(0, 9, 64)).astype(np.int32)
    (_, result) = run(answered, (1, 64), [a, np.zeros((9, 64), np.int64)], target)
    tiles, bits = a.reshape(-1, 4), 1 << np.arange(4)
    ballots = ((tiles > 5) * bits).sum(axis=1)
    same = (tiles[:, :, None] == tiles[:, None, :]) @ bits
    alike = (tiles == tiles[:, :1]).all(axis=1)
    up = np.concatenate([tiles[:, :1], tiles[:, :3]], axis=1)
    expected = [
        np.repeat(tiles[:, 2], 4),
        up.ravel(),
        tiles[:, ::-1].ravel(),
        np.repeat((ballots > 0) + 2 * (ballots == 15), 4),
        np.repeat(ballots, 4),
        same.ravel(),
        np.repeat(np.where(alike, 115, 0), 4),
        np.repeat(np.arange(16) % 8, 4) + 80 + 4000,
        np.repeat(a[31::32], 32) + 100 * np.repeat([0, 1], 32),
    ]
    np.testing.assert_array_equal(result, np.stack(expected))


def test_half_of_the_tiles_may_be_elsewhere(target: str) -> None:
    @kernel
    def parted(out):
        tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 16)
        i = cuda.threadIdx.x
        if tile.meta_group_rank() == 1:
            out[i] = tile.shfl(i, 3)

    (result,) = run(parted, (1, 32), [np.zeros(32, np.int32)], target)
    assert result.tolist() == [0] * 16 + [19] * 16


def test_compilers_take_the_text() -> None:
    """Names of methods, such as ballot, are CUDA's, too."""
    types = (int32[::1], int32[:, ::1])
    assert check_warnings(answered.inspect("c", types)) == ""
    made = nvrtc.compile(answered.inspect("cuda", types), "answered", "sm_90", cache=False)
    assert made.log.strip("\0\n ") == ""


def test_values_that_are_no_group() -> None:
    @kernel
    def odd(out):
        cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 12).sync()

    @kernel
    def wider(out):
        tile = cuda.cg.tiled_partition(cuda.cg.this_thread_block(), 4)
        cuda.cg.tiled_partition(tile, 8).sync()

    with pytest.raises(CompileError, match="16 or 32 threads"):
        odd.inspect("c", (int32[::1],))
    with pytest.raises(CompileError, match="a tile of at least this size"):
        wider.inspect("c", (int32[::1],))
