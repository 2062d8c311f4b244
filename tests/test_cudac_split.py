"""Kernels in CUDA C text run split where their threads meet, where the text shows how: with the
results of threads that have a stack each."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from cuda_c import launched
from pycu2c.cudac import Module, on_cpu
from pycu2c.cudac.host_text import Way, generated
from pycu2c.cudac.texts import Text

# Bodies of kernels k(float *x, int n, float *y): blocks of 8 × 8 or 64 or 40 threads, 3 of them.
SPLIT = {
    "a tile": """__shared__ float tile[64];
    int t = T, at = blockIdx.x * 64 + t;
    tile[t] = x[at];
    __syncthreads();
    y[at] = tile[63 - t];""",
    "a reduction": """__shared__ float s[64];
    const unsigned int t = T;
    s[t] = t < n ? x[64 * blockIdx.x + t] : 0;
    __syncthreads();
    for (int step = 32; step > 0; step >>= 1) {
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0) y[blockIdx.x] = s[0];""",
    "steps that are computed": """__shared__ float s[2][64];
    int t = T, from = 0, to = 1;
    s[from][t] = x[64 * blockIdx.x + t];
    for (int d = 1; d < 64; d *= 2) {
        __syncthreads();
        s[to][t] = s[from][t] + (t >= d ? s[from][t - d] : 0.0f);
        from = 1 - from;
        to = 1 - to;
    }
    __syncthreads();
    y[64 * blockIdx.x + t] = s[from][t];""",
    "sums that live across": """__shared__ float row[64];
    int t = T;
    float sum = 0, parts[2] = {1, 2};
    for (int r = 0; r < 3; ++r) {
        row[t] = x[64 * r + t];
        __syncthreads();
        for (int i = 0; i < 64; i++) sum += row[i] * (i % 8 == t % 8), parts[i % 2] += row[i];
        __syncthreads();
    }
    y[64 * blockIdx.x + t] = sum + parts[t % 2];""",
    "pointers into what threads have": """__shared__ float row[64];
    int t = T;
    float own[3], one = 4, *p = own, *q = &one;
    for (int i = 0; i < 3; i++) p[i] = x[64 * i + t];
    row[t] = own[1];
    __syncthreads();
    p[1] += row[63 - t];
    *q += p[2];
    __syncthreads();
    y[64 * blockIdx.x + t] = own[1] + one;""",
    "pointers that all threads have": """__shared__ float row[64];
    int t = T;
    float *mine = x + 64 * blockIdx.x;
    row[t] = mine[t];
    __syncthreads();
    mine -= 64 * blockIdx.x;
    y[64 * blockIdx.x + t] = mine[t] + row[(t + 1) % 64];""",
    "parameters that change": """__shared__ float row[64];
    int t = T;
    x += 64 * blockIdx.x;
    y += 64 * blockIdx.x + t;
    n -= t;
    row[t] = x[t];
    __syncthreads();
    *y = row[63 - t] + n;""",
    "threads that return": """__shared__ float row[64];
    int t = T;
    row[t] = 0;
    __syncthreads();
    if (t % 5 == 2) return;
    for (int r = 0; r < 4; r++) {
        atomicAdd(&row[(t + r) % 64], 1.0f);
        __syncthreads();
        if (t == 10 + r) { y[64 * blockIdx.x + t] = -1; return; }
        if (t > n) return;
    }
    y[64 * blockIdx.x + t] = row[t];""",
    "all threads return": """int t = T;
    for (int r = 0; true; r++) {
        y[64 * blockIdx.x + t] = r;
        if (r == 7) return;
        __syncthreads();
    }""",
    "loops that end early": """__shared__ float row[64];
    int t = T, r = 0;
    row[t] = x[t];
    while (true) {
        __syncthreads();
        float v = row[(t + 1) % 64];
        if (r == blockIdx.x) { r++; continue; }
        __syncthreads();
        row[t] = v;
        if (++r > n / 16) break;
    }
    y[64 * blockIdx.x + t] = row[t] + r;""".replace("if (++r > n / 16) break;", "r++; if (r > n / 16) break;"),
    "do": """__shared__ float row[64];
    int t = T, r = 3;
    row[t] = x[t];
    do {
        __syncthreads();
        float v = row[(t + r) % 64];
        __syncthreads();
        row[t] = v + r;
        r--;
    } while (r > 0);
    y[64 * blockIdx.x + t] = row[t];""",
    "conditions of blocks": """__shared__ float row[64];
    int t = T;
    row[t] = t;
    if (blockIdx.x == 1) {
        __syncthreads();
        y[64 + t] = row[63 - t];
    } else if (blockIdx.x == 2) {
        int t = threadIdx.x;
        __syncthreads();
        y[128 + t] = row[t] + 1;
    } else y[t] = 5;""",
    "names that hide others": """__shared__ float row[64];
    int t = T, n2 = n * 2;
    row[t] = x[t];
    __syncthreads();
    {
        int n2 = t * t;
        for (int t = 0; t < 3; t++) n2 += t;
        row[t] += n2;
    }
    __syncthreads();
    for (int t = 0; t < n / 32; t++) { __syncthreads(); row[threadIdx.x] += threadIdx.y == 0 ? t : 0; }
    y[64 * blockIdx.x + t] = row[t] + n2;""",
    "a scalar in shared memory": """__shared__ unsigned int count;
    __shared__ float list[64];
    int t = T;
    if (t == 0) count = 0;
    __syncthreads();
    if (x[64 * blockIdx.x + t] > 0.5f) list[atomicAdd(&count, 1)] = floorf(99 * x[64 * blockIdx.x + t]);
    __syncthreads();
    if (t == 0) for (int i = 0; i < count; i++) y[64 * blockIdx.x] += list[i];
    if (t == 1) y[64 * blockIdx.x + 1] = count;""",
    "shuffles": """int t = T;
    float v = x[64 * blockIdx.x + t];
    #pragma unroll
    for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
    float w = __shfl_sync(0xFFFFFFFFu, v, 0) + __shfl_up_sync(~0u, v, 3, 8);
    w = max(w, __shfl_xor_sync(FULL, w, 5, 16));
    y[64 * blockIdx.x + t] = w;""",
    "votes": """int t = T;
    bool large = x[64 * blockIdx.x + t] > 0.5f;
    unsigned lanes = __ballot_sync(0xffffffff, large);
    int some = __any_sync(0xffffffff, t == 40), all = __all_sync(0xffffffff, t < 32);
    int count = __syncthreads_count(large), each = __syncthreads_and(t < 60);
    int one = __syncthreads_or(t == 33);
    __syncwarp();
    y[64 * blockIdx.x + t] = __popc(lanes) + 100 * !!some + 200 * !!all + 400 * count + !!each + 2 * !!one;""",
    "sums of warps": """int t = T;
    int sum = __reduce_add_sync(0xffffffff, t), least = __reduce_min_sync(FULL, t - 9);
    y[64 * blockIdx.x + t] = sum + 10000 * least;""",
    "lanes that have returned": """int t = T;
    if (t % 3 == 1) return;
    int v = __shfl_down_sync(0xffffffff, t, 1);
    y[64 * blockIdx.x + t] = v + 100 * __popc(__ballot_sync(0xffffffff, 1));""",
}  # fmt: skip
# loops that might be run by each thread for itself
TURNED = {
    "a matrix product": """int row = T / 8, column = T % 8;
    if (row < n && column < n / 8) {
        float sum = 0.0f;
        for (int i = 0; i < n; i++) sum += x[row * 8 + i] * x[i * 2 + column];
        y[64 * blockIdx.x + T] = sum;
    } else {
        float sum = 1.0f;
        for (int i = 3; i < n; i++) { sum += x[i]; sum *= x[i + 1]; }
        y[64 * blockIdx.x + T] = sum;
    }""",
    "after a return": """if (T > 60) return;
    float most = -1, at = 0;
    for (int i = 0; i < n; i += 2) most = max(most, x[(i * T) % 192]), at += most;
    y[64 * blockIdx.x + T] = at;
    if (T > 50) return;
    y[64 * blockIdx.x + T] += T;""",
    "loops in loops": """float sum = 0;
    for (int i = 0; i < n / 8; i++) {
        float part = 0;
        for (int j = i; j < n; j++) part += x[j + T];
        sum += part * i;
    }
    y[64 * blockIdx.x + T] = sum;""",
    "conditions in conditions": """float sum = 0;
    if (T % 2) {
        if (T % 3) { for (int i = 0; i < n; i++) { sum += x[i] * T; } } else { sum = 7; return; }
        sum += 1;
    }
    y[64 * blockIdx.x + T] = sum;""",
    "bounds of each thread": """float sum = 0;
    int m = T;
    for (int i = 0; i < m; i++) sum += x[i];
    y[64 * blockIdx.x + T] = sum;""",
    "a bound that changes": """float sum = 0;
    for (int i = 0; i < n; i++) { sum += x[i]; n -= T % 2; }
    y[64 * blockIdx.x + T] = sum;""",
    "one variable for loops of some": """float sum = 0;
    int i = 0;
    if (T % 2) for (i = 1; i < n; i++) sum += x[i];
    y[64 * blockIdx.x + T] = sum + i;""",
}
# and those that need stacks: who meets whom is not told by the text
OTHERS = {
    "a condition of threads": """__shared__ float row[64];
    int t = T;
    row[t] = t;
    if (t < n) { __syncthreads(); y[64 * blockIdx.x + t] = row[63 - t]; }""",
    "a condition in memory": """__shared__ int rounds;
    int t = T;
    rounds = 3;
    __syncthreads();
    while (rounds) {
        __syncthreads();
        if (t == 0) rounds--;
        y[64 * blockIdx.x + t]++;
        __syncthreads();
    }""",
    "a bound of memory": """int t = T, m = (int)*x + 2;
    for (int i = 0; i < m; i++) __syncthreads();
    y[64 * blockIdx.x + t] = m;""",
    "a count of each thread": """int t = T, m = 0;
    if (t >= 0) m = 4;
    for (int i = 0; i < m; i++) { __syncthreads(); y[64 * blockIdx.x + t] += i; }""",
    "some lanes": """int t = T, v = t;
    if (t < 32) v = __shfl_down_sync(0xffffffff, v, 1);
    y[64 * blockIdx.x + t] = v;""",
    "a mask": """int t = T;
    int v = __shfl_xor_sync(0xffu << (t % 32 / 8 * 8), t, 1);
    y[64 * blockIdx.x + t] = v;""",
    "a shuffle that some leave out": """int t = T;
    bool v = blockIdx.x == 1 && __any_sync(0xffffffff, t == 0);
    y[64 * blockIdx.x + t] = v;""",
    "a value that is changed through a reference": """int t = T, m = 3;
    set(m, t);
    __syncthreads();
    y[64 * blockIdx.x + t] = m;""",
    "a condition that warps meet in": """int t = T;
    if (__any_sync(0xffffffff, t == 5)) y[64 * blockIdx.x + t] = 1;
    while (__all_sync(0xffffffff, y[64 * blockIdx.x + t] < 3)) y[64 * blockIdx.x + t] += 1;""",
    "meetings in a function within": """int t = T;
    auto f = [=](int v) { return __shfl_sync(0xffffffff, v, 0); };
    y[64 * blockIdx.x + t] = f(t) + 1;""",
    "a macro that declares": """DECLARED;
    y[64 * blockIdx.x + mine] = 1;
    __syncthreads();
    y[64 * blockIdx.x + mine] += mine;""",
}
PARTS_OF_WARPS = ("votes", "sums of warps", "lanes that have returned", "all threads return")
BEFORE = """#define FULL 0xffffffff
#define T (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))
#define DECLARED int mine = T
__device__ int mine;
__device__ void set(int &m, int value) { m = value; }
"""
ALL = {**SPLIT, **TURNED, **OTHERS}


def text_of(body: str) -> str:
    head = 'extern "C" __global__ void k(float *x, int n, float *y)'
    return f"{BEFORE}{head} {{\n    {body}\n}}"


def found(text: str, block: Any) -> np.ndarray:
    x, y = np.random.default_rng(3).random(3 * 64, dtype=np.float32), np.zeros(192, np.float32)
    launched(text, "cpu", x, 50, y, grid=3, block=block)
    return y


@pytest.mark.parametrize("block", [(8, 8), (64, 1), (4, 2, 8)], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_split_or_not_it_is_the_same(
    name: str, block: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = found(text_of(ALL[name]), block)
    as_written = functools.partial(generated, rewrites=False)
    monkeypatch.setattr(on_cpu, "generated", lambda *given, **_: as_written(*given))
    assert np.array_equal(split, found(text_of(ALL[name]), block))
    assert split.any()


@pytest.mark.parametrize("block", [1, 31, 40, 33])
@pytest.mark.parametrize("name", PARTS_OF_WARPS)
def test_warps_that_are_not_full(name: str, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    test_split_or_not_it_is_the_same(name, block, monkeypatch)


def ways(text: str) -> list[Way]:
    code = Module(text, backend="cpu").code()
    assert isinstance(code, on_cpu.CpuCode)
    return [entry.way for entry in code.entries]


@pytest.mark.parametrize("name", [*SPLIT, *TURNED])
def test_where_the_text_tells_they_are_split(name: str) -> None:
    assert ways(text_of(ALL[name])) == [Way.SPLIT]


@pytest.mark.parametrize("name", OTHERS)
def test_where_it_does_not_threads_have_stacks(name: str) -> None:
    (way,) = ways(text_of(OTHERS[name]))
    assert way is Way.FIBERS or "reference" in name


def test_the_text_that_is_compiled_is_the_users_where_it_is_wrong() -> None:
    made = generated(Text(text_of(SPLIT["a tile"])), (), ())
    assert "pycu2c_split_k" in made.text
    assert made.entries[0].way is Way.SPLIT
