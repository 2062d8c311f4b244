"""The assumptions that hold for a launch, and that the compiled code relies on."""

from __future__ import annotations

import enum

import numpy as np
import pytest

from pycu2c import cuda, int64, kernel, uint64
from pycu2c.base.types import WEAK_INT
from pycu2c.base.values import assumed_magnitude_limit
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.assumption_checks import CheckedLaunch, check_assumptions
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import KernelMetadata
from support.launching import run

SMALL = Launch((10, 1, 1), (32, 1, 1), None, 0)


def is_index32_safe(value, launch=SMALL, kind=WEAK_INT):
    is_array = isinstance(value, np.ndarray)
    limit = None if is_array else assumed_magnitude_limit(kind)
    limits = {} if limit is None else {0: limit}
    leaf = describe(value) if is_array else value
    checked = CheckedLaunch("cuda", launch, (leaf,), KernelMetadata(frozenset()), limits)
    return check_assumptions(checked).index32_safe


def huge(shape, strides):
    """A view that is never looked at, of memory that is not there."""
    return (
        np.ndarray(shape, np.int8, np.empty(0, np.int8), 0, strides)
        if 0 in shape
        else (np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, strides))
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.zeros(100), True),
        (huge((2**30,), (0,)), False),
        (huge((2**15, 2**15), (0, 0)), True),
        (huge((2**10, 2**10, 2**10), (2**20, 2**10, 1)), True),
        (huge((2**15, 2**15 + 1), (0, 0)), False),
        (huge((2, 2**29), (2**29 + 1, 1)), False),
        (huge((1000,), (2**22,)), False),
        (huge((1000,), (-(2**22),)), False),
        (huge((2**31, 0), (0, 0)), False),
        (2**30 - 1, True),
        (2**30, False),
        (-(2**30), False),
        (np.int64(2**30), False),
        (np.int64(-(2**63)), False),
        (np.uint64(2**63), False),
        (np.int8(-128), True),
        (2.0**30, False),  # for a parameter that is declared to be an int
        (huge((2**31,), (1,)), False),
        (huge((2**31, 2), (0, 1)), False),
        (huge((3, 0), (1, 1)), False),
        (huge((2**31 - 1,), (1,)), False),
        (huge((2**30 - 1,), (1,)), True),
    ],
)
def test_index32_safe_arguments(value, expected):
    assert is_index32_safe(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(2**40, True), (2**63 - 2**48, True), (2**63 - 2**47, False), (-(2**63), False)],
)
def test_an_int64_is_index32_safe_but_near_the_ends_of_its_type(value, expected):
    assert is_index32_safe(np.int64(value), kind=int64) is expected
    assert is_index32_safe(np.uint64(abs(value)), kind=uint64)


@pytest.mark.parametrize(
    ("grid", "block", "expected"),
    [
        ((2**22 - 1, 1, 1), (256, 1, 1), True),
        ((2**22, 1, 1), (256, 1, 1), False),
        ((2**22, 1, 1), (1, 1, 1), True),
        ((2**22 + 1, 1, 1), (1, 1, 1), False),
    ],
)
def test_index32_safe_grids(grid, block, expected):
    assert is_index32_safe(np.zeros(1), Launch(grid, block, None, 0)) is expected


@kernel
def squared(n, out):
    out[0] = n * n
    out[1] = n // 3


class Size(enum.IntEnum):
    LARGE = 2**31


@pytest.mark.parametrize("signature", [None, "void(int, int64[::1])", "void(int64, int64[::1])"])
@pytest.mark.parametrize(
    "n", [2**31, -(2**31), Size.LARGE, np.int64(2**31), np.int64(-(2**31)), np.uint32(2**31)]
)
def test_a_large_number_of_any_type_keeps_its_64_bits(n, signature, target):
    declared = kernel(squared.python, signature=signature) if signature else squared
    if signature is None and isinstance(n, np.uint32):
        n = np.int64(n)  # by itself it would wrap
    result = run(declared, (1, 1), [n, np.zeros(2, np.int64)], target)[1]
    assert result.tolist() == [int(n) ** 2, int(n) // 3]


@kernel
def flat(a, width, out):
    column, row = cuda.grid(2)
    if column < width and row < len(out):
        place = row * width + column
        a[place] += 1
        cuda.atomic.add(out, row, a[row * width + column] + min(place, 1))


def test_launches_of_both_kinds_agree(target):
    """A large number or an empty array asks for the general variant."""
    for width, rows, expected in ((3, 2, [5, 6]), (2**30, 1, [5]), (3, 0, [])):
        arguments = [np.zeros(6, np.int64), width, np.zeros(rows, np.int64)]
        assert run(flat, ((1, 1), (3, 2)), arguments, target)[2].tolist() == expected


@kernel
def strided_loop(n, step, out):
    for i in range(cuda.grid(1), n, step):
        cuda.atomic.add(out, 0, 1)
        out[1] = i


@pytest.mark.parametrize(("n", "step"), [(10, 3), (2**31 - 1, 2**30), (2**31 - 1, 2**31 - 2)])
def test_int32_arguments_of_both_variants(n: int, step: int, target: str) -> None:
    """Near its end an int32 asks for the general variant: ``i += step`` exceeds the type."""
    arguments = [np.int32(n), np.int32(step), np.zeros(2, np.int64)]
    steps = range(0, n, step)
    assert run(strided_loop, (1, 1), arguments, target)[2].tolist() == [len(steps), steps[-1]]


@kernel
def grid_stride(n, out):
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] += 1


