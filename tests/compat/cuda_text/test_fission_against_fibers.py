"""CUDA C kernels give the same results with loop fission and on fibers."""

from __future__ import annotations

import functools
import shutil

import numpy as np
import pytest

from pycu2c.base.diagnostics import CompileError
from pycu2c.compat.cuda_text import TextModule, cpu_build
from pycu2c.compat.cuda_text.host_source import generate_host_source
from support import random_cuda_text
from support.c_compilers import needed
from support.cuda_text import launch

# What stands before a kernel, and its body after DECLARED.
DECLARED = """int t = threadIdx.x, at = blockIdx.x * 64 + t;
    __shared__ float s[64];
    s[t] = x[at];
    __syncthreads();
    """
CASES = {
    "a thread that has returned in a loop": ("", """for (int i = 0; i < 4; i++) {
        if (threadIdx.x == i) return;
        y[blockIdx.x * 64 + threadIdx.x] += 1;
        __syncthreads();
    }"""),
    "a reference": ("", """float &q = s[t];
    __syncthreads();
    q = t;
    __syncthreads();
    y[at] = s[63 - t];"""),
    "a part of a vector": ("", """float2 v, &w = v;
    v.x = t;
    __syncthreads();
    w.x += 1;
    y[at] = v.x;"""),
    "an address that is cast": ("", """float4 v = make_float4(t, 1, 2, 3);
    float *p = (float *)&v;
    __syncthreads();
    p[1] += s[t];
    y[at] = v.y;"""),
    "an object with its own address": (
        "struct V { float a[2]; float *p; __device__ void set(float z) { a[1] = z; p = a; } };",
        "V v; v.set(t); __syncthreads(); v.p[1] += s[t]; __syncthreads(); y[at] = v.a[1];",
    ),
    "an object with a destructor": (
        "struct G { float *p; __device__ G(float *q) : p(q) {} __device__ ~G() { *p = 7; } };",
        "{ G g(&s[t]); __syncthreads(); y[at] = s[63 - t]; __syncthreads(); } y[at] += s[t];",
    ),
    "an array by another name": (
        "using Row = float[3];",
        "Row v; v[1] = t; float *p = v; __syncthreads(); p[1] += 1; y[at] = v[1];",
    ),
    "an array by a macro": (
        "#define A v",
        "float v[2]; v[0] = t; float *p = A; __syncthreads(); p[0] += 1; y[at] = v[0];",
    ),
    "shared memory by a macro": (
        "#define SHARED __shared__",
        "SHARED float q[64]; q[t] = t; __syncthreads(); y[at] = q[63 - t];",
    ),
    "aligned shared memory": (
        "__device__ float q[64];",
        "__align__(16) __shared__ float q[64]; q[t] = t; __syncthreads(); y[at] = q[63 - t];",
    ),
    "a thread by a macro": (
        "#define WHO threadIdx.x\n__device__ int who() { return WHO; }",
        "__syncthreads(); y[at] = who() + s[63 - t];",
    ),
    "a macro that declares": (
        "typedef float real;\n#define DECLARE(a) real a = 0",
        "int q = 3; { DECLARE(q); q += t; __syncthreads(); y[at] = q; } y[at] += q;",
    ),
    "a macro before a loop": ('#define UNROLL _Pragma("unroll")', """int q = 3;
    { UNROLL for (int i = 0; i < 3; i++) s[t] += i; int q = t; __syncthreads(); y[at] = q; }"""),
    "an attribute": ("", "int q = 3; { [[maybe_unused]] int q = t; __syncthreads(); y[at] = q; }"),
    "an alignment": ("", "int q = 1; { alignas(16) int q = t; __syncthreads(); y[at] = q; }"),
    "names bound to parts": ("", """float a = 1, b = 2;
    if (n == 5) { auto [a, b] = make_float2(t, t + 1); __syncthreads(); y[at] = a + b; }"""),
    "a constant that is cast": ("", """int m = n;
    const_cast<int &>(m) = t;
    __syncthreads();
    y[at] = m;"""),
    "a type that is asked for": ("#include <type_traits>", """int m = n * 2;
    y[at] = std::is_same<decltype(m), int>::value ? 1 : 2;
    __syncthreads();"""),
    "its own line": ("", "y[at] = __LINE__; __syncthreads(); y[at] += __LINE__;"),
    "a reference to an own": ("", """float a[4] = {1, 2, 3, 4}, &q = a[1];
    q += t;
    __syncthreads();
    q += s[0];
    __syncthreads();
    y[at] = a[1] + q;"""),
    "a name that a template has": ("template <int N> __device__ int g() { return N; }", """
    __shared__ int N;
    N = 7; int m = N; N = 9; y[at] = m + N;"""),
    "a division after a return": ("", """int m = n - 5;
    if (m == 0) { y[at] = 2; return; }
    int q = 100 / m;
    y[at] = q;"""),
    "a whole number that is returned": (
        "__device__ int f(float v) { __syncthreads(); v *= 2.5f; return v; }",
        "float v = f(s[t] * 9); y[at] = v;",
    ),
    "a float that is returned": (
        "__device__ float f(int v) { __syncthreads(); return v / 3.0; }",
        "double v; v = f(t); y[at] = (v - (float)v) * 1e9 + 1;",
    ),
}  # fmt: skip


