"""A lock around what one thread at a time may do: each waits for it in a loop."""

import numpy as np

from pycu2c import cuda, device, int64, kernel

SIGNATURES = {"i64": (int64[::1], int64[::1], int64[::1])}


@device
def acquire(lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        cuda.nanosleep(100)
    cuda.threadfence()


@device
def release(lock):
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@kernel
def spin_lock(lock, total, data):
    i = cuda.grid(1)
    if i >= len(data):
        return
    value = data[i]
    if value > 0:
        acquire(lock)
        total[0] += value
        total[1] = max(total[1], value)
        release(lock)


def case(rng, variant):
    data = rng.integers(-50, 50, 100)
    return 3, 40, [np.zeros(1, np.int64), np.zeros(2, np.int64), data]
