"""
Bitonic sort
============

*A network of comparisons: every thread does the same work, whatever the data.*

A sorting network is a fixed sequence of compare-and-swap operations. Which elements are compared
does not depend on the data, so threads need no communication within a stage, and their paths do
not diverge. Batcher's bitonic network sorts 2^m elements in m (m + 1) / 2 stages.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, float32, kernel

# %%
# A block sorts in shared memory
# ------------------------------
#
# In each stage, element ``i`` is compared with element ``i ^ distance``, whose index differs in
# one bit. The barrier after each stage lets the next one read the results. The stages of one value
# of ``run`` turn each two sorted runs into one of that length. Whether it ascends or descends
# depends on the bit ``i & run``.
#
# The kernel also copies the elements to a row of ``history`` after each stage, for the picture.
# The second barrier is for this copy: without it, a fast thread could swap elements of the next
# stage that a slow thread still copies. ``pycu2c check`` finds such a missing barrier.

N = 512


@kernel(grid=1, block=N)
def bitonic_sort(data, history):
    part = cuda.shared.array(N, float32)
    i = cuda.threadIdx.x
    part[i] = data[i]
    cuda.syncthreads()
    stage = 0
    run = 2
    while run <= N:
        distance = run // 2
        while distance > 0:
            other = i ^ distance
            ascending = (i & run) == 0
            if other > i and (part[i] > part[other]) == ascending:
                part[i], part[other] = part[other], part[i]
            cuda.syncthreads()
            history[stage, i] = part[i]
            cuda.syncthreads()
            stage += 1
            distance //= 2
        run *= 2
    data[i] = part[i]


# %%
# Check
# -----

STAGES = 9 * 10 // 2  # 512 is 2**9

rng = np.random.default_rng(6)
data = rng.random(N, dtype=np.float32)
expected = np.sort(data)
history = np.zeros((STAGES, N), np.float32)
bitonic_sort(data, history)
assert np.array_equal(data, expected)
assert np.array_equal(history[-1], expected)

# %%
# The stages
# ----------
#
# Each row of the picture is the array after one stage. Sorted runs of 2, 4, 8, … elements ascend
# and descend by turns, until one run is left.

fig, ax = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
extent = (0, N, STAGES + 0.5, 0.5)
image = ax.imshow(history, cmap="viridis", aspect="auto", interpolation="nearest", extent=extent)
ax.set(title="The array after each stage", xlabel="index", ylabel="stage")
fig.colorbar(image, label="value")

# %%
# Sort many elements
# ------------------
#
# Blocks cannot wait for each other at ``syncthreads``. A larger array therefore needs a launch for
# each stage: the end of a launch is a barrier for all threads.


@kernel(block=256)
def compare_and_swap(data, run, distance):
    i = cuda.grid(1)
    if i < len(data):
        other = i ^ distance
        ascending = (i & run) == 0
        if other > i and (data[i] > data[other]) == ascending:
            data[i], data[other] = data[other], data[i]


def sort(data):
    """Sort an array whose length is a power of two."""
    on_device = cuda.to_device(data)
    run = 2
    while run <= len(data):
        distance = run // 2
        while distance > 0:
            compare_and_swap(on_device, run, distance)
            distance //= 2
        run *= 2
    return on_device.copy_to_host()


many = rng.normal(size=2**17).astype(np.float32)
assert np.array_equal(sort(many), np.sort(many))
print(f"sorted {len(many)} elements")

# %%
# How it compiled
# ---------------
#
# Point at a line to see its lines in the other languages.

bitonic_sort
