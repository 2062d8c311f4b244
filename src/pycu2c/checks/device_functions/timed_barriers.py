"""Barriers with a timeout, for a GPU: device functions in the kernel language.

On a GPU, a barrier that some of its threads do not reach never ends, and lanes whose masks differ
end the context. So threads first arrive in memory, and wait there until all have arrived or the
time is over. They execute the operation only if all have arrived. Loops that poll memory have the
same timeout.

``arrivals`` has entries for each block: one for each thread, one for each warp, and those below.
Each has two words.
"""

from __future__ import annotations

from typing import Any

from pycu2c import cuda
from pycu2c.checks.device_functions.recording import FOUND, IS_ENDING, LIMIT
from pycu2c.checks.device_functions.thread_indices import (
    block_index,
    block_of_rank,
    thread_count,
    thread_index,
)

# ---- results ----
COMPLETE, ABSENT, ENDING = range(3)  # ENDING: another thread has reported absent threads
WAITING = 3
# ---- the entry of a warp; that of a thread is the mask with which its lane waits ----
LOCK, EXITED_LANES = range(2)
# ---- the entries after those of the warps ----
OF_BLOCK, OF_GROUP = 0, 2  # of a barrier; the group is the cluster or the grid, in its first block
BARRIER_ENTRIES = 4
# ---- the words of a barrier: the number of arrivals and the sum of their sites; then: ----
PHASE = 0, 1  # how often all threads have arrived
EXITED = 1, 0  # the number of threads that have exited and are not waited for
FAILED = 1 << 40  # in place of the phase: not all arrived


def barrier_entry(entry: Any) -> Any:
    """Return the index of an entry after those of the warps."""
    return thread_count() + (thread_count() + 31) // 32 + entry


def wait_status(findings: Any, start: Any) -> Any:
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


def loop_status(findings: Any, start: Any) -> Any:
    """Return COMPLETE, or what ends a loop in which a thread waits since ``start``."""
    status = wait_status(findings, start)
    return end_waiting(findings) if status == ABSENT else status


def record_exit(arrivals: Any) -> Any:
    """Record that the thread exits, so that no barrier waits for it."""
    thread, block = thread_index(), block_index()
    warp = thread_count() + thread // 32
    cuda.atomic.or_(arrivals, (block, warp, EXITED_LANES), 1 << thread % 32)
    cuda.atomic.add(arrivals[block, barrier_entry(OF_BLOCK) :], EXITED, 1)
    return False


def wait_for_block(findings: Any, arrivals: Any, site_index: Any) -> Any:
    """Wait for the threads of the block that have not exited."""
    barrier = arrivals[block_index(), barrier_entry(OF_BLOCK) :]
    return wait_for_threads(findings, barrier, thread_count(), site_index)


def wait_for_grid(findings: Any, arrivals: Any, site_index: Any) -> Any:
    """Wait for all threads of the grid."""
    blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z
    barrier = arrivals[0, barrier_entry(OF_GROUP) :]
    return wait_for_threads(findings, barrier, thread_count() * blocks, site_index)


def wait_for_cluster(findings: Any, arrivals: Any, site_index: Any, extents: Any) -> Any:
    """Wait for all threads of the cluster, which has so many blocks along each axis."""
    barrier = arrivals[block_of_rank(0, extents), barrier_entry(OF_GROUP) :]
    count = thread_count() * extents[0] * extents[1] * extents[2]
    return wait_for_threads(findings, barrier, count, site_index)


def wait_for_threads(findings: Any, barrier: Any, count: Any, site_index: Any) -> Any:
    """Wait for so many threads at one site, without those that have exited."""
    phase = cuda.ldcg(barrier, PHASE)
    if phase == FAILED:
        return ENDING
    cuda.atomic.add(barrier, (0, 0), site_index << 32 | 1)
    start = cuda.globaltimer()
    while True:
        seen = cuda.ldcg(barrier, PHASE)
        if seen != phase:
            return ENDING if seen == FAILED else COMPLETE
        word = cuda.ldcg(barrier, (0, 0))
        arrived, expected = word & 0xFFFFFFFF, count - cuda.ldcg(barrier, EXITED)
        status = wait_status(findings, start)
        if arrived < expected and status == COMPLETE:
            cuda.nanosleep(100)
        elif cuda.atomic.cas(barrier, (0, 0), word, 0) == word:
            is_complete = arrived == expected and word == (site_index << 32 | 1) * arrived
            cuda.atomic.exch(barrier, PHASE, phase + 1 if is_complete else FAILED)
            return COMPLETE if is_complete else end_waiting(findings)


def wait_for_lanes(findings: Any, arrivals: Any, mask: Any) -> Any:
    """Wait until the lanes of the mask wait with the same mask, without those that have exited."""
    thread, block = thread_index(), block_index()
    if mask >> thread % 32 & 1 == 0:
        return end_waiting(findings)
    start = cuda.globaltimer()
    is_new, seen_exited = True, 0
    while True:
        if not is_new and cuda.ldcg(arrivals, (block, thread, 0)) == 0:
            return COMPLETE
        status = wait_status(findings, start)
        exited = cuda.ldcg(arrivals, (block, thread_count() + thread // 32, EXITED_LANES))
        if is_new or exited != seen_exited or status != COMPLETE:
            result = arrive_in_warp(arrivals, mask, exited, status, is_new)
            if result != WAITING:
                return result if result == COMPLETE else end_waiting(findings)
            is_new, seen_exited = False, exited
        cuda.nanosleep(100)


def arrive_in_warp(arrivals: Any, mask: Any, exited: Any, status: Any, is_new: Any) -> Any:
    """Release the lanes of the mask if all wait with it, under the lock of the warp."""
    thread, block = thread_index(), block_index()
    warp, result = thread_count() + thread // 32, COMPLETE
    while cuda.atomic.cas(arrivals, (block, warp, LOCK), 0, 1) != 0:
        cuda.nanosleep(20)
    cuda.threadfence()
    if is_new or cuda.ldcg(arrivals, (block, thread, 0)) != 0:
        cuda.stcg(arrivals, (block, thread, 0), mask)
        result = release_lanes(arrivals, mask, exited, status)
    cuda.threadfence()
    cuda.atomic.exch(arrivals, (block, warp, LOCK), 0)
    return result


def release_lanes(arrivals: Any, mask: Any, exited: Any, status: Any) -> Any:
    """Release the lanes of the mask if all wait with it.

    If a lane of the mask waits for this one with another mask, the two never agree.
    """
    thread, block = thread_index(), block_index()
    lane = thread % 32
    first = thread - lane
    is_complete, is_conflict = True, False
    count = min(32, thread_count() - first)
    for other in range(count):
        if mask >> other & 1 != 0 and exited >> other & 1 == 0:
            other_mask = cuda.ldcg(arrivals, (block, first + other, 0))
            is_complete = is_complete and other_mask == mask
            is_conflict = is_conflict or (other_mask != mask and other_mask >> lane & 1 != 0)
    if not is_complete and not is_conflict and status == COMPLETE:
        return WAITING
    for other in range(count if is_complete else 0):
        if mask >> other & 1 != 0:
            cuda.stcg(arrivals, (block, first + other, 0), 0)
    cuda.stcg(arrivals, (block, thread, 0), 0)
    return COMPLETE if is_complete else ABSENT
