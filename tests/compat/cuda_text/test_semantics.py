"""CUDA C has the same meaning on the CPU as on a GPU: barriers, warps, memory, functions."""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

from pycu2c import DeadlockError
from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.compat.cuda_text import TextModule
from support.cuda_text import BACKENDS, launch, output_of

LANES = np.arange(32, dtype=np.int32)
FULL = 0xFFFFFFFF


def of_lanes(expression: str, backend: str, *, block: int = 32, before: str = "") -> np.ndarray:
    """The value of an expression in each thread of a block, whose number is t."""
    text = f"""extern "C" __global__ void k(int *out) {{
    int t = threadIdx.x; {before}
    out[t] = {expression};
}}"""
    return output_of(text, backend, block, np.int32, block=block)


# ---- threads ----------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("waits", ["", "__syncthreads();"])
def test_coordinates(backend: str, waits: str) -> None:
    text = f"""__global__ void k(unsigned *out) {{
    {waits}
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
    unsigned w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
    out[x + w * (y + h * z)] = x + 100 * y + 10000 * z;
}}"""
    out = output_of(text, backend, 6 * 10 * 8, np.uint32, grid=(2, 5, 4), block=(3, 2, 2))
    z, y, x = np.meshgrid(range(8), range(10), range(6), indexing="ij")
    assert np.array_equal(out.reshape(8, 10, 6), x + 100 * y + 10000 * z)


@pytest.mark.parametrize("backend", BACKENDS)
def test_parameters_of_every_kind(backend: str) -> None:
    text = """struct Pair { short a; double b; };
extern "C" __global__ void k(double *out, char c, short s, long long l, float f, Pair p, bool b,
                             unsigned char u, float3 v, const double *in) {
    double all[] = {(double)c, (double)s, (double)l, f, (double)p.a, p.b, (double)b, (double)u,
                    v.x, v.y, v.z, in[0]};
    for (int i = 0; i < 12; i++) out[i] = all[i];
}"""
    pair = np.dtype([("a", "i2"), ("b", "f8")], align=True)
    float3 = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])
    record = np.array((-3, 0.25), pair)[()]
    vector = np.array((1, 2, 3), float3)[()]
    source = np.array([7.5])
    out = output_of(
        text,
        backend,
        12,
        np.float64,
        -1,
        -2,
        2**40,
        1.5,
        record,
        True,
        200,
        vector,
        source,
        block=1,
    )
    assert out.tolist() == [-1, -2, 2**40, 1.5, -3, 0.25, 1, 200, 1, 2, 3, 7.5]


# ---- shared memory and barriers ---------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("declared", ["__shared__ float s[256];", "extern __shared__ float s[];"])
def test_reduction_in_shared_memory(backend: str, declared: str) -> None:
    text = f"""extern "C" __global__ void k(float *out, const float *in) {{
    {declared}
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (int step = blockDim.x / 2; step; step /= 2) {{
        if (t < step) s[t] += s[t + step];
        __syncthreads();
    }}
    if (t == 0) out[blockIdx.x] = s[0];
}}"""
    data = np.arange(256 * 9, dtype=np.float32)
    shared = 1024 if "extern" in declared else 0
    out = output_of(text, backend, 9, np.float32, data, grid=9, block=256, shared=shared)
    assert np.array_equal(out, data.reshape(9, 256).sum(1))


@pytest.mark.parametrize("backend", BACKENDS)
def test_dynamic_shared_memory_of_several_kinds(backend: str) -> None:
    text = """extern __shared__ __align__(16) unsigned char outside[];
template <class T> __device__ T *memory() { return reinterpret_cast<T *>(outside); }
extern "C" __global__ void k(double *out) {
    extern __shared__ double rows[][4];
    int t = threadIdx.x;
    rows[t][t % 4] = t;
    __syncthreads();
    out[t] = memory<double>()[4 * (7 - t) + (7 - t) % 4];
}"""
    out = output_of(text, backend, 8, np.float64, block=8, shared=8 * 32)
    assert out.tolist() == list(range(7, -1, -1))


