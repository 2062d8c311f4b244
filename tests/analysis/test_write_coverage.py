"""Arrays that a launch overwrites are not copied to the device before it; others are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, kernel
from pycu2c.analysis.write_coverage import find_overwritten_arrays
from pycu2c.base.index_bounds import writes_every_element
from pycu2c.declarations.signatures import parse_signature
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.runtime.cuda import memory, transfers

Case = tuple[Callable[..., None], str, bool]
CASES: list[Case] = []
VECTORS, N = "float32[::1], float32[::1], int32", 100


def case(whole: bool, signature: str = VECTORS) -> Callable[[Any], Any]:
    """A kernel of ``out``, ``a`` and ``n``: does a launch on all overwrite ``out``?"""

    def add(function: Any) -> Any:
        CASES.append((function, signature, whole))
        return function

    return add


@case(True)
def guarded(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        out[i] = a[i]


@case(True)
def guarded_by_the_length(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if len(out) > i:
        x = a[i]
        if x > 3:
            out[i] = x
        else:
            out[i] = n


@case(True)
def left(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i >= len(a):
        return
    for j in range(n):
        if a[j] > 50:
            break
    out[i] = 0
    if a[i] > 3:
        return
    out[i] = 1


@case(True)
def strided(out, a, n):  # type: ignore[no-untyped-def]
    for i in range(cuda.grid(1), len(a), cuda.gridsize(1)):
        out[i] = a[i]
        if i == 3:
            continue
        a[i] = 0


@case(True, "float32[:, ::1], float32[::1], int32")
def plane(out, a, n):  # type: ignore[no-untyped-def]
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = a[i]


@case(True, "float32[:, ::1], float32[::1], int32")
def plane_left(out, a, n):  # type: ignore[no-untyped-def]
    j, i = cuda.grid(2)
    if out.shape[0] <= i or j >= out.shape[1]:
        return
    out[i, j] = a[i]


@case(True, "int64[::1], int64[::1], int8")
def narrow_bound(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        out[np.int64(i)] = a[i]


@case(False)
def read_too(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        out[i] = out[i] + a[i]


@case(False)
def added_to(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        old = cuda.atomic.add(out, i, 1)
        out[i] = old + a[i]


@device
def first_of(b):  # type: ignore[no-untyped-def]
    return b[0]


@case(False)
def read_elsewhere(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        out[i] = first_of(out)


@case(False)
def only_some(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n and a[i] > 3:
        out[i] = a[i]


@case(False)
def one_branch(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        if a[i] > 3:
            out[i] = a[i]


@case(False)
def another_element(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        out[i // 2] = a[i]


@case(False)
def not_the_first(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i > 0 and i < n:
        out[i] = a[i]


@case(False)
def moved(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if a[0] < 3:
        i = 7
    if i < n:
        out[i] = a[i]


@case(False)
def moved_bound(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    n = n // 2
    if i < n:
        out[i] = a[i]


@case(False)
def halved_bound(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n // 2:
        out[i] = a[i]


@case(False)
def cut_bound(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < np.int8(n + 200):
        out[i] = a[i]


@case(False, "float32[::1], float32[::1], int64")
def cut_index(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        out[np.int8(i) // np.int8(1) * 0 + np.int8(i) % np.int8(64)] = a[i]


@case(False)
def left_before(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i >= n:
        return
    if a[i] > 3:
        return
    out[i] = 0


@case(False)
def left_on_the_way(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        for j in range(n):
            if a[j] > 3:
                return
        out[i] = 0


@case(False)
def loop_that_breaks(out, a, n):  # type: ignore[no-untyped-def]
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = a[i]
        if a[i] < 100:
            break


@case(False)
def loop_that_goes_on(out, a, n):  # type: ignore[no-untyped-def]
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        if a[i] > 3:
            continue
        out[i] = a[i]


@case(False)
def loop_of_steps(out, a, n):  # type: ignore[no-untyped-def]
    for i in range(cuda.grid(1), n, 2 * cuda.gridsize(1)):
        out[i] = a[i]


@case(False)
def loop_not_run(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < n:
        while a[i] > 3:
            out[i] = 0
            break


@case(False, "float32[:, ::1], float32[::1], int32")
def diagonal(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i, i] = a[i]


@case(False, "float32[:, ::1], float32[::1], int32")
def both_of_one_axis(out, a, n):  # type: ignore[no-untyped-def]
    for i in range(cuda.grid(1), 10, cuda.gridsize(1)):
        for j in range(cuda.grid(1), 10, cuda.gridsize(1)):
            out[i, j] = a[i]


@case(False, "float32[:, ::1], float32[::1], int32")
def one_row(out, a, n):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < out.shape[1]:
        out[0, i] = a[i]


def arrays_for(signature: str) -> tuple[np.ndarray, np.ndarray]:
    dtype = np.int64 if "int64[" in signature else np.float32
    out = np.zeros((10, 10) if ":, ::1" in signature else N, dtype)
    return out, (np.arange(N) % 7).astype(dtype)


def threads_for(function: Any, signature: str) -> tuple[Any, Any]:
    if ":, ::1" in signature:
        return (1, 1), (16, 16)
    return (1, 32) if "loop" in function.__name__ or function is strided else (2, 64)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_overwritten_arrays(case: Case) -> None:
    function, signature, whole = case
    out, a = arrays_for(signature)
    k = kernel(backend="cpu")(function)
    result = find_overwritten_arrays(k.launcher.compiler.build(parse_signature(signature)).module)
    ofs = [o for o in result if o.argument == 0]
    grid, block = threads_for(function, signature)
    threads = [16, 16, 1] if out.ndim == 2 else [grid * block, 1, 1]
    said = any(writes_every_element(o, [out.shape, a.shape, ()], [0, 0, N], threads) for o in ofs)
    assert said == whole
    results = []
    for before in (55, 77):
        filled = np.full_like(out, before)
        k[grid, block](filled, a.copy(), N)
        results.append(filled)
    assert np.array_equal(*results) == whole, "what was there before makes a difference"


FEW = [
    ([64, 1, 1], N, False, "threads"),
    ([128, 1, 1], N - 1, False, "bound"),
    ([128, 1, 1], -1, False, "bound"),
    ([128, 1, 1], 1 << 63, False, "bound"),
    ([100, 1, 1], 1 << 20, True, ""),
]


@pytest.mark.parametrize(("threads", "n", "whole", "why"), FEW)
def test_a_launch_may_not_reach_the_end(threads: list[int], n: int, whole: bool, why: str) -> None:
    k = kernel(backend="cpu")(guarded)
    (result,) = find_overwritten_arrays(k.launcher.compiler.build(parse_signature(VECTORS)).module)
    assert writes_every_element(result, [(N,), (N,), ()], [0, 0, n], threads) == whole


def test_a_bound_that_is_no_integer() -> None:
    k = kernel(backend="cpu")(guarded)
    module = k.launcher.compiler.build(
        parse_signature("float32[::1], float32[::1], float32")
    ).module
    assert not find_overwritten_arrays(module)


# ---- what is copied ------------------------------------------------------------------------------


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of copies to a device, which is the host."""
    sizes: list[int] = []
    monkeypatch.setattr(memory, "DeviceMemory", memory.HostMemory)
    monkeypatch.setattr(transfers.staging, "copy_in", lambda *call: sizes.append(call[2]))
    monkeypatch.setattr(transfers.staging, "copy_out", lambda *call: None)
    monkeypatch.setattr(transfers.driver, "synchronize", lambda *call: None)
    return sizes


def copies_of(*arrays: Any, overwritten: set[int], copied: list[int]) -> list[int]:
    described = [describe(a) for a in arrays]
    with transfers.stage_arguments(described, {0}, 0, "k", overwritten):  # type: ignore[arg-type]
        pass
    return sorted(copied)


def test_overwritten_arrays_are_not_copied_in(copied: list[int]) -> None:
    x, y = np.zeros(4), np.zeros(6)
    assert copies_of(x, y, overwritten={0}, copied=copied) == [48]


def test_views_of_one_array_are_copied_in(copied: list[int]) -> None:
    base = np.zeros(10)
    assert copies_of(base[:8], base[4:], overwritten={0}, copied=copied) == [80]


def test_an_array_passed_twice_is_copied_in(copied: list[int]) -> None:
    base = np.zeros(10)
    assert copies_of(base, base, overwritten={0, 1}, copied=copied) == [80]


@pytest.mark.parametrize("part", [np.s_[::2], np.s_[::-1]])
def test_bytes_in_gaps_are_copied_in(part: Any, copied: list[int]) -> None:
    assert copies_of(np.zeros(9)[part], overwritten={0}, copied=copied) == [72]