def text_of(name: str) -> str:
    before, body = CASES[name]
    head = 'extern "C" __global__ void k(float *x, int n, float *y)'
    return f"{before}\n{head} {{\n    {DECLARED * ('threadIdx' not in body)}{body}\n}}\n"


def found(text: str) -> np.ndarray:
    x, y = np.random.default_rng(3).random(3 * 64, dtype=np.float32), np.zeros(192, np.float32)
    launch(text, "cpu", x, 5, y, grid=3, block=64)
    return y


@pytest.mark.parametrize("name", CASES)
def test_fission_and_fibers_give_the_same_results(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = found(text_of(name))
    as_written = functools.partial(generate_host_source, rewrites=False)
    monkeypatch.setattr(
        cpu_build, "generate_host_source", lambda *arguments, **_: as_written(*arguments)
    )
    assert np.array_equal(split, found(text_of(name)))
    assert split.any()


def test_an_instance_that_is_written_apart_is_the_one_that_runs() -> None:
    text = """template <class T> __global__ void k(int *y) { y[threadIdx.x] = 1; }
template <> __global__ void k<int>(int *y) { y[threadIdx.x] = 2; }
"""
    module = TextModule(text, backend="cpu", name_expressions=("k<int>", "k<float>"))
    y = np.zeros(4, np.int32)
    module.function("k<int>").launch(1, 2, (y,), 0)
    module.function("k<float>").launch(1, 1, (y,), 0)
    assert y.tolist() == [1, 2, 0, 0]


@pytest.mark.parametrize(
    "statement", ["atomicMin(&s[0], 2.0f)", "atomicInc(&n[0], 2u)", "atomicAdd(&w[0], 2)"]
)
def test_atomics_on_shared_memory_take_what_those_on_other_memory_do(statement: str) -> None:
    text = f"""extern "C" __global__ void k() {{
    __shared__ float s[4]; __shared__ int n[4]; __shared__ short w[4];
    {statement};
}}"""
    with pytest.raises(CompileError, match=":3:"):
        TextModule(text, backend="cpu", name="mine.cu").code()


@pytest.mark.parametrize("first", range(0, 24, 8))
def test_random_kernels(first: int) -> None:
    wrong, ways = random_cuda_text.different(range(first, first + 8))
    assert not wrong
    assert len(set(ways)) > 1  # some are split


def test_an_unclosed_block_is_reported_by_the_compiler() -> None:
    text = 'extern "C" __global__ void k(float *x) { __syncthreads(); x[0] = 1;'
    with pytest.raises(CompileError, match=":1:"):
        TextModule(text, backend="cpu", name="mine.cu").code()


@pytest.mark.parametrize("name", ["g++", "clang++"])
@pytest.mark.parametrize(("end", "place"), [("", ":1:40"), (" float y[(2];", ":1:77")])
def test_the_bracket_that_nothing_closes_is_shown(
    name: str, end: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed(shutil.which(name), name)
    monkeypatch.setenv("PYCU2C_CXX", name)
    text = 'extern "C" __global__ void k(float *x) { __syncthreads(); x[0] = 1;' + end
    with pytest.raises(CompileError) as caught:
        TextModule(text, backend="cpu", name="mine.cu").code()
    assert str(caught.value).splitlines()[1].endswith(f"mine.cu{place}")
    assert "stdin" not in str(caught.value)
