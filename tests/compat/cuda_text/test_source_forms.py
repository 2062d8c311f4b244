"""CUDA C in the styles that programs use, on every backend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pycu2c.base.diagnostics import CompileError
from pycu2c.compat import cuda_text
from pycu2c.compat.cuda_text import TextModule
from pycu2c.compat.cuda_text.parse.functions import functions_in
from pycu2c.compat.cuda_text.parse.tokens import tokens_of
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.cuda_text.wait_detection import WaitAnalysis
from support.cuda_text import BACKENDS, output_of

HEADERS = Path(cuda_text.__file__).with_name("headers")

PARTS = {
    "dynamic shared memory": """extern __shared__ int reversed_[];
__device__ int turned(int value) {
    reversed_[7 - threadIdx.x] = value;
    __syncthreads();
    return reversed_[7 - threadIdx.x];
}
__global__ void k(int *x) { x[threadIdx.x] = turned(10 * threadIdx.x); }
""",
    "headers of CUDA's": """#pragma once
#include <cuda_runtime.h>
#include "ten.cuh"
__global__ void k(int *x) {
    auto times = [] __device__ (int n) { return TEN * n; };
    x[threadIdx.x] = times(threadIdx.x);
}
""",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("part", PARTS)
def test_kernels_in_files_that_are_included(backend: str, part: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    held = PARTS[part] if backend == "cpu" else PARTS[part].replace("[] __device__", "[]")
    (tmp_path / "parts" / "kernels.cuh").write_text(held)  # NVRTC has lambdas without the word
    (tmp_path / "parts" / "ten.cuh").write_text("#define TEN 10\n")
    text = '#include "parts/kernels.cuh"\n#include <parts/kernels.cuh>\n'
    text = text if "once" in PARTS[part] else text.splitlines()[1]
    module = TextModule(text, options=(f"-I{tmp_path}",), backend=backend)
    x = np.zeros(8, np.int32)
    module.function("k").launch((1, 1, 1), (8, 1, 1), (x,), 32)
    assert x.tolist() == [10 * t for t in range(8)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_kernels_by_the_names_that_linkers_have(backend: str) -> None:
    text = """template <class T, int N> __global__ void add(T *x, const int n) { x[0] += N * n; }
template __global__ void add<float, 3>(float *, const int);
template __global__ void add<double, 4>(double *, const int);
namespace other { __global__ void set(float *x, float2 v) { x[0] = v.y; } }
__global__ void scale(float *x, const float *y) { x[0] *= y[0]; }
"""
    module = TextModule(text, backend=backend)
    x, y = np.zeros(1, np.float32), np.zeros(1)
    for name, values in (
        ("_Z3addIfLi3EEvPT_i", (x, 2)),
        ("_Z3addIdLi4EEvPT_i", (y, 2)),
        ("_Z5scalePfPKf", (x, np.float32([5]))),
    ):
        module.function(name).launch((1, 1, 1), (1, 1, 1), values, 0)
    assert (x[0], y[0]) == (30, 8)
    vector = np.array((1, 7), [("x", "f4"), ("y", "f4")])
    module.function("_ZN5other3setEPf6float2").launch((1, 1, 1), (1, 1, 1), (x, vector), 0)
    assert x[0] == 7
    for name in ("_Z5scalePd", "_Zzz", "_Z3addIiLi4EEvPT_i") if backend == "cuda" else ("_Zzz",):
        with pytest.raises(LookupError):
            module.function(name)


def test_what_the_cpu_does_not_have_is_shown_where_line_says_it_is() -> None:
    text = '#line 7 "user.cu"\n__global__ void k(int *x) {\n  asm("nop;");\n}\n'
    with pytest.raises(CompileError) as caught:
        TextModule(
            text, backend="cpu", quoted_sources={"user.cu": "\n" * 7 + '  asm("nop;");\n'}
        ).compile()
    assert (caught.value.file, caught.value.line) == ("user.cu", 8)
    assert '8 |   asm("nop;");' in str(caught.value)


# each gives 10 * t in thread t of 8
HEADS = {
    "static": "static __global__ void k(int *x)",
    "qualifiers in another order": "void __global__ k(int *x)",
    "bounds before the name": "__global__ void __launch_bounds__(128, 2) k(int *x)",
    "bounds before the type": "__launch_bounds__(64) __global__ void k(int *x)",
    "an attribute": "__global__ __attribute__((used)) void k(int *x)",
    "restrict": 'extern "C" __global__ void k(int *__restrict__ x)',
    "an array": 'extern "C" __global__ void k(int x[])',
    "comments": 'extern "C" /* ( */ __global__ // {\n void k(/* } */ int *x)',
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("head", HEADS)
def test_heads_of_kernels(backend: str, head: str) -> None:
    text = f"{HEADS[head]} {{ x[threadIdx.x] = 10 * threadIdx.x; }}"
    assert output_of(text, backend, 8, np.int32, block=8).tolist() == [10 * t for t in range(8)]


BODIES = {
    "a class": """struct Ten {
    int by;
    __host__ __device__ explicit Ten(int n) : by(n) {}
    __device__ __forceinline__ int times(int n) const { return by * n; }
};
extern "C" __global__ void k(int *x) { x[threadIdx.x] = Ten(10).times(threadIdx.x); }""",
    "a lambda": """template <class F> __device__ int applied(F f, int n) { return f(n); }
