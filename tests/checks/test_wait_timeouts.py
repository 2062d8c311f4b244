"""Kernels with bounded waiting for a GPU: NVRTC compiles them, also without a GPU."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import pytest

from pycu2c import cuda, int64
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.source import source_of
from pycu2c.base.types import Array, Signature
from pycu2c.checks.instrumentation import LaunchFacts, instrument
from pycu2c.codegen.emit import emit
from pycu2c.compiler import lower
from pycu2c.declarations.options import CheckGroup, Options
from pycu2c.frontend.function_builder import BuildOptions, build
from pycu2c.pipeline import TARGETS
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

TYPES = (Array(int64.dtype, 1, "C"),) * 2
LAUNCH = LaunchAssumptions(grid=(2, 1, 1), block=(64, 1, 1))
FULL = 0xFFFFFFFF


def loop_for_a_flag(flag, out):
    while cuda.atomic.add(flag, 0, 0) == 0:
        cuda.threadfence()
    out[0] = 1


def barrier_of_some(flag, out):
    if cuda.threadIdx.x < flag[0]:
        cuda.syncthreads()
        out[0] = 1


def barrier_of_some_blocks(flag, out):
    if cuda.blockIdx.x < flag[0]:
        cuda.cg.this_grid().sync()
        out[0] = 1


def lanes_of_a_mask(flag, out):
    out[cuda.threadIdx.x] = cuda.popc(cuda.ballot_sync(0xFF, flag[0] > 0))


def lanes_in_shared_memory(flag, out):
    shared = cuda.shared.array(64, int64)
    shared[cuda.threadIdx.x] = flag[0]
    mask = cuda.ballot_sync(FULL, flag[0] > 0)
    if flag[0] > 0:
        cuda.syncwarp(mask)
        out[cuda.threadIdx.x] = shared[cuda.threadIdx.x ^ 1]
    cuda.syncthreads()


def shared_memory_of_a_cluster(flag, out):
    shared = cuda.shared.array(64, int64)
    cluster = cuda.cg.this_cluster()
    shared[cuda.threadIdx.x] = flag[0]
    cluster.sync()
    other = cluster.map_shared_rank(shared, 1 - cluster.block_rank())
    out[cuda.threadIdx.x] = other[cuda.threadIdx.x]


def vote_that_lanes_skip(flag, out):
    x = flag[0]
    if cuda.threadIdx.x < x:
        x = cuda.shfl_sync(FULL, x, 0)
    out[cuda.threadIdx.x] = x


def votes_of_some(flag, out):
    t = cuda.threadIdx.x
    for k in range(3):
        if flag[t] == k:
            continue
        total = cuda.syncthreads_count(t < k) + cuda.syncthreads_and(t > k)
        cuda.syncthreads()
        out[t] = total + cuda.syncthreads_or(t == k)


def barrier_and_warp_of_all(flag, out):
    cuda.syncthreads()
    out[cuda.threadIdx.x] = cuda.popc(cuda.ballot_sync(FULL, flag[0] > 0))


def compile_text(function: Callable[..., Any], *groups: CheckGroup) -> str:
    """Return CUDA C of a kernel with checks, which NVRTC compiles if there is one."""
    source = source_of(cast(FunctionType, function))
    cluster = (2,) if "cluster" in function.__name__ else ()
    module = build(source, Signature(TYPES), BuildOptions(checked=True, cluster=cluster)).module
    facts = LaunchFacts(LAUNCH, None, (), bounds_waiting=True)
    instrumented = instrument(module, frozenset(groups), facts).module
    target = TARGETS["cuda"]
    made = emit(lower(instrumented, target, LAUNCH, Options()), target.dialect)
    try:
        nvrtc.version()
    except ToolchainError as error:
        pytest.skip(str(error))
    assert nvrtc.compile(made.text, made.entry, "sm_90", cache=False).data
    return made.text


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (loop_for_a_flag, "loop_status"),
        (barrier_of_some, "wait_for_block"),
        (barrier_of_some_blocks, "wait_for_grid"),
        (lanes_of_a_mask, "wait_for_lanes"),
        (barrier_and_warp_of_all, ""),
    ],
)
def test_waiting_is_bounded_on_a_gpu(function: Callable[..., Any], call: str) -> None:
    text = compile_text(function, "memory", "sync")
    calls = {"loop_status", "wait_for_block", "wait_for_grid", "wait_for_lanes"}
    assert {name for name in calls if f" {name}(" in text} == ({call} if call else set())


def test_barriers_of_diverged_lanes() -> None:
    text = compile_text(votes_of_some, "sync")
    assert "__barrier_sync(0)" in text
    assert "__syncthreads" not in text
    votes = ("barrier_count(", "barrier_and(", "barrier_or(")
    assert [name for name in votes if text.count(name) < 2] == []  # defined and called


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (
            lanes_in_shared_memory,
            (
                "start_lane_clock",
                "join_lane_clocks",
                "copy_lane_clock",
                "reset_lane_clock",
                "release_at_exit",
            ),
        ),
        (vote_that_lanes_skip, ("store_skips", "clear_skips", "skipping_lane", "absent_source")),
        (shared_memory_of_a_cluster, ("block_of_rank", "join_cluster_clocks")),
    ],
)
def test_checks_of_lanes_and_clusters_compile_for_a_gpu(
    function: Callable[..., Any], calls: tuple[str, ...]
) -> None:
    text = compile_text(function, "race", "init", "sync")
    assert [name for name in calls if f" {name}(" not in text] == []