@pytest.mark.parametrize("backend", BACKENDS)
def test_barriers_that_count(backend: str) -> None:
    before = "int c = __syncthreads_count(t % 3 == 0), a = __syncthreads_and(t < 40);"
    before += "int o = __syncthreads_or(t == 41), e = __syncthreads_or(0);"
    out = of_lanes("c + 1000 * !!a + 2000 * !!o + 4000 * !!e", backend, block=48, before=before)
    assert set(out.tolist()) == {16 + 2000}


@pytest.mark.parametrize("backend", BACKENDS)
def test_threads_that_have_returned_are_not_waited_for(backend: str) -> None:
    text = """extern "C" __global__ void k(int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (threadIdx.x >= 40) return;
    atomicAdd(&sum, 1);
    __syncthreads();
    out[threadIdx.x] = sum;
}"""
    out = output_of(text, backend, 64, np.int32, block=64)
    assert out.tolist() == [40] * 40 + [0] * 24


def test_a_deadlock_is_reported() -> None:
    text = """extern "C" __global__ void k(int *out) {
    if (threadIdx.x < 5) __syncthreads();
    __shfl_sync(0xffffffff, 1, 0);
    __syncthreads();
}"""
    with pytest.raises(DeadlockError) as result:
        output_of(text, "cpu", 1, np.int32, grid=2)
    lines = str(result.value).splitlines()
    assert lines[0] == "k would never end: no thread can make progress"
    assert "threads 0-4 wait in __syncthreads" in lines[1]
    assert lines[1].endswith(":2")
    assert "threads 5-31 wait in a function of the warp with mask 0xffffffff" in lines[2]
    assert of_lanes("__syncthreads_count(1)", "cpu").tolist() == [32] * 32  # and others run


# ---- warps ------------------------------------------------------------------------------------

