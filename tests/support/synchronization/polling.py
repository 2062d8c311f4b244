"""Busy-wait loops whose exit depends on a poll through memory, barriers or jumps."""

from __future__ import annotations

import numpy as np

from pycu2c import cuda, int32
from support.synchronization.program import program, zeros


@program(20, 32, zeros(21), zeros(640))
def a_block_reads_its_flag_in_shared_memory(ready, out):
    """One thread polls for the block, which waits for the next one."""
    flag = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    while b < cuda.gridDim.x - 1:
        if t == 0:
            flag[0] = cuda.atomic.add(ready, b + 1, 0)
        cuda.syncthreads()
        is_ready = flag[0]
        cuda.syncthreads()
        if is_ready:
            break
    out[cuda.grid(1)] = b
    cuda.syncthreads()
    if t == 0:
        cuda.atomic.add(ready, b, 1)


@a_block_reads_its_flag_in_shared_memory.gives
def _(ready, out):
    ready[:20], out[:] = 1, np.arange(640) // 32


@program(20, 64, zeros(21), zeros(20))
def a_warp_gets_its_flag_by_a_shuffle(ready, out):
    lane, b = cuda.threadIdx.x % 32, cuda.blockIdx.x
    while b < cuda.gridDim.x - 1:
        value = 0
        if lane == 0:
            value = cuda.atomic.add(ready, b + 1, 0)
        if cuda.shfl_sync(0xFFFFFFFF, value, 0) == 2:
            break
    if lane == 0:
        cuda.atomic.add(out, b, 1)
        cuda.atomic.add(ready, b, 1)


@a_warp_gets_its_flag_by_a_shuffle.gives
def _(ready, out):
    ready[:20], out[:] = 2, 2


@program(20, 8, zeros(21), zeros(20))
def a_barrier_gathers_the_flags(ready, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    value = int(b == cuda.gridDim.x - 1)
    while not cuda.syncthreads_or(value):
        if t == 3:
            value = cuda.atomic.add(ready, b + 1, 0)
    if t == 0:
        out[b] = b
        cuda.atomic.add(ready, b, 1)


@a_barrier_gathers_the_flags.gives
def _(ready, out):
    ready[:20], out[:] = 1, np.arange(20)


@program(20, 4, zeros(24), zeros(20))
def flags_in_a_local_array(ready, out):
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    seen = cuda.local.array(3, int32)
    for k in range(3):
        seen[k] = b + 1 + k >= cuda.gridDim.x
    if t == 0:
        while seen[0] + seen[1] + seen[2] < 3:
            for k in range(3):
                if not seen[k]:
                    seen[k] = cuda.atomic.add(ready, b + 1 + k, 0)
        out[b] = 1
        cuda.atomic.add(ready, b, 1)


@flags_in_a_local_array.gives
def _(ready, out):
    ready[:20], out[:] = 1, 1


@program(20, 4, zeros(23), zeros(20))
def flags_in_turn(ready, out):
    """The loop goes on to the next flag once a flag is set."""
    b, k = cuda.blockIdx.x, 1
    if cuda.threadIdx.x == 0:
        while k < 4 and b + k < cuda.gridDim.x:
            if cuda.atomic.add(ready, b + k, 0) == 0:
                continue
            k += 1
        out[b] = k
        cuda.atomic.add(ready, b, 1)


@flags_in_turn.gives
def _(ready, out):
    ready[:20], out[:] = 1, np.minimum(4, 20 - np.arange(20))


@program(20, 4, zeros(23), zeros(20))
def flags_from_the_first_each_time(ready, out):
    """The outer loop ends when the inner one has found all flags set."""
    b, count = cuda.blockIdx.x, 0
    if cuda.threadIdx.x == 0:
        following = min(3, cuda.gridDim.x - 1 - b)
        while count < following:
            count = 0
            for k in range(following):
                if cuda.atomic.add(ready, b + 1 + k, 0) == 0:
                    break
                count += 1
        out[b] = count
        cuda.atomic.add(ready, b, 1)


@flags_from_the_first_each_time.gives
def _(ready, out):
    ready[:20], out[:] = 1, np.minimum(3, 19 - np.arange(20))


@program(20, 32, zeros(21), zeros(20))
def flags_by_uncached_loads(ready, out):
    """No fence: the loads are volatile. The first thread waits for the last one, which waits."""
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 31:
        while b < cuda.gridDim.x - 1:
            if cuda.ldcv(ready, b + 1) == 2:
                break
        cuda.atomic.add(ready, b, 1)
    elif t == 0:
        while cuda.ldcv(ready, b) == 0:
            pass
        out[b] = b
        cuda.atomic.add(ready, b, 1)


@flags_by_uncached_loads.gives
def _(ready, out):
    ready[:20], out[:] = 2, np.arange(20)