def test_a_loop_to_an_int32_counts_in_32_bits() -> None:
    text = grid_stride.inspect("cuda", "void(int32, int64[::1])")
    assert "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += " in text


# ---- more than 2**31 elements ------------------------------------------------------------------

BEYOND = 2**31 + 5


@kernel
def ends(a, out):
    i = cuda.grid(1)
    out[i, 0] = len(a)
    out[i, 1] = a[len(a) - 1 - i] + a[-1 - i]
    count = 0
    for _k in range(0, len(a), 2**28):
        count += 1
    out[i, 2] = count


def test_a_view_of_one_element_may_be_long(target):
    """Its strides are 0: it needs no memory."""
    a = huge((BEYOND,), (0,))
    a_given = np.lib.stride_tricks.as_strided(np.full(1, 3, np.int8), a.shape, a.strides)
    arguments = [a_given, np.zeros((2, 3), np.int64)]
    fresh = kernel(ends.python, backend=target)
    fresh[1, 2](*arguments)
    assert arguments[1].tolist() == [[BEYOND, 6, 9]] * 2


@kernel
def marked(a, out):
    i = cuda.grid(1)
    if len(a) - 4 <= i < len(a):
        a[i] = i - len(a)
    if i == len(a):
        out[0] = i
        out[1] = cuda.gridsize(1)


@pytest.mark.gpu
def test_arrays_and_grids_beyond_32_bits():
    """Takes 2 GiB on the device and on the host."""
    a, out = np.zeros(BEYOND, np.int8), np.zeros(2, np.int64)
    blocks = BEYOND // 1024 + 1
    kernel(marked.python, backend="cuda")[blocks, 1024](a, out)
    assert a[-5:].tolist() == [0, -4, -3, -2, -1]
    assert not a[: 2**20].any()
    assert out.tolist() == [BEYOND, blocks * 1024]


# ---- arrays that overlap -----------------------------------------------------------------------

MEMORY = np.arange(100.0, dtype=np.float32)


@pytest.mark.parametrize(
    ("read", "written", "expected"),
    [
        (MEMORY[:50], MEMORY[50:], True),
        (MEMORY[:51], MEMORY[50:], False),
        (MEMORY[50:0:-1], MEMORY[:2], False),
        (MEMORY, MEMORY, False),
    ],
)
def test_distinct_arrays(read: np.ndarray, written: np.ndarray, expected: bool) -> None:
    leaves = describe(read), describe(read), describe(written)
    metadata = KernelMetadata(frozenset({2}), aliasing_matters=True)
    checked = CheckedLaunch("cuda", SMALL, leaves, metadata, {})
    assert check_assumptions(checked).distinct_arrays is expected


@kernel
def running_sums(a, out):
    i = cuda.grid(1)
    if i < out.size:
        for k in range(4):
            out[i] += a[i + k]


@kernel
def sums_in_blocks(a, out):
    i = cuda.grid(1)
    for k in range(4):
        cuda.syncthreads()
        out[i] += a[i + k]


@kernel
def doubled(a, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i] + a[i]


@pytest.mark.parametrize(
    ("tested", "expected"), [(running_sums, True), (sums_in_blocks, False), (doubled, False)]
)
def test_aliasing_matters_in_loops_of_threads_that_do_not_communicate(tested, expected):
    launcher = tested.launcher
    signature = parse_signature("void(float32[::1], float32[::1])")
    assert launcher.typed_kernel(signature).metadata.aliasing_matters is expected


def test_arrays_that_overlap_in_some_launches(target: str) -> None:
    def launched(k: Kernel, distance: int) -> np.ndarray:
        memory = np.arange(40.0, dtype=np.float32)
        k[1, 1](memory[:5], memory[distance : distance + 1])
        return memory

    tested = type(running_sums)(running_sums.python, backend=target)
    for distance in (20, 20, 2, 2, 20, 0, 2):
        expected = np.arange(40.0, dtype=np.float32)
        for k in range(4):
            expected[distance] += expected[k]
        np.testing.assert_array_equal(launched(tested, distance), expected)
