"""The C that records accesses in shadow memory."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, cast

import pytest

from pycu2c import cuda, float32, int64
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.source import source_of
from pycu2c.base.types import Array, Signature
from pycu2c.checks.instrumentation import LaunchFacts, instrument
from pycu2c.checks.memory_regions import MemoryRegion
from pycu2c.codegen.emit import EmittedFile, emit
from pycu2c.compiler import lower
from pycu2c.declarations.options import Options
from pycu2c.frontend.function_builder import BuildOptions, build
from pycu2c.pipeline import TARGETS
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

TYPES = Array(float32.dtype, 1, "C"), Array(int64.dtype, 1, "C")
LAUNCH = LaunchAssumptions(grid=(2, 1, 1), block=(64, 1, 1))


def of_a_tile(out, at):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[at[t]] = 1.0
    cuda.syncthreads()
    out[cuda.grid(1)] = tile[at[t]]


def of_records(out, at):
    tile = cuda.shared.array(64, cuda.float2)
    t = cuda.threadIdx.x
    tile[at[t]] = cuda.float2(1.0, 2.0)
    cuda.syncthreads()
    pair = tile[at[t]]
    out[cuda.grid(1)] = pair.x + pair.y


def with_fences(out, at):
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    cuda.atomic.add(tile, at[t], 1.0)
    cuda.threadfence_block()
    out[cuda.grid(1)] = tile[at[t]]


def with_barriers_of_the_grid(out, at):
    out[at[cuda.grid(1)]] = 1.0
    cuda.cg.this_grid().sync()
    out[cuda.grid(1)] += 1.0


def with_barriers_of_the_cluster(out, at):
    out[at[cuda.grid(1)]] = 1.0
    cuda.cg.this_cluster().sync()
    out[cuda.grid(1)] += 1.0


def text(function: Callable[..., Any], target_name: str) -> EmittedFile:
    cluster = (2, 1, 1) if function is with_barriers_of_the_cluster else ()
    options, source = BuildOptions(cluster=cluster), source_of(cast(FunctionType, function))
    module = build(source, Signature(TYPES), options).module
    region = MemoryRegion(((0, 0),), 4, 4 * 128)
    facts = LaunchFacts(LAUNCH, None, (region,), bounds_waiting=target_name == "cuda")
    instrumented = instrument(module, frozenset(["race", "init"]), facts).module
    target = TARGETS["cpu" if target_name == "c" else target_name]
    return emit(lower(instrumented, target, LAUNCH, Options()), target.dialect)


SHARED = of_a_tile, of_records, with_fences
GLOBAL = with_barriers_of_the_grid, with_barriers_of_the_cluster


@pytest.mark.parametrize("function", [*SHARED, *GLOBAL], ids=lambda f: f.__name__)
def test_shared_arrays_need_no_atomic_operations_on_the_cpu(function: Callable[..., Any]) -> None:
    made = text(function, "c")
    assert ("__atomic_exchange_n(&shadow" in made.text) == (function in GLOBAL)
    made = text(function, "cuda")
    assert "atomicExch(&shadow" in made.text
    try:
        nvrtc.version()
    except ToolchainError as error:
        pytest.skip(str(error))
    assert nvrtc.compile(made.text, made.entry, "sm_90", cache=False).data