WARPS = {
    "__shfl_sync(0xffffffff, t * 10, (t + 1) % 32)": (LANES + 1) % 32 * 10,
    "__shfl_sync(0xffffffff, t, 3, 8)": LANES // 8 * 8 + 3,
    "__shfl_up_sync(0xffffffff, t, 2)": np.where(LANES < 2, LANES, LANES - 2),
    "__shfl_down_sync(0xffffffff, t, 3, 16)": np.where(LANES % 16 > 12, LANES, LANES + 3),
    "__shfl_xor_sync(0xffffffff, t, 5)": LANES ^ 5,
    "__any_sync(0xffffffff, t == 7)": LANES * 0 + 1,
    "!!__all_sync(0xffffffff, t < 32)": LANES * 0 + 1,
    "__all_sync(0xffffffff, t < 31)": LANES * 0,
    "__uni_sync(0xffffffff, t < 31)": LANES * 0,
    "__uni_sync(0xffffffff, t < 32)": LANES * 0 + 1,
    "__uni_sync(0xffffffff, t > 32)": LANES * 0 + 1,
    "__popc(__ballot_sync(0xffffffff, t % 4 == 1))": LANES * 0 + 8,
    "__popc(__match_any_sync(0xffffffff, t % 5))": np.bincount(LANES % 5)[LANES % 5],
    "__reduce_add_sync(0xffffffff, t)": LANES * 0 + 496,
    "__reduce_max_sync(0xffffffff, t - 40)": LANES * 0 - 9,
    "__reduce_xor_sync(0xffffffff, (unsigned)t)": LANES * 0,
    "__popc(__activemask())": LANES * 0 + 32,
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("expression", WARPS)
def test_warps(backend: str, expression: str) -> None:
    out = of_lanes(expression, backend)
    assert np.array_equal(out, WARPS[expression])


@pytest.mark.parametrize("backend", BACKENDS)
def test_parts_of_a_warp_synchronize(backend: str) -> None:
    before = """int v = 0;
    if (t < 8) v = __shfl_sync(0xff, t, 7) + (__activemask() == 0xffu) * 100;
    else { v = __shfl_down_sync(0xffffff00u, t, 1); __syncwarp(0xffffff00u); }"""
    out = of_lanes("v", backend, before=before)
    assert out.tolist() == [107] * 8 + [*range(9, 32), 31]


@pytest.mark.parametrize("backend", BACKENDS)
def test_match_all(backend: str) -> None:
    before = "int p, q; unsigned m = __match_all_sync(0xffffffff, 5, &p);"
    before += "unsigned n = __match_all_sync(0xffffffff, t / 31, &q);"
    out = of_lanes("(m == 0xffffffffu) + 2 * p + 4 * (n == 0) + 8 * q", backend, before=before)
    assert set(out.tolist()) == {7}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("kind", ["float", "double", "long long", "unsigned"])
def test_a_warp_sums_numbers_of_every_type(backend: str, kind: str) -> None:
    text = f"""extern "C" __global__ void k({kind} *out) {{
    {kind} v = threadIdx.x * 3;
    for (int d = 16; d; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = v;
}}"""
    dtype = {"float": "f4", "double": "f8", "long long": "i8", "unsigned": "u4"}[kind]
    out = output_of(text, backend, 4, dtype, block=128)
    assert out.tolist() == [3 * sum(range(32 * w, 32 * w + 32)) for w in range(4)]


# ---- atomics ----------------------------------------------------------------------------------

ATOMICS = {
    "atomicAdd(a, t)": ("int", 5, 5 + 496),
    "atomicSub(a, t)": ("int", 5, 5 - 496),
    "atomicMin(a, t - 7)": ("int", 5, -7),
    "atomicMax(a, t)": ("int", 5, 31),
    "atomicAnd(a, ~(1 << t % 4))": ("int", 255, 240),
    "atomicOr(a, 1 << t)": ("unsigned", 0, 2**32 - 1),
    "atomicXor(a, 1u << t)": ("unsigned", 1, 2**32 - 2),
    "atomicInc(a, 9)": ("unsigned", 0, 2),
    "atomicDec(a, 9)": ("unsigned", 0, 8),
    "atomicAdd(a, (unsigned long long)t << 33)": ("unsigned long long", 1, (496 << 33) + 1),
    "atomicMax(a, (long long)t << 40)": ("long long", 1, 31 << 40),
    "atomicAdd(a, 0.5f)": ("float", 1, 17),
    "atomicAdd(a, 0.25)": ("double", 1, 9),
    "atomicExch(a, 4.0f)": ("float", 1, 4),
    "atomicCAS(a, t, t + 1)": ("int", 0, None),
    "atomicAdd_block(a, 1)": ("int", 0, 32),
    "atomicAdd_system(a, 1)": ("int", 0, 32),
}
DTYPES = {
    "int": "i4", "unsigned": "u4", "float": "f4", "double": "f8", "long long": "i8",
    "unsigned long long": "u8",
}  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("expression", ATOMICS)
def test_atomics(backend: str, expression: str) -> None:
    kind, start, end = ATOMICS[expression]
    text = f'extern "C" __global__ void k({kind} *a) {{ int t = threadIdx.x; {expression}; }}'
    array = np.array([start], DTYPES[kind])
    launch(text, backend, array)
    assert 1 <= array[0] <= 32 if end is None else array[0] == end


@pytest.mark.parametrize("backend", BACKENDS)
def test_atomics_of_many_blocks(backend: str) -> None:
    text = """__device__ int total;
extern "C" __global__ void k(int *bins, double *sum) {
    __shared__ int own[16];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[threadIdx.x % 16], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
    atomicAdd(sum, 0.5);
    atomicAdd(&total, 1);
}"""
    module = TextModule(text, backend=backend)
    bins, total = np.zeros(16, np.int32), np.zeros(1)
    module.function("k").launch(500, 128, (bins, total))
    assert set(bins.tolist()) == {4000}
    assert total[0] == 32000
    assert module.variable("total")[1] == 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_lock_in_a_block(backend: str) -> None:
    """A thread that waits for another lets it run."""
    text = """extern "C" __global__ void k(int *out, int *lock) {
    for (bool done = false; !done;) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            out[0] = out[0] + 1;
            __syncwarp(1u << threadIdx.x % 32);
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}"""
    out, lock = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(text, backend, out, lock, grid=4, block=64)
    assert out[0] == 256


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_last_block_sums_up(backend: str) -> None:
    text = """__device__ unsigned arrived;
extern "C" __global__ void k(float *out, volatile float *parts) {
    __shared__ bool is_last;
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = blockIdx.x;
        __threadfence();
        is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; i++) sum += parts[i];
        out[0] = sum;
    }
}"""
    out = output_of(text, backend, 1, np.float32, np.zeros(100, np.float32), grid=100)
    assert out[0] == 4950


# ---- cooperative groups -----------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_groups(backend: str) -> None:
    text = """#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void k(int *out) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
    int v = block.thread_rank();
    for (int d = tile.size() / 2; d; d /= 2) v += tile.shfl_down(v, d);
    block.sync();
    int all = cg::reduce(tile, 1, cg::plus<int>());
    out[block.thread_rank()] = tile.thread_rank() == 0 ? v : -all;
}"""
    out = output_of(text, backend, 64, np.int32, block=64).reshape(8, 8)
    assert out[:, 0].tolist() == [sum(range(8 * i, 8 * i + 8)) for i in range(8)]
    assert set(out[:, 1:].ravel().tolist()) == {-8}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_grid_synchronizes(backend: str) -> None:
    text = """#include <cooperative_groups.h>
using namespace cooperative_groups;
extern "C" __global__ void k(int *out, int *parts) {
    __shared__ int mine;
    if (threadIdx.x == 0) mine = blockIdx.x;
    parts[blockIdx.x] = blockIdx.x + 1;
    this_grid().sync();
    int other = parts[(blockIdx.x + 1) % gridDim.x];
    this_grid().sync();
    parts[blockIdx.x] = other;
    this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = 100 * mine + parts[(blockIdx.x + 1) % gridDim.x];
}"""
    parts = np.zeros(8, np.int32)
    out = output_of(text, backend, 8, np.int32, parts, grid=8, cooperative=True)
    assert out.tolist() == [100 * i + (i + 2) % 8 + 1 for i in range(8)]


def test_grid_barriers_require_a_cooperative_launch() -> None:
    text = """#include <cooperative_groups.h>
extern "C" __global__ void k(int *out) {
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0) cooperative_groups::this_grid().sync();
}"""
    with pytest.raises(
        LaunchError, match=r"k has a barrier of the whole grid, .*:3: launch it coop"
    ):
        output_of(text, "cpu", 1, np.int32, grid=2)
    output_of(text, "cpu", 1, np.int32, grid=2, cooperative=True)  # others have returned


@pytest.mark.skipif(sys.platform != "linux", reason="counts the mappings of a process of Linux")
def test_stacks_of_many_threads_are_unmapped_after_the_launch() -> None:
    """Linux limits the mappings of a process; beyond, no library can be loaded."""
    text = """#include <cooperative_groups.h>
extern "C" __global__ void k(int *out) {
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0) out[blockIdx.x] = 1;
}"""

    def mappings() -> int:
        return len(Path("/proc/self/maps").read_text().splitlines())

    before = mappings()
    out = output_of(text, "cpu", 64, np.int32, grid=64, block=128, cooperative=True)
    assert out.tolist() == [1] * 64
    assert mappings() < before + 8192


# ---- functions --------------------------------------------------------------------------------

FUNCTIONS = {
    "min(3, 2u) + max(1.5f, 2.5)": 4.5,
    "__popc(255) + __clz(1) + __ffs(8) + __popcll(~0ull) + __clzll(1ll)": 8 + 31 + 4 + 64 + 63,
    "__brev(1u) == 0x80000000u": 1,
    "__mulhi(1 << 30, 16) + __umulhi(1u << 31, 4u)": 6,
    "__byte_perm(0x03020100u, 0x07060504u, 0x7531u) == 0x07050301u": 1,
    "__funnelshift_l(0x80000000u, 1u, 1)": 3,
    "__dp4a(0x01020304, 0x01010101, 5)": 15,
    "rsqrtf(4.0f) + rsqrt(16.0) + cbrtf(8.0f)": 2.75,
    "__fdividef(1.0f, 4.0f) + __saturatef(3.0f)": 1.25,
    "__fadd_ru(1.0f, 1e-20f) > 1.0f": 1,
    "__fmaf_rn(2.0f, 3.0f, 4.0f) + __dmul_rd(2.0, 4.0)": 18,
    "__float2int_rn(2.5f) + __float2int_ru(2.1f) + __double2int_rz(-1.5)": 4,
    "__int_as_float(0x3f800000) + __float_as_int(1.0f) / 1e9": 1 + 0x3F800000 / 1e9,
    "__longlong_as_double(0x4000000000000000ll)": 2,
    "erfinv(0.5) + normcdf(0.0)": 0.4769362762044699 + 0.5,
    "sinpi(0.5) + cospif(1.0f)": 0,
    "exp10(2.0) + exp2f(3.0f)": 108,
    "hypot(3.0, 4.0) + rhypotf(3.0f, 4.0f)": 5.2,
    'fminf(nanf(""), 2.0f) + fmax(1.0, nan(""))': 3,
    "copysignf(3.0f, -0.0f) + fdim(5.0, 3.0)": -1,
    "make_float4(1, 2, 3, 4).w + make_int2(5, 6).y + make_uchar3(7, 8, 9).z": 19,
    "(double)sizeof(float4) + alignof(float4) + sizeof(double3) + sizeof(dim3)": 16 + 16 + 24 + 12,
    "dim3(4).y + dim3(1, 2, 3).z + warpSize": 36,
    '(double)isnan(nan("")) + isinf(-log(0.0)) + signbit(-1.0)': 3,
    "abs(-3) + fabsf(-2.0f) + abs(-1.5)": 6.5,
    "__ldg(&table[2]) + __ldcg(&table[1])": 50,
    "atan2(1.0, 1.0) * 4": math.pi,
    "(double)__half2float(__float2half(1.0009765625f))": 1.0009765625,
    "(float)(half(1.5f) * half(2.0f) + half(0.25f))": 3.25,
    "tgamma(5.0) + lgamma(1.0)": 24,
    "__expf(0.0f) + __logf(1.0f) + __powf(2.0f, 3.0f) + __sinf(0.0f)": 9,
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("expression", FUNCTIONS)
def test_functions(backend: str, expression: str) -> None:
    include = "#include <cuda_fp16.h>\n" if "half" in expression else ""
    text = f"""{include}__constant__ double table[3] = {{10, 20, 30}};
extern "C" __global__ void k(double *out) {{ out[0] = {expression}; }}"""
    assert output_of(text, backend, 1, np.float64, block=1)[0] == pytest.approx(
        FUNCTIONS[expression], rel=1e-6, abs=1e-7
    )


# ---- texts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_templates_and_namespaces(backend: str) -> None:
    text = """namespace own { template <class T, int N> __global__ void scaled(T *x) {
    __shared__ T s[N];
    s[threadIdx.x % N] = N;
    __syncthreads();
    x[threadIdx.x] = x[threadIdx.x] * s[0];
}
__global__ void plain(int *x) { x[0] = 7; } }"""
    names = ("own::scaled<float, 2>", "own::scaled<long long, 3>")
    module = TextModule(text, backend=backend, name_expressions=names)
    for name, dtype, factor in zip(names, ("f4", "i8"), (2, 3)):
        array = np.arange(4).astype(dtype)
        module.function(name).launch(1, 4, (array,))
        assert array.tolist() == [factor * i for i in range(4)]
    one = np.zeros(1, np.int32)
    module.function("own::plain").launch(1, 1, (one,))
    assert one[0] == 7
    with pytest.raises(LookupError, match="name_expressions"):
        module.function("own::scaled<int, 2>")


@pytest.mark.parametrize("backend", BACKENDS)
def test_macros_choose_kernels(backend: str) -> None:
    text = """#if N == 1
extern "C" __global__ void k(int *x) { x[0] = 1; }
#else
extern "C" __global__ void k(int *x) { x[0] = N; }
#endif"""
    for n in (1, 5):
        assert output_of(text, backend, 1, np.int32, options=(f"-DN={n}",))[0] == n


@pytest.mark.parametrize("backend", BACKENDS)
def test_variables_are_those_of_the_module(backend: str) -> None:
    text = """__constant__ float factors[3] = {1, 2, 3};
__device__ int calls = 5;
namespace own { __device__ double inner; }
extern "C" __global__ void k(float *x) { x[threadIdx.x] *= factors[threadIdx.x]; calls++; }
extern "C" __global__ void other(int *x) { x[0] = calls; }"""
    module = TextModule(text, backend=backend)
    x, calls = np.ones(3, np.float32), np.zeros(1, np.int32)
    module.function("k").launch(1, 3, (x,))
    module.function("other").launch(1, 1, (calls,))
    assert x.tolist() == [1, 2, 3]
    assert calls[0] > 5
    assert module.variable("factors")[1] == 12
    with pytest.raises(LookupError, match="no variable nothing"):
        module.variable("nothing")


def test_an_assert_ends_the_launch(capfd: pytest.CaptureFixture[str]) -> None:
    text = """extern "C" __global__ void k(int *x) {
    assert(threadIdx.x < 3);
    x[threadIdx.x] = 1;
}"""
    with pytest.raises(RuntimeError, match="assert"):
        output_of(text, "cpu", 4, np.int32, block=4)
    said = capfd.readouterr().err
    assert "block: [0,0,0], thread: [3,0,0] Assertion `threadIdx.x < 3` failed." in said


def test_printf_writes(capfd: pytest.CaptureFixture[str]) -> None:
    text = """extern "C" __global__ void k(int *x) { printf("%d of %s\\n", threadIdx.x, "all"); }"""
    output_of(text, "cpu", 1, np.int32, block=2)
    assert capfd.readouterr().out == "0 of all\n1 of all\n"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('asm("nop;");', "inline PTX"),
        ("x[0] = __vadd4(1, 2);", "SIMD functions of words"),
        ("inner<<<1, 1>>>(x);", "launches from kernels"),
    ],
)
def test_functions_missing_on_the_cpu_are_named(line: str, what: str) -> None:
    text = f'__global__ void inner(int *x);\nextern "C" __global__ void k(int *x) {{\n  {line}\n}}'
    with pytest.raises(CompileError) as result:
        output_of(text, "cpu", 1, np.int32)
    assert what in str(result.value)
    assert result.value.line == 3


