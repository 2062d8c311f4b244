"""Attention by wgmma beside FlashAttention, as PyTorch calls it.

Each block computes 128 rows of ``softmax(q @ k.T / sqrt(128)) @ v``: two warpgroups have 64 rows
each, and a thread loads tiles of keys and values by TMA. The softmax is computed as the keys come
(Milakov and Gimelshein, 2018; Dao et al., 2022), while the tensor cores multiply other tiles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from products import Case
from pycu2c import bfloat16, cuda, device, float32, kernel, uint64
from pycu2c.cuda import barrier, tma, wgmma

HEAD = 128  # the length of a query, key or value
M, N, STAGES = 128, 128, 2  # rows of queries and of keys in a tile, and tiles in flight
TILE = N * HEAD  # elements
BYTES = 2 * TILE
SHARED_BYTES = BYTES * (1 + 2 * STAGES)
THREADS, CONSUMER_WARPS = 384, 8
SCALE = math.log2(math.e) / math.sqrt(HEAD)  # of the scores, for powers of 2
ALL_LANES = 0xFFFFFFFF
HEADS, SIZES = 16, (4096, 16384)


@device
def weigh(scores: Any, largest: Any, total: Any, factor: Any) -> None:
    """Replace the scores of a thread, of two rows, by the weights of a softmax.

    ``factor``: of earlier weights, whose largest score was less.
    """
    for half in range(2):
        new = largest[half]
        for chunk in range(N // 8):
            for n in range(2):
                new = max(new, scores[4 * chunk + 2 * half + n])
        new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, 1))
        new = max(new, cuda.shfl_xor_sync(ALL_LANES, new, 2))
        factor[half] = math.exp2((largest[half] - new) * float32(SCALE))
        largest[half] = new
        scaled, part = new * float32(SCALE), float32(0)
        for chunk in range(N // 8):
            for n in range(2):
                weight = math.exp2(scores[4 * chunk + 2 * half + n] * float32(SCALE) - scaled)
                scores[4 * chunk + 2 * half + n] = weight
                part += weight
        total[half] = total[half] * factor[half] + part


def make_kernel(backend: str) -> Any:
    """Return the kernel for a back end."""

    @kernel(launch_bounds=(THREADS, 1), wraparound=False, fastmath=True, backend=backend)
    def attend(out: Any, q: Any, k: Any, v: Any, length: Any) -> None:
        """Compute M rows of a block; ``length``: the keys of a head, a multiple of N."""
        memory = cuda.shared.array(0, bfloat16, alignment=1024)
        q_tiles = memory[:TILE].reshape(2, 2, 64, 64)  # of a warpgroup, in panels
        k_stop = TILE * (1 + STAGES)
        k_tiles = memory[TILE:k_stop].reshape(STAGES, 2, N, 64)
        v_tiles = memory[k_stop : k_stop + TILE * STAGES].reshape(STAGES, 2, N, 64)
        q_ready, group_ready = cuda.shared.array(1, uint64), cuda.shared.array(2, uint64)
        k_ready, k_free = cuda.shared.array(STAGES, uint64), cuda.shared.array(STAGES, uint64)
        v_ready, v_free = cuda.shared.array(STAGES, uint64), cuda.shared.array(STAGES, uint64)
        group, thread = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128
        row, first_key = cuda.blockIdx.x * M, cuda.blockIdx.x * M // length * length
        if cuda.threadIdx.x == 0:
            barrier.init(q_ready, 0, 1)
            for half in range(2):
                barrier.init(group_ready, half, 128)
            for stage in range(STAGES):
                barrier.init(k_ready, stage, 1)
                barrier.init(v_ready, stage, 1)
                barrier.init(k_free, stage, CONSUMER_WARPS)
                barrier.init(v_free, stage, CONSUMER_WARPS)
        cuda.syncthreads()
        stage, parity = 0, 0
        if group == 2:
            wgmma.setmaxnreg_dec(24)
            if thread == 0:
                barrier.arrive_expect_tx(q_ready, 0, BYTES)
                for half in range(2):
                    for panel in range(2):
                        corner = row + 64 * half, 64 * panel
                        tma.load(q_tiles[half, panel], q, corner, q_ready, 0)
                for key in range(first_key, first_key + length, N):
                    barrier.wait_parity(k_free, stage, parity ^ 1)
                    barrier.arrive_expect_tx(k_ready, stage, BYTES)
                    for panel in range(2):
                        tma.load(k_tiles[stage, panel], k, (key, 64 * panel), k_ready, stage)
                    barrier.wait_parity(v_free, stage, parity ^ 1)
                    barrier.arrive_expect_tx(v_ready, stage, BYTES)
                    for panel in range(2):
                        tma.load(v_tiles[stage, panel], v, (key, 64 * panel), v_ready, stage)
                    stage += 1
                    if stage == STAGES:
                        stage, parity = 0, parity ^ 1
        else:
            wgmma.setmaxnreg_inc(240)
            scores, result = cuda.local.array(N // 2, float32), cuda.local.array(HEAD // 2, float32)
            weights = cuda.local.array(N // 2, bfloat16)
            largest, total = cuda.local.array(2, float32), cuda.local.array(2, float32)
            factor = cuda.local.array(2, float32)
            for half in range(2):
                largest[half], total[half] = -math.inf, 0
            for n in range(HEAD // 2):
                result[n] = 0
            barrier.wait_parity(q_ready, 0, 0)
            barrier.wait_parity(k_ready, 0, 0)
            wgmma.fence()
            wgmma.mma_async(scores, q_tiles[group], k_tiles[0], accumulate=False)
            wgmma.commit_group()
            wgmma.wait_group(0, scores)
            if cuda.laneid == 0:
                barrier.arrive(k_free, 0)
            k_stage, k_parity = 1, 0
            weigh(scores, largest, total, factor)
            for n in range(N // 2):
                weights[n] = scores[n]
            for _ in range(N, length, N):
                barrier.wait_parity(k_ready, k_stage, k_parity)
                wgmma.fence()
                wgmma.mma_async(scores, q_tiles[group], k_tiles[k_stage], accumulate=False)
                wgmma.commit_group()
                barrier.wait_parity(v_ready, stage, parity)
                wgmma.mma_async(result, weights, v_tiles[stage], b_major="mn")
                wgmma.commit_group()
                wgmma.wait_group(1, scores)
                if cuda.laneid == 0:
                    barrier.arrive(k_free, k_stage)
                weigh(scores, largest, total, factor)
                wgmma.wait_group(0, result)
                if cuda.laneid == 0:
                    barrier.arrive(v_free, stage)
                for chunk in range(HEAD // 8):
                    for half in range(2):
                        for n in range(2):
                            result[4 * chunk + 2 * half + n] *= factor[half]
                for n in range(N // 2):
                    weights[n] = scores[n]
                stage, parity = k_stage, k_parity
                k_stage += 1
                if k_stage == STAGES:
                    k_stage, k_parity = 0, k_parity ^ 1
            barrier.wait_parity(v_ready, stage, parity)
            wgmma.fence()
            wgmma.mma_async(result, weights, v_tiles[stage], b_major="mn")
            wgmma.commit_group()
            wgmma.wait_group(0, result)
            for half in range(2):
                total[half] += cuda.shfl_xor_sync(ALL_LANES, total[half], 1)
                total[half] += cuda.shfl_xor_sync(ALL_LANES, total[half], 2)
            for chunk in range(HEAD // 8):
                for half in range(2):
                    for n in range(2):
                        i, j = wgmma.position(4 * chunk + 2 * half + n)
                        place = tma.swizzled_column(q_tiles, i, j % 64)
                        value = result[4 * chunk + 2 * half + n] / total[half]
                        q_tiles[group, j // 64, i, place] = value
            tma.fence_proxy_async()
            barrier.arrive_and_wait(group_ready, group)
            if thread == 0:
                for panel in range(2):
                    tma.store(out, (row + 64 * group, 64 * panel), q_tiles[group, panel])
                tma.commit_group()
                tma.wait_group(0)

    return attend


def launch_arguments(*arrays: Any, length: int) -> tuple[Any, ...]:
    """Return the arguments from the result, queries, keys and values, with a row for each."""
    boxes = (64, 64), (64, 64), (N, 64), (N, 64)
    return *(cuda.TensorMap(a, box) for a, box in zip(arrays, boxes)), length


def check_on_cpu() -> None:
    """Compare two heads with NumPy."""
    rng = np.random.default_rng(1)
    length = 2 * N
    q, k, v = (rng.standard_normal((2 * length, HEAD)).astype(ml_dtypes.bfloat16) for _ in range(3))
    out = np.zeros_like(q)
    arguments = launch_arguments(out, q, k, v, length=length)
    make_kernel("cpu")[2 * length // M, THREADS, 0, SHARED_BYTES](*arguments)
    heads = [x.astype(np.float32).reshape(2, length, HEAD) for x in (q, k, v)]
    weights = np.exp(heads[0] @ heads[1].swapaxes(1, 2) / math.sqrt(HEAD))
    expected = weights @ heads[2] / weights.sum(axis=2, keepdims=True)
    assert np.abs(out.astype(np.float32) - expected.reshape(-1, HEAD)).max() < 0.02
    print("attention is right on the CPU")


def cases() -> Iterator[Case]:
    attend = make_kernel("cuda")
    for length in SIZES:
        yield case(attend, length)


def case(attend: Any, length: int) -> Case:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    batch = max(SIZES) // length
    shape = batch, HEADS, length, HEAD
    q, k, v = (torch.randn(shape, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    out, expected = torch.zeros_like(q), torch.zeros_like(q)
    arguments = launch_arguments(*(x.view(-1, HEAD) for x in (out, q, k, v)), length=length)
    configured = attend[batch * HEADS * length // M, THREADS, 0, SHARED_BYTES]

    def library() -> None:
        nonlocal expected
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            expected = torch.nn.functional.scaled_dot_product_attention(q, k, v)

    return Case(
        f"attention {length}",
        lambda: configured(*arguments),
        {"FlashAttention": library},
        4.0 * batch * HEADS * length**2 * HEAD,
        lambda: torch.testing.assert_close(out, expected, rtol=0.02, atol=0.01),
    )
