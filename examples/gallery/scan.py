r"""
Prefix sums (scan)
==================

*Three levels: warps exchange values, blocks use shared memory, and launches join blocks.*

The inclusive prefix sum of :math:`x_0, x_1, \ldots` is :math:`y_i = x_0 + \ldots + x_i`. It looks
sequential, but :math:`n` elements need only about :math:`\log_2 n` parallel steps. Prefix sums
are part of many parallel algorithms: compaction, radix sort, sampling from a distribution.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, device, int64, kernel

# %%
# Warp and block
# --------------
#
# After the step with a given ``distance``, each lane has the sum of the last ``2 * distance``
# elements. ``cuda.shfl_up_sync`` returns the value of a lower lane.
#
# The last lane of each warp writes the sum of its warp to shared memory. One warp scans these
# sums. Then each thread adds the sum of all warps before its own.

BLOCK = 256
WARPS = BLOCK // 32
ALL_LANES = 0xFFFFFFFF


@device
def warp_scan(value):
    for distance in (1, 2, 4, 8, 16):
        below = cuda.shfl_up_sync(ALL_LANES, value, distance)
        if cuda.laneid >= distance:
            value += below
    return value


@device
def block_scan(value):
    warp_sums = cuda.shared.array(32, int64)
    t, lane = cuda.threadIdx.x, cuda.laneid
    warp = t // 32
    value = warp_scan(value)
    if lane == 31:
        warp_sums[warp] = value
    cuda.syncthreads()
    if warp == 0:
        warp_sums[lane] = warp_scan(warp_sums[lane] if lane < WARPS else 0)
    cuda.syncthreads()
    if warp > 0:
        value += warp_sums[warp - 1]
    return value


# %%
# The whole array
# ---------------
#
# The first kernel scans the elements of each block and writes their sum. These sums are scanned in
# the same way. The last kernel adds to each element the sum of all blocks before its own.


@kernel(block=BLOCK)
def scan_blocks(data, out, block_sums):
    i = cuda.grid(1)
    total = block_scan(data[i] if i < len(data) else int64(0))
    if i < len(data):
        out[i] = total
    if cuda.threadIdx.x == BLOCK - 1:
        block_sums[cuda.blockIdx.x] = total


@kernel(block=BLOCK)
def add_block_sums(out, block_sums):
    i = cuda.grid(1)
    if BLOCK <= i < len(out):
        out[i] += block_sums[cuda.blockIdx.x - 1]


def scan(data, out):
    blocks = math.ceil(len(data) / BLOCK)
    block_sums = cuda.device_array(blocks, np.int64)
    scan_blocks[blocks](data, out, block_sums)
    if blocks > 1:
        scan(block_sums, block_sums)
        add_block_sums[blocks](out, block_sums)


def prefix_sums(data):
    out = cuda.device_array(len(data), np.int64)
    scan(cuda.to_device(data), out)
    return out.copy_to_host()


# %%
# Check
# -----

rng = np.random.default_rng(10)
for n in (1, 31, 256, 257, 100_000):
    data = rng.integers(-100, 100, n)
    assert np.array_equal(prefix_sums(data), np.cumsum(data))

# %%
# Random walks
# ------------
#
# The prefix sum of random steps of ±1 is a random walk. After :math:`n` steps, its standard
# deviation is :math:`\sqrt n`.

STEPS = 50_000
steps = rng.choice(np.array([-1, 1]), (60, STEPS))
positions = np.array([prefix_sums(row) for row in steps])
spread = positions[:, -1].std() / math.sqrt(STEPS)
print(f"standard deviation of the end / sqrt(n): {spread:.2f}")
assert 0.7 < spread < 1.3  # 60 walks

n = np.arange(1, STEPS + 1, 50)
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
ax.plot(n / 1000, positions[:, ::50].T, color="tab:blue", lw=0.5, alpha=0.5)
for sign in (-1, 1):
    ax.plot(n / 1000, sign * 2 * np.sqrt(n), "k--", label=r"$\pm 2 \sqrt{n}$" if sign > 0 else None)
ax.set(title="60 random walks", xlabel="steps n (thousands)", ylabel="position", xlim=(0, 50))
ax.legend(loc="upper left")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

scan_blocks
