"""Loop fission of CUDA C kernels at barriers: where it is proved legal, and its results."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from pycu2c.base.diagnostics import CompileError
from pycu2c.compat.cuda_text import TextModule, cpu_build
from pycu2c.compat.cuda_text.host_source import ThreadExecution, generate_host_source
from pycu2c.compat.cuda_text.source_text import CudaSource
from support.cuda_text import launch

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
        r++;
        if (r > n / 16) break;
    }
    y[64 * blockIdx.x + t] = row[t] + r;""",
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
    for (int t = 0; t < n / 32; t++) {
        __syncthreads();
        row[threadIdx.x] += threadIdx.y + threadIdx.z == 0 ? t : 0;
    }
    y[64 * blockIdx.x + t] = row[t] + n2;""",
    "a scalar in shared memory": """__shared__ unsigned int count;
    __shared__ float list[64];
    int t = T;
    if (t == 0) count = 0;
    __syncthreads();
    float v = x[64 * blockIdx.x + t];
    if (v > 0.5f) list[atomicAdd(&count, 1)] = floorf(99 * v);
    __syncthreads();
    if (t == 0) for (int i = 0; i < count; i++) y[64 * blockIdx.x] += list[i];
    if (t == 1) y[64 * blockIdx.x + 1] = count;""",
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
    for (int i = 0; i < n; i += 2) { most = max(most, x[(i * T) % 192]); at += most; }
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
    exact = ("--fmad=false",)  # else it is the compiler's choice which sums have one rounding
    launch(text, "cpu", x, 50, y, grid=3, block=block, options=exact)
    return y


@pytest.mark.parametrize("block", [(8, 8), (64, 1), (4, 2, 8)], ids=str)
@pytest.mark.parametrize("name", ALL)
def test_split_and_unsplit_kernels_agree(
    name: str, block: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = found(text_of(ALL[name]), block)
    as_written = functools.partial(generate_host_source, rewrites=False)
    monkeypatch.setattr(
        cpu_build, "generate_host_source", lambda *arguments, **_: as_written(*arguments)
    )
    assert np.array_equal(split, found(text_of(ALL[name]), block))
    assert split.any()


def ways(text: str) -> list[ThreadExecution]:
    code = TextModule(text, backend="cpu").code()
    assert isinstance(code, cpu_build.CpuCode)
    return [entry.execution for entry in code.entries]


@pytest.mark.parametrize("name", [*SPLIT, *TURNED])
def test_kernels_are_split_where_it_is_proved_legal(name: str) -> None:
    assert ways(text_of(ALL[name])) == [ThreadExecution.SPLIT]


def test_the_same_text_is_made_each_time() -> None:
    """It is looked for on the disk."""
    names = [f"p{i}" for i in range(12)]
    changes = "".join(f"{name} += threadIdx.x; " for name in names)
    parameters = ", ".join(f"int {name}" for name in names)
    text = CudaSource(
        f"__global__ void k(int *out, {parameters}) {{ {changes} __syncthreads(); "
        f"out[threadIdx.x] = {' + '.join(names)}; }}"
    )
    assert len({generate_host_source(text, (), ()).text for _ in range(5)}) == 1


def test_loops_over_columns_are_interchanged() -> None:
    """What all threads have at once lies side by side; or they read the same."""
    for subscript in ("i * n + T", "T + n * i", "i"):
        text = text_of(f"float s = 0; for (int i = 0; i < n; i++) s += x[{subscript}]; y[T] = s;")
        assert (
            "context"
            in generate_host_source(CudaSource(text), (), ()).text.partition("pycu2c_split_k")[2]
        )
    for subscript, bound in (("T * n + i", "n"), ("i * n + T", "8"), ("i * n + T", "FULL")):
        text = text_of(
            f"float s = 0; for (int i = 0; i < {bound}; i++) s += x[{subscript}]; y[T] = s;"
        )
        assert (
            "context"
            not in generate_host_source(CudaSource(text), (), ()).text.partition("pycu2c_split_k")[
                2
            ]
        )


@pytest.mark.parametrize("name", OTHERS)
def test_other_kernels_run_on_fibers(name: str) -> None:
    (execution,) = ways(text_of(OTHERS[name]))
    assert execution is ThreadExecution.FIBERS


@pytest.mark.parametrize("words", ["static __shared__", "__shared__ static"])
def test_shared_memory_that_is_called_static(words: str) -> None:
    """Which g++ does not take twice."""
    text = f"""__device__ int first(int v) {{
    {words} int kept;
    if (threadIdx.x == 0) kept = v;
    __syncthreads();
    return kept;
}}
extern "C" __global__ void k(int *out) {{ out[threadIdx.x] = first(threadIdx.x + 5); }}"""
    out = np.zeros(8, np.int32)
    launch(text, "cpu", out, block=8)
    assert set(out.tolist()) == {5}
    made = generate_host_source(CudaSource(text), (), ()).text.partition("#line 1")[2]
    assert "static __shared__" not in made
    assert "__shared__ static" not in made


def test_messages_are_of_the_users_text() -> None:
    text = """extern "C" __global__ void k(float *x) {
    __syncthreads();
    x[threadIdx.x] = missing;
}"""
    with pytest.raises(CompileError, match=r":3:22") as raised:
        TextModule(text, backend="cpu", name="mine.cu").code()
    assert "pycu2c" not in str(raised.value)


def test_templates_are_split() -> None:
    text = """template <class T, int N> __global__ void k(T *x) {
    __shared__ T row[N];
    for (int i = 0; i < N; i++) { row[threadIdx.x] = x[threadIdx.x]; __syncthreads(); }
    x[threadIdx.x] = row[N - 1 - threadIdx.x];
}"""
    names = ["k<float, 8>", "k<int, 4>"]
    module = TextModule(text, backend="cpu", name_expressions=names)
    code = module.code()
    assert isinstance(code, cpu_build.CpuCode)
    assert [entry.execution for entry in code.entries] == [ThreadExecution.SPLIT] * 2
    x = np.arange(8, dtype=np.float32)
    module.function(names[0]).launch(1, 8, (x,))
    assert x.tolist() == [*range(7, -1, -1)]


@pytest.mark.parametrize("line", ["", '#line 10 "other.cu"\n'])
def test_lines_after_a_kernel_are_the_users(line: str) -> None:
    text = f"""{line}__global__ void other(int *x) {{ __syncthreads();
}}
extern "C" __global__ void k(int *x) {{ __syncthreads(); x[0] = __LINE__; }}"""
    out = np.zeros(1, np.int32)
    launch(text, "cpu", out)
    assert out[0] == (12 if line else 3)


@pytest.mark.parametrize("name", ["int", "unsigned", "float", "double", "long long"])
def test_atomics_on_shared_memory(name: str) -> None:
    text = f"""extern "C" __global__ void k({name} *out) {{
    __shared__ {name} s[4], one[2][3];
    __shared__ {name} bins[2][3];
    int t = threadIdx.x;
    if (t < 6) bins[t / 3][t % 3] = 1;
    __syncthreads();
    {name} old = atomicAdd(&bins[t % 2][t % 3], t);
    __syncthreads();
    if (t < 6) out[t] = bins[t / 3][t % 3];
    if (t == 0) out[6] = old;
}}"""
    dtypes = {"int": "i4", "unsigned": "u4", "float": "f4", "double": "f8", "long long": "i8"}
    out = np.zeros(7, dtypes[name])
    launch(text, "cpu", out, block=64)
    t = np.arange(64)
    bins = [1 + t[(t % 2 == i) & (t % 3 == j)].sum() for i in range(2) for j in range(3)]
    assert out.tolist() == [*bins, 1]
    assert "non_atomic::atomicAdd(&bins" in generate_host_source(CudaSource(text), (), ()).text
