"""Bounded waiting on a GPU: device functions in the kernel language.

A barrier that some of its threads do not reach never ends there, and lanes whose masks differ end
the context. So threads first record in memory that they have arrived, wait there for a limited
time, and execute the operation only if all have arrived. Loops that wait for another thread have
the same limit.

``words`` has for each block: one entry for each thread, one for each warp, and three more, each of
two words.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.checks.device_functions.recording import FOUND, IS_ENDING, LIMIT

# ---- results ----
COMPLETE, ABSENT, ENDING = range(3)  # ENDING: another thread has reported absent threads
WAITING = 3

# ---- the entry of a thread: the mask with which its lane waits; of a warp ----
LOCK, ENDED_LANES = range(2)
# ---- the entries after those of the warps ----
BLOCK, ENDED_THREADS, GROUP = range(3)  # the group is the cluster or the grid, of its first block
EXTRA_ENTRIES = 3
# ---- the words of a barrier: the number of arrivals and the sum of their sites; then: ----
ROUND = 1  # how often all threads have arrived
FAILED = 1 << 40  # in place of the round: not all came


def thread_index() -> Any:
    """Return the linear index of the thread in its block."""
    rows = cuda.threadIdx.y + cuda.threadIdx.z * cuda.blockDim.y
    return cuda.threadIdx.x + rows * cuda.blockDim.x


def thread_count() -> Any:
    return cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z


def linear_block(x: Any, y: Any, z: Any) -> Any:
    return x + (y + z * cuda.gridDim.y) * cuda.gridDim.x


def own_block() -> Any:
    return linear_block(cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z)


def wait_state(findings: Any, start: Any) -> Any:
    """Return COMPLETE if a thread that waits since ``start`` may wait longer, ABSENT or ENDING."""
    last = findings.shape[0] - 1
    if cuda.ldcg(findings, (last, IS_ENDING)) != 0:
        return ENDING
    return COMPLETE if cuda.globaltimer() - start < findings[last, LIMIT] else ABSENT


def end_waiting(findings: Any) -> Any:
    """End all waiting of the launch. Return ABSENT for the first thread, which reports it."""
    last = findings.shape[0] - 1
    findings[last, FOUND] = 1
    return ABSENT if cuda.atomic.exch(findings, (last, IS_ENDING), 1) == 0 else ENDING


def loop_state(findings: Any, start: Any) -> Any:
    """Return COMPLETE, or what ends a loop in which a thread waits since ``start``."""
    state = wait_state(findings, start)
    return end_waiting(findings) if state == ABSENT else state


def record_end(words: Any) -> Any:
    """Record that the thread ends, so that no barrier waits for it; return False."""
    thread, block, threads = thread_index(), own_block(), thread_count()
    entries = threads + (threads + 31) // 32
    cuda.atomic.or_(words, (block, threads + thread // 32, ENDED_LANES), 1 << thread % 32)
    cuda.atomic.add(words, (block, entries + ENDED_THREADS, 0), 1)
    return False


def wait_for_block(findings: Any, words: Any, site: Any) -> Any:
    """Wait for the threads of the block that have not ended."""
    threads = thread_count()
    entries = threads + (threads + 31) // 32
    return wait_for_all(findings, words, own_block(), entries + BLOCK, threads, True, site)


def wait_for_grid(findings: Any, words: Any, site: Any) -> Any:
    """Wait for all threads of the grid."""
    threads = thread_count()
    entries = threads + (threads + 31) // 32
    blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
    return wait_for_all(findings, words, 0, entries + GROUP, threads * blocks, False, site)


def wait_for_cluster(
    findings: Any, words: Any, site: Any, width: Any, height: Any, depth: Any
) -> Any:
    """Wait for all threads of a cluster of so many blocks along each axis."""
    threads = thread_count()
    entries = threads + (threads + 31) // 32
    x, y, z = cuda.blockIdx.x, cuda.blockIdx.y, cuda.blockIdx.z
    first = linear_block(x - x % width, y - y % height, z - z % depth)
    size = threads * width * height * depth
    return wait_for_all(findings, words, first, entries + GROUP, size, False, site)


def wait_for_all(
    findings: Any, words: Any, block: Any, entry: Any, size: Any, may_end: Any, site: Any
) -> Any:
    """Wait for ``size`` threads at one site, without those that have ended, if they may."""
    current = cuda.ldcg(words, (block, entry, ROUND))
    if current == FAILED:
        return ENDING
    cuda.atomic.add(words, (block, entry, 0), site << 32 | 1)
    start = cuda.globaltimer()
    while True:
        seen = cuda.ldcg(words, (block, entry, ROUND))
        if seen != current:
            return ENDING if seen == FAILED else COMPLETE
        arrivals = cuda.ldcg(words, (block, entry, 0))
        count = arrivals & 0xFFFFFFFF
        ended = cuda.ldcg(words, (block, entry + ENDED_THREADS - BLOCK, 0)) if may_end else 0
        state = wait_state(findings, start)
        if count < size - ended and state == COMPLETE:
            cuda.nanosleep(100)
        elif cuda.atomic.cas(words, (block, entry, 0), arrivals, 0) == arrivals:
            is_complete = count == size - ended and arrivals == (site << 32 | 1) * count
            cuda.atomic.exch(words, (block, entry, ROUND), current + 1 if is_complete else FAILED)
            if is_complete:
                return COMPLETE
            return end_waiting(findings)


def wait_for_lanes(findings: Any, words: Any, mask: Any) -> Any:
    """Wait until the lanes of the mask wait with the same mask, without those that have ended."""
    thread, block, threads = thread_index(), own_block(), thread_count()
    lane, warp = thread % 32, threads + thread // 32
    if mask >> lane & 1 == 0:
        return end_waiting(findings)
    start = cuda.globaltimer()
    is_new, seen_ended = True, 0
    while True:
        is_released = not is_new and cuda.ldcg(words, (block, thread, 0)) == 0
        if is_released:
            return COMPLETE
        state = wait_state(findings, start)
        ended = cuda.ldcg(words, (block, warp, ENDED_LANES))
        if is_new or ended != seen_ended or state != COMPLETE:
            while cuda.atomic.cas(words, (block, warp, LOCK), 0, 1) != 0:
                cuda.nanosleep(20)
            cuda.threadfence()
            result = WAITING
            if is_new or cuda.ldcg(words, (block, thread, 0)) != 0:
                cuda.stcg(words, (block, thread, 0), mask)
                result = release_lanes(words, mask, ended, state)
            else:
                result = COMPLETE
            cuda.threadfence()
            cuda.atomic.exch(words, (block, warp, LOCK), 0)
            if result != WAITING:
                return result if result == COMPLETE else end_waiting(findings)
            is_new, seen_ended = False, ended
        cuda.nanosleep(100)


def release_lanes(words: Any, mask: Any, ended: Any, state: Any) -> Any:
    """Release the lanes of the mask if all wait with it; the thread has the lock of its warp.

    If a lane of the mask waits for this one with another mask, neither will ever come.
    """
    thread, block, threads = thread_index(), own_block(), thread_count()
    lane = thread % 32
    first = thread - lane
    is_complete, is_conflict = True, False
    for other in range(32):
        if mask >> other & 1 != 0 and first + other < threads and ended >> other & 1 == 0:
            other_mask = cuda.ldcg(words, (block, first + other, 0))
            if other_mask != mask:
                is_complete = False
                if other_mask >> lane & 1 != 0:
                    is_conflict = True
    if is_complete:
        for other in range(32):
            if mask >> other & 1 != 0 and first + other < threads:
                cuda.stcg(words, (block, first + other, 0), 0)
        return COMPLETE
    if not is_conflict and state == COMPLETE:
        return WAITING
    cuda.stcg(words, (block, thread, 0), 0)
    return ABSENT