@pytest.mark.parametrize("backend", ["cpu", "nvrtc"])
def test_a_mistake_is_shown_where_it_is(backend: str) -> None:
    text = 'extern "C" __global__ void k(float *x) {\n\tx[0] = missing(3);\n}'
    module = TextModule(text, backend="cpu")
    with pytest.raises(CompileError) as result:
        module.code() if backend == "cpu" else module.cubin("sm_90")
    lines = str(result.value).splitlines()
    assert lines[2].endswith("| \tx[0] = missing(3);")
    assert lines[3].partition("^^^^^^^")[0].endswith("| \t       ")
    assert result.value.line == 2


def test_arguments_that_do_not_fit_are_rejected() -> None:
    text = 'extern "C" __global__ void k(float *x, int n, float f, const float *in) {}'
    k = TextModule(text, backend="cpu").function("k")
    x = np.zeros(4, np.float32)
    frozen = x.copy()
    frozen.flags.writeable = False
    k.launch(1, 1, (x, 3, 1, frozen))
    k.launch(1, 1, (x, np.int64(3), np.float32(2), None))
    wrong = {
        r"k takes 4 arguments \(x, n, f, in\), 3 given": (x, 3, 1.0),
        r"argument 2 \(n\) is `int n`, an integer of 4 bytes, .* a float: pass an int": (
            x,
            1.5,
            1,
            x,
        ),
        r"argument 2 \(n\) has 4 bytes, which cannot hold": (x, 2**32, 1, x),
        r"argument 3 \(f\) .* a numpy.float64: pass a float": (x, 1, np.float64(1), x),
        r"argument 1 \(x\) .* is a float": (1.0, 1, 1, x),
        r"argument 3 \(f\) .* is a ndarray": (x, 1, x, x),
        r"argument 1 \(x\) is read-only, and the kernel may write it": (frozen, 1, 1, x),
        r"argument 4 \(in\) is a list": (x, 1, 1, [1]),
    }
    for message, arguments in wrong.items():
        with pytest.raises(LaunchError, match=message):
            k.launch(1, 1, arguments)


