"""Which barriers and operations of warps all their threads reach together."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import pytest

from pycu2c import cuda, device, float32
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.source import source_of
from pycu2c.base.types import WEAK_INT, Array, Signature
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS
from pycu2c.checks.function_cloning import clone_callees
from pycu2c.checks.hidden_arrays import BARRIERS
from pycu2c.checks.instrumentation import LaunchFacts, instrument
from pycu2c.checks.proofs.convergence import convergent_operations
from pycu2c.frontend.function_builder import build
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions

FULL = 0xFFFFFFFF
TYPES = Array(float32.dtype, 1, "C"), WEAK_INT


def at_the_top(a, n):
    a[0] = cuda.shfl_sync(FULL, cuda.syncthreads_count(n > 0), 0)
    cuda.cg.this_grid().sync()


def in_loops_of_all_threads(a, n):
    for _ in range(n):
        cuda.syncthreads()
    step = 16
    while step > 0:
        a[0] += cuda.shfl_down_sync(FULL, n, step)
        step //= 2


def in_whole_warps(a, n):
    if cuda.threadIdx.x // 32 == 1:
        a[0] = cuda.any_sync(FULL, n > 0)


def after_some_have_ended(a, n):
    if cuda.grid(1) >= n:
        return
    cuda.syncthreads()


@device
def sum_of_lanes(x):
    for step in (16, 8, 4, 2, 1):
        x += cuda.shfl_xor_sync(FULL, x, step)
    return x


def in_a_function(a, n):
    a[n] = sum_of_lanes(a[cuda.threadIdx.x])


def of_some_threads(a, n):
    if cuda.threadIdx.x < n:
        cuda.syncthreads()


def of_some_lanes(a, n):
    a[0] = cuda.any_sync(0xFF, n > 0)


def in_a_loop_that_some_leave(a, n):
    for k in range(n):
        if k > cuda.threadIdx.x:
            break
        cuda.syncthreads()


def after_a_read_of_what_others_write(a, n):
    a[cuda.threadIdx.x] = n
    if a[0] > 0:
        cuda.syncthreads()


def in_a_conditional_expression(a, n):
    a[0] = cuda.syncthreads_count(True) if n > cuda.threadIdx.x else 0


def of_some_blocks(a, n):
    if cuda.blockIdx.x < n:
        cuda.cg.this_grid().sync()


def after_blocks_have_ended(a, n):
    if cuda.blockIdx.x >= n:
        return
    cuda.cg.this_grid().sync()


def in_a_function_for_some(a, n):
    if cuda.threadIdx.x < n:
        a[n] = sum_of_lanes(a[cuda.threadIdx.x])


@device
def barrier_of_the_rest(x):
    if x > 1:
        return x
    cuda.syncthreads()
    return x + 1


def in_a_function_that_some_leave(a, n):
    a[n] = barrier_of_the_rest(a[cuda.threadIdx.x])


@device
def barrier():
    cuda.syncthreads()
    return 1


def in_a_function_for_all_and_for_some(a, n):
    a[n] = barrier()
    if cuda.threadIdx.x < n:
        a[n] += barrier()


CONVERGENT = (
    at_the_top,
    in_loops_of_all_threads,
    in_whole_warps,
    after_some_have_ended,
    in_a_function,
)
DIVERGENT = (
    of_some_threads,
    of_some_lanes,
    in_a_loop_that_some_leave,
    after_a_read_of_what_others_write,
    in_a_conditional_expression,
    of_some_blocks,
    after_blocks_have_ended,
    in_a_function_for_some,
    in_a_function_that_some_leave,
    in_a_function_for_all_and_for_some,
)


@pytest.mark.parametrize("function", [*CONVERGENT, *DIVERGENT], ids=lambda f: f.__name__)
def test_convergent_operations(function: Callable[..., Any]) -> None:
    module = build(source_of(cast(FunctionType, function)), Signature(TYPES)).module
    cloned = clone_callees(module)
    found = convergent_operations(cloned.module, cloned.calls.keys(), (64, 1, 1))
    operations = {
        e
        for f in cloned.module.functions
        for e in all_expressions(f.body)
        if isinstance(e, ir.Apply) and e.intrinsic.synchronizes
    }
    assert found == (operations if function in CONVERGENT else set())
    facts = LaunchFacts(LaunchAssumptions(grid=(2, 1, 1), block=(64, 1, 1)))
    compares_barriers = BARRIERS in instrument(module, frozenset(["sync"]), facts).shadows
    has_barriers = any(e.intrinsic.effect in BARRIER_EFFECTS for e in operations)
    assert compares_barriers == (has_barriers and function in DIVERGENT)
