"""How the reference schedules threads that synchronize, beyond ``support/synchronization``."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pycu2c import DeadlockError, cuda, device, int32, kernel

FULL = 0xFFFFFFFF
reference = kernel(backend="python")


@reference
def gives_a_mask_without_itself(out):
    out[cuda.threadIdx.x] = cuda.shfl_sync(0xFF, 1, 0)


@reference
def gives_a_width_that_is_none(out, width):
    out[0] = cuda.shfl_up_sync(FULL, 1, 1, width=width)


def test_a_lane_is_in_its_mask() -> None:
    wrong = r"test_scheduler\.py:\d+: lane 8 gives cuda.shfl_sync the mask 0x000000ff, "
    with pytest.raises(ValueError, match=wrong):
        gives_a_mask_without_itself[1, 32](np.zeros(32))


@pytest.mark.parametrize("width", [0, 3, 33, -2, 64])
def test_a_width_divides_a_warp(width: int) -> None:
    with pytest.raises(ValueError, match=re.escape("(1, 2, 4, 8, 16, 32), not")):
        gives_a_width_that_is_none[1, 32](np.zeros(1), width)


@reference
def two_kinds_of_barrier(out):
    i = cuda.grid(1)
    if i % 2:
        cuda.syncthreads()
    else:
        out[i] = cuda.syncthreads_count(i > 3)


def test_barriers_with_a_result_do_not_match_others() -> None:
    """CUDA leaves it open what happens where they are mixed."""
    with pytest.raises(DeadlockError, match=r"threads 1, 3 wait in cuda\.syncthreads, "):
        two_kinds_of_barrier[1, 4](np.zeros(4))


@reference
def waits_so_long(flag, out, tries):
    """A loop with an end, which another block's write ends before."""
    if cuda.blockIdx.x == 0:
        for k in range(tries):
            if cuda.atomic.add(flag, 0, 0):
                out[0] = k
                break
        else:
            out[0] = -1
    else:
        cuda.atomic.add(flag, 0, 1)


@pytest.mark.parametrize(("tries", "round_"), [(10_000, 63), (50, -1)])
def test_others_run_in_a_loop_that_may_be_left(tries: int, round_: int) -> None:
    out = np.zeros(1, np.int64)
    waits_so_long[2, 1](np.zeros(1, np.int32), out, tries)
    assert out[0] == round_


@reference
def counts_while_it_waits(flag, out):
    """A variable changes in each round, so this is no standstill."""
    rounds = 0
    while cuda.atomic.add(flag, 0, 1) < 1000:
        rounds += 1
    out[cuda.grid(1)] = rounds


def test_a_loop_that_changes_something_is_no_standstill() -> None:
    out = np.zeros(8, np.int64)
    counts_while_it_waits[2, 4](np.zeros(1, np.int32), out)
    assert out.sum() == 1000


@device
def turned(value, by):
    return cuda.shfl_sync(FULL, value, cuda.laneid + by)


@device
def turned_twice(value):
    return turned(value, 1) + turned(value, 2)


@reference
def functions_that_synchronize_in_functions(out):
    exchange = cuda.shfl_xor_sync
    out[cuda.threadIdx.x] = turned_twice(cuda.threadIdx.x) + exchange(FULL, cuda.laneid, 31)


def test_a_called_function_may_have_a_barrier() -> None:
    out = np.zeros(32, np.int64)
    functions_that_synchronize_in_functions[1, 32](out)
    lanes = np.arange(32)
    assert (out == (lanes + 1) % 32 + (lanes + 2) % 32 + 31 - lanes).all()


@reference
def many_blocks_parked(a, rounds):
    """Each block has shared memory of its own, also while others run."""
    own = cuda.shared.array(1, int32)
    if cuda.threadIdx.x == 0:
        own[0] = cuda.blockIdx.x
    for _ in range(rounds):
        cuda.cg.this_grid().sync()
        if cuda.threadIdx.x == 0:
            own[0] += 100
    a[cuda.grid(1)] = own[0]


def test_parked_blocks_keep_their_memory() -> None:
    out = np.zeros(20, np.int32)
    many_blocks_parked[10, 2](out, 3)
    # thread 1 may read before or after the last addition: they do not meet again
    assert (out[::2] == np.arange(10) + 300).all()