def test_launches_of_impossible_shapes_are_rejected() -> None:
    k = TextModule('extern "C" __global__ void k(int *x) {}', backend="cpu").function("k")
    for grid, block, shared in ((0, 1, 0), (1, 2000, 0), (1, (1, 1, 65), 0), (1, 1, 300000)):
        with pytest.raises(LaunchError):
            k.launch(grid, block, (np.zeros(1, np.int32),), shared)


def test_launches_like_one_before_take_the_short_way() -> None:
    text = 'extern "C" __global__ void k(float *x, int n, double d) { x[0] += n * d; }'
    k = TextModule(text, backend="cpu").function("k")
    x = np.zeros(1, np.float32)
    for _ in range(40):
        k.launch((1,), (1,), (x, 2, 0.5))
    assert x[0] == 40
    assert k._dispatch_table is not None
    configuration = k._configurations[(1,), (1,), 0, None]
    assert k._dispatch_table.launch(configuration, (x, 2, 0.5))
    assert not k._dispatch_table.launch(configuration, (x, 2.5, 0.5))
    with pytest.raises(LaunchError):
        k.launch((1,), (1,), (x, 2.5, 0.5))


def test_structures_of_ctypes_and_pointers() -> None:
    class Pair(ctypes.Structure):
        _fields_ = (("a", ctypes.c_int), ("b", ctypes.c_float))

    text = """struct Pair { int a; float b; };
extern "C" __global__ void k(float *x, Pair p, const float *in) { x[0] = p.a + p.b + in[1]; }"""
    x, data = np.zeros(1, np.float32), np.array([1, 2], np.float32)
    launch(text, "cpu", x.ctypes.data, Pair(3, 0.5), data.ctypes.data)
    assert x[0] == 5.5
    packed = np.frombuffer(struct.pack("if", 4, 0.25), [("a", "i4"), ("b", "f4")])[0]
    launch(text, "cpu", x, packed, data)
    assert x[0] == 6.25