extern "C" __global__ void k(int *x) {
    int ten = 10;
    x[threadIdx.x] = applied([=](int n) { return ten * n; }, threadIdx.x);
}""",
    "overloads and defaults": """__device__ int times(int a, int b = 10) { return a * b; }
__device__ float times(float a) { return a; }
extern "C" __global__ void k(int *x) { x[threadIdx.x] = times((int)threadIdx.x); }""",
    "a union in shared memory": """extern "C" __global__ void k(int *x) {
    __shared__ union { float f[8]; int i[8]; } u;
    u.i[threadIdx.x] = 10 * threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = u.i[threadIdx.x];
}""",
    "several in one declaration": """extern "C" __global__ void k(int *x) {
    __shared__ volatile int a[8], b[8][2], c;
    int t = threadIdx.x;
    if (t == 0) c = 3;
    a[t] = 7 * t, b[t][1] = 3;
    __syncthreads();
    x[t] = a[t] + b[7 - t][1] * t + c - 3;
}""",
    "a loop that is unrolled": """extern "C" __global__ void k(int *x) {
    int sum = 0;
#pragma unroll
    for (int i = 0; i < 10; ++i) sum += threadIdx.x;
    x[threadIdx.x] = sum;
}""",
    "switch and goto": """extern "C" __global__ void k(int *x) {
    switch (threadIdx.x) {
    case 0: x[0] = 0; return;
    default: goto end;
    }
end:
    x[threadIdx.x] = 10 * threadIdx.x;
}""",
    "recursion": """__device__ int sum(int n, int t) { return n ? t + sum(n - 1, t) : 0; }
extern "C" __global__ void k(int *x) { x[threadIdx.x] = sum(10, threadIdx.x); }""",
    "a barrier in a function": """__device__ int shared_ten(int t) {
    __shared__ int ten;
    if (t == 3) ten = 10;
    __syncthreads();
    return ten;
}
extern "C" __global__ void k(int *x) { x[threadIdx.x] = shared_ten(threadIdx.x) * threadIdx.x; }""",
    "a barrier in a macro": """#define MEET() __syncthreads()
extern "C" __global__ void k(int *x) {
    x[threadIdx.x] = 0;
    MEET();
    x[(threadIdx.x + 1) % 8] = 10 * ((threadIdx.x + 1) % 8);
}""",
    "a barrier in a class": """struct Block { __device__ void meet() const { __syncthreads(); } };
template <class B> __device__ void all(B block) { block.meet(); }
extern "C" __global__ void k(int *x) {
    x[threadIdx.x] = 0;
    all(Block());
    x[7 - threadIdx.x] = 10 * (7 - threadIdx.x);
}""",
    "constants": """enum Kind { TEN = 10 };
