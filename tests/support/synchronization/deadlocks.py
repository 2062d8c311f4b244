"""Kernels with a deadlock. The lines where their threads wait are marked ``# waits``."""

from __future__ import annotations

from pycu2c import cuda, device, int32, kernel

FULL = 0xFFFFFFFF


@kernel
def a_barrier_and_a_shuffle(out):
    i = cuda.grid(1)
    if i < 16:
        cuda.syncthreads()  # waits
    else:
        out[i] = cuda.shfl_sync(FULL, i, 0)  # waits


@kernel
def a_flag_that_no_thread_sets(out):
    i = cuda.grid(1)
    while cuda.atomic.add(out, 0, 0) == 0:  # waits
        pass
    out[i] = 1


@kernel
def masks_that_differ(out):
    i = cuda.threadIdx.x
    mask = 0xFF if i < 4 else 0xF0
    if i < 8:
        out[i] = cuda.ballot_sync(mask, i % 2 == 0)  # waits
    cuda.syncthreads()  # waits


@kernel
def half_of_a_warp_is_missing(out):
    i = cuda.threadIdx.x
    if i < 16:
        cuda.syncwarp()  # waits
    else:
        while cuda.atomic.add(out, 0, 0) < 100:  # waits
            cuda.nanosleep(100)


@kernel
def a_grid_barrier_and_a_barrier(out):
    if cuda.grid(1) > 5:
        cuda.syncthreads()  # waits
    cuda.cg.this_grid().sync()  # waits
    out[0] = 1


@device
def waited_for(flag):
    while cuda.atomic.add(flag, 0, 0) == 0:  # waits
        cuda.threadfence()


@kernel
def in_a_device_function(out):
    tile = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        waited_for(out)
    tile[0] = 1
    cuda.syncthreads()  # waits


@kernel
def blocks_that_wait_for_one_another(out):
    """Each block waits for the next, the last for the first."""
    own, other = cuda.blockIdx.x, (cuda.blockIdx.x + 1) % cuda.gridDim.x
    if cuda.threadIdx.x == 0:
        while cuda.atomic.add(out, other, 0) == 0:  # waits
            cuda.threadfence()
        cuda.atomic.add(out, own, 1)


@kernel
def a_barrier_in_a_loop_that_some_leave(out):
    i = cuda.threadIdx.x
    for k in range(4):
        if k == i:
            while cuda.atomic.add(out, 0, 0) == 0:  # waits
                pass
        cuda.syncthreads()  # waits


@kernel
def functions_that_differ(out):
    i = cuda.threadIdx.x
    if i % 2 == 0:
        out[i] = cuda.shfl_up_sync(FULL, i, 2)  # waits
    else:
        out[i] = cuda.shfl_down_sync(FULL, i, 2)  # waits


@kernel
def types_that_differ(out):
    i = cuda.threadIdx.x
    if i % 2 == 0:
        out[i] = cuda.shfl_xor_sync(FULL, i, 1)  # waits
    else:
        out[i] = cuda.shfl_xor_sync(FULL, int32(i), 1)  # waits


@kernel
def a_barrier_that_counts_and_one_that_does_not(out):
    i = cuda.threadIdx.x
    if i < 5:
        out[i] = cuda.syncthreads_count(i > 2)  # waits
    else:
        cuda.syncthreads()  # waits
