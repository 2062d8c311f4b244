"""Loops over atomics on changing elements: they search, and may wait for other threads, too."""

from __future__ import annotations

import re

import numpy as np

from pycu2c import cuda, kernel

SLOTS = 8


def test_a_search_waits_for_slots_of_later_threads(target: str) -> None:
    """All slots are taken until the last threads of the block free them."""

    @kernel(backend=target)
    def take(slots, tries, out):
        i = cuda.grid(1)
        if i < SLOTS:
            at = i
            while cuda.atomic.cas(slots, at, 0, i + 2) != 0:
                at = (at + 1) % SLOTS
                tries[i] += 1
            out[i] = at
        elif i >= cuda.blockDim.x - SLOTS:
            cuda.atomic.exch(slots, cuda.blockDim.x - 1 - i, 0)

    slots, tries = np.ones(SLOTS, np.int32), np.zeros(SLOTS, np.int64)
    out = np.full(SLOTS, -1)
    take[1, 64](slots, tries, out)
    assert sorted(out) == list(range(SLOTS))
    assert (slots[out] == np.arange(SLOTS) + 2).all()


def test_threads_insert_into_a_table(target: str) -> None:
    @kernel(backend=target)
    def insert(keys, table):
        i = cuda.grid(1)
        if i < keys.size:
            at = keys[i] * 7 % table.size
            while True:
                old = cuda.atomic.cas(table, at, -1, keys[i])
                if old == -1 or old == keys[i]:
                    break
                at = (at + 1) % table.size

    keys = np.arange(500, dtype=np.int32) % 250 * 3
    table = np.full(256, -1, np.int32)
    insert[4, 128](keys, table)
    assert sorted(table[table >= 0]) == list(range(0, 750, 3))


@kernel("void(int32[::1])")
def wait(flags):
    turns = 0
    while cuda.atomic.cas(flags, 0, 1, 2) != 1:
        turns += 1
    flags[1] = turns


@kernel("void(int32[::1])")
def search(flags):
    at = 0
    while cuda.atomic.cas(flags, at, 1, 2) != 1:
        at += 1
    flags[1] = at


@kernel("void(int32[::1])")
def look_back(states):
    previous, total = cuda.blockIdx.x - 1, 0
    while previous >= 0:
        state = cuda.ldcv(states, previous)
        while state == 0:
            cuda.threadfence()
            state = cuda.ldcv(states, previous)
        total += state >> 2
        previous = -1 if state & 3 == 2 else previous - 1
    states[cuda.blockIdx.x] = total << 2 | 2


def test_only_searches_go_on_before_they_yield() -> None:
    assert "iterations" in look_back.inspect("c")  # over tiles that are ready
    assert "WAIT_YIELD" in wait.inspect("c")
    assert "iterations" not in wait.inspect("c")
    assert "WAIT_YIELD" in search.inspect("c")
    assert "iterations >= 16" in search.inspect("c")


@kernel("void(int32[::1])")
def wait_for_state(flags):
    state = 0
    while state == 0:
        state = cuda.ldcv(flags, 0)
        cuda.threadfence()
    flags[1] = state


def test_the_last_iteration_does_not_yield() -> None:
    text = wait_for_state.inspect("c")
    assert re.search(r"if \(\S*state_? == 0\) \{\s+\S*pc = \d;\s+return WAIT_YIELD;", text)
