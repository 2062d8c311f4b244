"""fix_block: specialize a kernel for one block shape."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, device, float32, int32, kernel
from pycu2c.analysis.ranges.range_analysis import analyse
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.types import Signature
from pycu2c.ir.printer import print_module
from pycu2c.transforms.cpu.fix_block_shape import fix_block
from support.launching import run


def fixed(made: object, block: tuple[int, int, int] | None, *types: object) -> str:
    module = made.launcher.compiler.build(Signature(tuple(types))).module
    return print_module(fix_block(module, LaunchAssumptions(block=block)))


@kernel
def places(out):
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    out[0] = cuda.blockDim.x * 2
    out[1] = cuda.threadIdx.z
    out[2] = cuda.blockIdx.x * 16 + tx
    out[3] = ty * 16 + tx
    out[4] = tx + cuda.blockDim.x * ty + cuda.threadIdx.z * 128
    out[5] = cuda.blockIdx.z
    out[6] = ty + 4 * cuda.blockIdx.y


def test_conditions_on_the_block_shape() -> None:
    text = fixed(places, (16, 8, 1), int32[::1])
    assert "out[0] = int32(32)" in text
    assert "out[1] = int32(0)" in text
    assert "out[2] = int32(cuda.grid.x())" in text
    assert "out[3] = int32(block.thread())" in text
    assert "out[6] = int32(add.int(ty, mul.int(4, cuda.blockIdx.y())))" in text


def test_without_a_shape_nothing_changes() -> None:
    assert fixed(places, None, int32[::1]) == places.inspect("ir", (int32[::1],))


@kernel
def conditional(out, n):
    if n > 0:
        tx = cuda.threadIdx.x
    else:
        tx = 5
    out[cuda.threadIdx.x] = cuda.blockIdx.x * 16 + tx


def test_a_variable_that_is_not_always_the_coordinate_is_none() -> None:
    assert "cuda.grid" not in fixed(conditional, (16, 1, 1), int32[::1], int32)


def test_thread_indices_are_inside_the_block() -> None:
    module = places.launcher.compiler.build(Signature((int32[::1],))).module
    ranges = analyse(module.kernel, LaunchAssumptions(block=(16, 8, 1)))
    assert (ranges.variable("tx").high, ranges.variable("ty").high) == (15, 7)


@pytest.mark.parametrize("block", [(16, 8), (128,), (4, 4, 8), (1, 64, 2)])
def test_every_shape_computes_the_same(block: tuple[int, ...], target: str) -> None:
    @kernel
    def number(out):
        flat = cuda.threadIdx.x + cuda.blockDim.x * (
            cuda.threadIdx.y + cuda.blockDim.y * cuda.threadIdx.z
        )
        x = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        out[cuda.blockIdx.x, flat] = x + cuda.threadIdx.y * 1000 + cuda.threadIdx.z * 100000

    out = np.zeros((3, int(np.prod(block))), np.int32)
    expected = run(number, (3, block), (out,), "python")[0]
    assert np.array_equal(run(number, (3, block), (out,), target)[0], expected)


def test_c_is_shown_for_the_block_that_is_given_or_declared() -> None:
    @kernel(block=(32,))
    def barrier(out):
        x = cuda.threadIdx.x * out[0]
        cuda.syncthreads()
        out[cuda.threadIdx.x] = x

    types = (float32[::1],)
    assert "x[32]" in barrier.inspect("c", types)
    assert "x[64]" in barrier.inspect("c", types, block=64)
    with pytest.raises(LaunchError, match="at most 1024"):
        barrier.inspect("c", types, block=2000)


@kernel
def counts_all_first(count, out):
    i = cuda.grid(1)
    if cuda.atomic.add(count, 0, 1) >= 0 and i < 20:
        out[i] = 1


@kernel
def counts_all_before_it_returns(count, out):
    i = cuda.grid(1)
    cuda.atomic.add(count, 0, 1)
    before = cuda.atomic.add(count, 1, 1)
    if i >= 20 or before < 0:
        return
    out[i] = 1


@device
def recorded(count):
    count[cuda.threadIdx.x] = 1
    return True


@kernel
def notes_all_first(count, out):
    i = cuda.grid(1)
    if recorded(count) and i < 20:
        out[i] = 1


@pytest.mark.parametrize("k", [counts_all_first, counts_all_before_it_returns, notes_all_first])
def test_what_has_an_effect_is_done_by_those_that_a_later_guard_ends(k, target):
    arguments = np.zeros(33, np.int32), np.zeros(66, np.int32)
    for got, expected in zip(
        run(k, (2, 33), arguments, target), run(k, (2, 33), arguments, "python")
    ):
        assert got.tolist() == expected.tolist()
