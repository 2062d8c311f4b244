"""Threads that wait for what never happens, failed assertions and exceptions."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, device, int32
from support.defects import noise, ramp, seeded, zeros


def counts(n):
    return zeros(n, dtype=np.int32)


@seeded("deadlock", 2, 1, lambda: (counts(1), counts(2)))
def flag_that_no_block_sets(flag, out):
    """A block waits for a value that no block writes."""
    if cuda.blockIdx.x == 0:
        cuda.atomic.exch(flag, 0, 1)  # defect: cuda.atomic.exch(flag, 0, 2)
        out[0] = 1
    else:
        while cuda.atomic.add(flag, 0, 0) != 1:  # finding
            cuda.nanosleep(100)
        out[1] = 2


@seeded("deadlock", 4, 1, lambda: (counts(4), counts(1)))
def blocks_in_order(out, turn):
    """The turn does not pass on to the next block."""
    b = cuda.blockIdx.x
    while cuda.atomic.add(turn, 0, 0) != b:  # finding
        cuda.nanosleep(100)
    cuda.threadfence()
    out[b] = out[b - 1] * 2 + 1 if b else 1
    cuda.threadfence()
    cuda.atomic.add(turn, 0, 1)  # defect: cuda.atomic.max(turn, 0, 1)


@seeded("deadlock", 3, 32, lambda: (counts(1), zeros(1, dtype=np.int64)))
def lock_that_is_not_released(lock, total):
    """A block leaves without releasing the lock."""
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # finding
            cuda.nanosleep(100)
        cuda.threadfence()
        total[0] += cuda.blockIdx.x
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)  # defect: removed


@device
def wait_for(flag, value):
    while cuda.atomic.add(flag, 0, 0) < value:  # finding
        cuda.threadfence()


@seeded("deadlock", 1, 64, lambda: (counts(1), counts(64)))
def producer_and_consumer(ready, out):
    """A warp waits for more elements than the other one produces."""
    items = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    if t < 32:
        items[t] = t * t
        cuda.threadfence_block()
        cuda.atomic.add(ready, 0, 1)
    else:
        wait_for(ready, 32)  # defect: wait_for(ready, 33)
        out[t] = items[63 - t]


@seeded("deadlock", 2, 32, lambda: (counts(2), counts(2)))
def blocks_that_wait_for_each_other(flags, out):
    """Each block waits before it sets its flag."""
    if cuda.threadIdx.x == 0:
        b = cuda.blockIdx.x
        cuda.atomic.exch(flags, b, 1)  # defect: removed
        while cuda.atomic.add(flags, 1 - b, 0) == 0:  # finding
            cuda.nanosleep(50)
        cuda.atomic.exch(flags, b, 1)
        out[b] = 1


@seeded("deadlock", 1, 64, lambda: (counts(1), counts(64)))
def barrier_before_a_flag(flag, out):
    """A warp waits at a barrier for a warp that waits for it."""
    t = cuda.threadIdx.x
    if t < 32:
        pass  # defect: cuda.syncthreads()
        cuda.atomic.add(flag, 0, 1)
    else:
        while cuda.atomic.add(flag, 0, 0) < 32:  # finding
            cuda.nanosleep(50)
    cuda.syncthreads()
    out[t] = t


@seeded("assertion", 2, 32, lambda: (noise(64, limit=50), zeros(64, dtype=np.int32)))
def asserted_range(a, out):
    """An assertion on the values of an array."""
    i = cuda.grid(1)
    assert a[i] < 50, f"{a[i]} is too large"  # finding, defect: assert a[i] < 40
    out[i] = a[i] * 5


@seeded("assertion", 1, 32, lambda: (ramp(32), zeros(32)))
def raised_exception(a, out):
    """An exception for an argument that has no logarithm."""
    i = cuda.grid(1)
    x = a[i]  # defect: x = a[i] - 8
    if x <= 0:
        raise ValueError(f"no logarithm of {x}")  # finding
    out[i] = x


@device
def popped(stack, depth):
    if depth == 0:
        raise IndexError("the stack is empty")  # finding
    return stack[depth - 1], depth - 1


@seeded("assertion", 1, 8, lambda: (zeros(8, dtype=np.int32),))
def exception_of_a_device_function(out):
    """A function raises when a stack is empty."""
    t = cuda.threadIdx.x
    stack = cuda.local.array(4, int32)
    depth, total = 0, 0
    for k in range(3):
        stack[depth] = k + t
        depth += 1
    for _ in range(3):  # defect: for _ in range(4):
        x, depth = popped(stack, depth)
        total += x
    out[t] = total


@device
def checked_weight(weights, k):
    assert weights[k] >= 0  # finding
    return weights[k]


@seeded("assertion", (2, 2), (4, 4), lambda: (ramp(8, 8) - 20, ramp(8), zeros(8, 8)))
def assertion_of_a_device_function(a, weights, out):
    """A function asserts what a kernel does not provide."""
    x, y = cuda.grid(2)
    row = weights  # defect: row = a[y]
    out[y, x] = a[y, x] * checked_weight(row, x)


@seeded("assertion", 1, 64, lambda: (noise(64, limit=30), zeros(64, dtype=np.int32)))
def assertion_between_barriers(a, out):
    """A thread ends at an assertion, and the others pass the barrier."""
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = a[t]
    cuda.syncthreads()
    assert tile[63 - t] < 30  # finding, defect: assert tile[63 - t] < 20
    cuda.syncthreads()
    out[t] = tile[(t + 1) % 64]


@seeded("assertion", 1, 16, lambda: (ramp(32, dtype=np.float64), zeros(8, 2)))
def slices_of_different_lengths(a, out):
    """The lengths of two slices differ."""
    t = cuda.threadIdx.x
    if t < 8:
        out[t, :] = a[t : t + 2]  # finding, defect: out[t, :] = a[t : t + 3]