constexpr int N = 8;
__device__ const int ONE = 1;
typedef unsigned int uint;
using number = int;
extern "C" __global__ void k(number *x) {
    for (uint i = threadIdx.x; i < N; i += blockDim.x) x[i] = TEN * i * ONE;
}""",
    "pointers": """extern "C" __global__ void k(void *x) {
    int *p = reinterpret_cast<int *>(x) + threadIdx.x, n = 10 * threadIdx.x;
    *p = n;
}""",
    "vectors": """extern "C" __global__ void k(int2 *x) {
    if (threadIdx.x < 4) x[threadIdx.x] = make_int2(20 * threadIdx.x, 20 * threadIdx.x + 10);
}""",
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("body", BODIES)
def test_bodies_of_kernels(backend: str, body: str) -> None:
    out = output_of(BODIES[body], backend, 8, np.int32, block=8)
    assert out.tolist() == [10 * t for t in range(8)]


def test_loops_find_the_variables_of_their_thread_made() -> None:
    """Clang does not know all registers that the C library changes when it makes them."""
    text = (HEADERS / "vectors.h").read_text()
    run = text[text.index("#define PYCU2C_RUN(") :]
    assert run.index("::touch_thread_locals()") < run.index("::by(packed, first, last)")
    for name in ("void touch_thread_locals()", "void run(", "void run_split("):
        assert f"__attribute__((noinline)) static {name}" in text


def test_lambdas_may_say_that_they_are_of_the_device() -> None:
    text = BODIES["a lambda"].replace("[=](", "[=] __host__ __device__ (")  # as nvcc wants it
    assert output_of(text, "cpu", 8, np.int32, block=8).tolist() == [10 * t for t in range(8)]


@pytest.mark.parametrize("backend", BACKENDS)
def test_kernels_that_macros_make(backend: str) -> None:
    text = """#define KERNEL(name, factor) \\
    extern "C" __global__ void name(int *x) { x[threadIdx.x] = factor * threadIdx.x; }
KERNEL(tens, 10)
#define NAME hundreds
extern "C" __global__ void NAME(int *x) { x[threadIdx.x] = 100 * threadIdx.x; }
"""
    for name, factor in (("tens", 10), ("hundreds", 100)):
        x = np.zeros(4, np.int32)
        TextModule(text, backend=backend).function(name).launch(1, 4, (x,))
        assert x.tolist() == [factor * t for t in range(4)]
    with pytest.raises(LookupError, match="no kernel thousands"):
        TextModule(text, backend=backend).function("thousands")


@pytest.mark.parametrize("backend", BACKENDS)
def test_kernels_in_a_namespace_without_a_name(backend: str) -> None:
    text = """namespace { __global__ void k(int *x) { x[threadIdx.x] = 10 * threadIdx.x; } }"""
    x = np.zeros(4, np.int32)
    TextModule(text, backend=backend, name_expressions=("k",)).function("k").launch(1, 4, (x,))
    assert x.tolist() == [0, 10, 20, 30]


WAITS = {
    "__device__ void f() {} __global__ void k(int *x) { f(); }": False,
    "__device__ void f() { __syncthreads(); } __global__ void k(int *x) { f(); }": True,
    "__device__ void f() { __syncthreads(); } __global__ void k(int *x) {}": False,
    "__global__ void k(int *x) { atomicAdd(x, 1); }": False,
    "__global__ void k(int *x) { while (atomicCAS(x, 0, 1)) {} }": True,
    "#define F __syncwarp()\n__global__ void k(int *x) { F; }": True,
    "struct S { __device__ S() { __syncthreads(); } };\n__global__ void k(int *x) { S s; }": True,
    "struct S { __device__ S() { __syncthreads(); } };\nusing T = S;\n"
    "__global__ void k(int *x) { T t; }": True,
    "struct S { __device__ S operator+(S) { __syncthreads(); return *this; } };\n"
    "template <class T> __global__ void k(int *x, T t) { t = t + t; }": True,
    '#include "other.cuh"\n__global__ void k(int *x) {}': True,
    "template <class F> __global__ void k(int *x, F f) { f(); }": False,
}


@pytest.mark.parametrize("text", WAITS)
def test_which_kernels_may_wait(text: str) -> None:
    assert WaitAnalysis(CudaSource(text), ()).may_wait("k") is WAITS[text]


def test_functions_are_found() -> None:
    text = """#include <x.h> // (
namespace a::b { inline namespace c { struct S { int f(int x) { return x; } }; } }
template <> __global__ void one<float, 3>(const float *p, S<int, 2> s = {1, 2}) noexcept {}
__device__ int table[] = {1, 2};
__global__ void declared(int);
if_this(is, a, macro) { }
"""
    result = {f.path: f for f in functions_in(tokens_of(text)) if f.is_kernel}
    assert list(result) == ["one<float,3>"]
    p, s = result["one<float,3>"].parameters
    assert (p.name, p.is_read_only, s.name) == ("p", True, "s")