# ---- halves -----------------------------------------------------------------------------------

PAIRS = {  # of pairs a and b, as numpy's arrays of two
    "__hadd2(a, b)": lambda a, b: a + b,
    "__hsub2(a, b)": lambda a, b: a - b,
    "__hmul2(a, b)": lambda a, b: a * b,
    "__h2div(a, b)": lambda a, b: a / b,
    "a * b + __float2half2_rn(0.5f)": lambda a, b: a * b + np.float16(0.5),
    "__hfma2(a, b, b)": lambda a, b: (a.astype(float) * b + b).astype(np.float16),
    "__hmax2(a, __hneg2(b))": lambda a, b: np.maximum(a, -b),
    "__hmin2(__habs2(a), b)": lambda a, b: np.minimum(abs(a), b),
    "__hlt2(a, b)": lambda a, b: (a < b).astype(np.float16),
    "__hne2(a, a)": lambda a, b: a * 0,
    "__halves2half2(__high2half(a), __low2half(b))": lambda a, b: np.array([a[1], b[0]]),
    "__lowhigh2highlow(a)": lambda a, b: a[::-1],
    "__lows2half2(a, b)": lambda a, b: np.array([a[0], b[0]]),
    "__highs2half2(a, b)": lambda a, b: np.array([a[1], b[1]]),
    "__half2half2(__high2half2(a).x)": lambda a, b: a[[1, 1]],
    "__floats2half2_rn(__low2float(a), __high2float(b))": lambda a, b: np.array([a[0], b[1]]),
    "__float22half2_rn(__half22float2(a))": lambda a, b: a,
    "h2sqrt(__habs2(a))": lambda a, b: np.sqrt(abs(a)),
    "h2floor(a)": lambda a, b: np.floor(a),
    "h2rint(a)": lambda a, b: np.rint(a),
    "make_half2(hceil(a.x), htrunc(a.y))": lambda a, b: np.array([np.ceil(a[0]), np.trunc(a[1])]),
    "make_half2(__hbgt2(b, a), __hbeq2(a, a))": lambda a, b: np.float16([(b > a).all(), 1]),
    "make_half2(__half2int_rn(b.x), __half2uint_rz(b.y))": lambda a, b: np.float16(
        [np.rint(b[0]), np.trunc(b[1])]
    ),
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_pairs_of_halves(backend: str) -> None:
    rows = [f"out[{k}] = {expression};" for k, expression in enumerate(PAIRS)]
    text = f"""#include <cuda_fp16.h>
extern "C" __global__ void k(__half2 *out, const __half2 *in) {{
    const __half2 a = in[0], b = in[1];
    {" ".join(rows)}
}}"""
    a, b = np.float16([-1.7, 2.6]), np.float16([3.3, 1.2])
    out = np.zeros((len(PAIRS), 2), np.float16)
    module = TextModule(text, backend=backend)
    assert "entry k(" in module.inspect("ptx")
    module.function("k").launch((1, 1, 1), (1, 1, 1), (out, np.stack([a, b])), 0)
    for (expression, expected), result in zip(PAIRS.items(), out):
        assert result.tolist() == expected(a, b).tolist(), expression


@pytest.mark.parametrize("backend", BACKENDS)
def test_bfloats(backend: str) -> None:
    text = """#include <cuda_bf16.h>
template <class T> __device__ T scaled(T x, float by) { return x * T(by); }
extern "C" __global__ void k(__nv_bfloat16 *out, const __nv_bfloat16 *x, float *wide) {
    const int i = threadIdx.x;
    const __nv_bfloat162 pair = __halves2bfloat162(x[i], __float2bfloat16(1.00390625f));
    __nv_bfloat16 sum = scaled(x[i], 3.0f);
    sum += __hmul2(pair, pair).y;
    out[i] = __hgt(x[i], __float2bfloat16(0.0f)) ? sum : __hneg(sum);
    wide[i] = __bfloat162float(__hfma(x[i], x[i], x[i])) + __low2float(pair);
}"""
    module = TextModule(text, backend=backend)
    assert "entry k(" in module.inspect("ptx")
    floats = np.float32([1, -2, 0.3, 1e30, 1e-3])
    bits = (floats.view(np.uint32) >> 16).astype(np.uint16)
    x = (bits.astype(np.uint32) << 16).view(np.float32)
    out, wide = np.zeros(5, np.uint16), np.zeros(5, np.float32)
    module.function("k").launch((1, 1, 1), (5, 1, 1), (out, bits, wide), 0)
    result = (out.astype(np.uint32) << 16).view(np.float32)
    assert result == pytest.approx(np.where(x > 0, 3 * x + 1, -3 * x - 1), rel=2**-7)
    few = x[:3]
    assert wide[:3] == pytest.approx(few * few + few + few, rel=2**-7)
