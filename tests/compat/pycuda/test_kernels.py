"""PyCUDA's kernels of expressions: elementwise, reductions, scans; and its memory pools and names
of types. On the GPU, or the CPU where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycu2c.pycuda.driver as drv
from pycu2c.compat.pycuda.c_types import parse_c_args
from pycu2c.compat.pycuda.kernels import element_loops
from pycu2c.compat.pycuda.kernels import elementwise as elementwise_kernels
from pycu2c.pycuda import compiler, curandom, gpuarray, tools
from pycu2c.pycuda.elementwise import ElementwiseKernel
from pycu2c.pycuda.reduction import ReductionKernel
from pycu2c.pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from support.complex_values import FUNCTIONS, differences, special_values

RNG = np.random.default_rng(17)


# ---- elementwise -------------------------------------------------------------------------------


@pytest.fixture
def vectors() -> tuple[np.ndarray, np.ndarray]:
    x, y = (RNG.random(100_003).astype(np.float32) for _ in range(2))
    return x, y


LINEAR = ElementwiseKernel(
    "float a, float *x, float b, float *y, float *z", "z[i] = a * x[i] + b * y[i]", "linear"
)


def test_expressions(vectors: tuple[np.ndarray, np.ndarray]) -> None:
    x, y = vectors
    x_gpu, y_gpu = map(gpuarray.to_gpu, vectors)
    z_gpu = gpuarray.empty_like(x_gpu)
    LINEAR(5, x_gpu, np.float32(6), y_gpu, z_gpu)
    assert np.allclose(z_gpu.get(), 5 * x + 6 * y)
    stream = drv.Stream()
    LINEAR(1, x_gpu, 1, y_gpu, z_gpu, stream=stream)
    stream.synchronize()
    assert np.allclose(z_gpu.get(), x + y)


@pytest.mark.parametrize("name", ["slice", "range"])
def test_expressions_over_a_part(name: str) -> None:
    x = np.arange(100, dtype=np.float32)
    x_gpu = gpuarray.to_gpu(x)
    for part in (slice(3, 90, 7), slice(None), slice(90, 3, -4), slice(5, 5)):
        z_gpu, z = gpuarray.zeros_like(x_gpu), np.zeros_like(x)
        LINEAR(2, x_gpu, 0, x_gpu, z_gpu, **{name: part})
        z[part] = 2 * x[part]
        assert (z_gpu.get() == z).all()


def test_texts_around_the_expression() -> None:
    kernel = ElementwiseKernel(
        "const unsigned char *x, int *out",
        "out[i] = twice(x[i]) + offset",
        "with_parts",
        preamble="__device__ int twice(int x) { return 2 * x; }",
        loop_prep="const int offset = 100",
        after_loop="if (cta_start + tid == 0) out[0] = -1",
    )
    x = np.arange(50, dtype=np.uint8)
    out = gpuarray.zeros(50, np.int32)
    kernel(gpuarray.to_gpu(x), out)
    assert out.get()[1:].tolist() == [2 * n + 100 for n in range(1, 50)]
    assert "twice(x[i])" in kernel.text()


def test_expressions_of_complex_numbers_and_records() -> None:
    z = (RNG.random(20) + 1j * RNG.random(20)).astype(np.complex64)
    kernel = ElementwiseKernel(
        "pycuda::complex<float> *z, pycuda::complex<float> a", "z[i] = a * z[i] + conj(z[i])"
    )
    there = gpuarray.to_gpu(z)
    kernel(there, 2 + 1j)
    assert np.allclose(there.get(), (2 + 1j) * z + z.conj())
    points = gpuarray.zeros(5, gpuarray.vec.float2)
    ElementwiseKernel("float2 *p, float x", "p[i] = make_float2(x, i)")(points, 3)
    assert points.get()["x"].tolist() == [3] * 5
    assert points.get()["y"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("dtype", "number"), [("c8", "float"), ("c16", "double")])
def test_complex_functions_at_special_values(dtype: str, number: str) -> None:
    z = special_values(np.dtype(dtype))
    count = len(z)
    lines = "; ".join(f"out[{k * count} + i] = {name}(z[i])" for k, name in enumerate(FUNCTIONS))
    pointer = f"pycuda::complex<{number}> *"
    out = gpuarray.zeros((len(FUNCTIONS), count), z.dtype)
    kernel = ElementwiseKernel(f"{pointer}z, {pointer}out", lines, "functions")
    kernel(gpuarray.to_gpu(z), out, range=slice(count))
    wrong = {name: differences(name, z, r) for name, r in zip(FUNCTIONS, out.get())}
    assert not {name: found for name, found in wrong.items() if found}
    header = "#include <pycuda-complex.hpp>\n"
    parameters = f"{pointer}z, {pointer}out, int i"
    assert compiler.compile(f"{header}__global__ void k({parameters}) {{ {lines}; }}")


def test_complex_numbers_as_cuda_calls_them() -> None:
    numbers = np.complex64([3 + 4j, 1j])
    result = gpuarray.zeros(2, np.float32)
    text = "const cuFloatComplex w = cuCmulf(z[i], by); size[i] = cuCabsf(w)"
    kernel = ElementwiseKernel("cuFloatComplex *z, cuComplex by, float *size", text, "sizes")
    kernel(gpuarray.to_gpu(numbers), np.complex64(2j), result)
    assert result.get().tolist() == [10, 2]


def test_kernels_can_be_inspected() -> None:
    assert "a * x[i] + b * y[i]" in LINEAR.inspect()
    assert ".entry linear" in LINEAR.inspect("ptx")
    assert "return a+b;" in ReductionKernel(np.int32, "0", "a+b").inspect()
    assert "scan_update" in InclusiveScanKernel(np.int32, "a+b").inspect()


def test_expressions_are_c() -> None:
    for make in (
        lambda: ElementwiseKernel("float *x", abs),  # type: ignore[arg-type]
        lambda: ReductionKernel(np.int32, "0", max),  # type: ignore[arg-type]
        lambda: ReductionKernel(np.int32, "0", "a+b", abs),  # type: ignore[arg-type]
        lambda: InclusiveScanKernel(np.int32, max),  # type: ignore[arg-type]
    ):
        with pytest.raises(TypeError, match="is a Python function: write C text"):
            make()


def test_arguments_as_objects() -> None:
    arguments = [tools.VectorArg(np.float64, "x"), tools.ScalarArg(np.int32, "n")]
    there = gpuarray.zeros(5, np.float64)
    ElementwiseKernel(arguments, "x[i] = i + n")(there, 3)
    assert there.get().tolist() == [3, 4, 5, 6, 7]


def test_errors_of_expressions() -> None:
    x = gpuarray.zeros((4, 4), np.float32)
    kernel = ElementwiseKernel("float *x", "x[i] = 1")
    with pytest.raises(RuntimeError, match="vector argument"):
        ElementwiseKernel("float a", "a")
    with pytest.raises(RuntimeError, match=r"non-contiguous arrays: pass x\.copy\(\)"):
        kernel(x[:, 1:3])
    with pytest.raises(TypeError, match="array of float32, and the argument has dtype float64"):
        kernel(x.astype(np.float64))
    with pytest.raises(TypeError, match="takes 1 arguments, not 2"):
        kernel(x, x)
    with pytest.raises(TypeError, match="x is an array, and the argument is 3"):
        kernel(3)
    with pytest.raises(TypeError, match="invalid keyword"):
        kernel(x, fast=True)
    with pytest.raises(ValueError, match="unknown type 'flaot'"):
        ElementwiseKernel("flaot *x", "x[i] = 1")
    with pytest.raises(drv.CompileError, match=r"undeclared|undefined|not declared"):
        ElementwiseKernel("float *x", "x[i] = foo")(x)


# ---- reductions --------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 31, 5000, 300_001])
def test_reductions(count: int) -> None:
    x, y = (RNG.random(count).astype(np.float32) for _ in range(2))
    kernel = ReductionKernel(
        np.float32,
        neutral="0",
        reduce_expr="a+b",
        map_expr="x[i]*y[i]",
        arguments="float *x, float *y",
    )
    result = kernel(gpuarray.to_gpu(x), gpuarray.to_gpu(y))
    assert result.shape == ()
    assert np.allclose(result.get(), np.dot(x.astype(float), y), rtol=1e-4)
    out = gpuarray.empty((), np.float32)
    assert kernel(gpuarray.to_gpu(x), gpuarray.to_gpu(y), out=out) is out
    assert out.get() == result.get()


def test_reductions_with_numbers_and_preambles() -> None:
    x = np.arange(1000, dtype=np.int32)
    kernel = ReductionKernel(
        np.int64,
        neutral="0",
        reduce_expr="a + b",
        map_expr="above(x[i], least)",
        arguments="const int *x, int least",
        preamble="__device__ long above(int x, int least) { return x > least ? x : 0; }",
    )
    assert kernel(gpuarray.to_gpu(x), 900).get() == x[x > 900].sum()
    assert ReductionKernel(np.int32, "0", "a+b")(gpuarray.to_gpu(x)).get() == x.sum()


def test_reductions_to_records() -> None:
    kind = np.dtype([("cur_min", np.int32), ("cur_max", np.int32)])
    tools.get_or_register_dtype("minmax_collector", kind)
    kernel = ReductionKernel(
        kind,
        neutral="minmax_collector(10000, -10000)",
        reduce_expr="agg_mmc(a, b)",
        map_expr="minmax_collector(x[i], x[i])",
        arguments="int *x",
        preamble="""
        struct minmax_collector
        {
            int cur_min, cur_max;
            __device__ minmax_collector() {}
            __device__ minmax_collector(int least, int most) : cur_min(least), cur_max(most) {}
        };
        __device__ minmax_collector agg_mmc(minmax_collector a, minmax_collector b)
        {
            return minmax_collector(min(a.cur_min, b.cur_min), max(a.cur_max, b.cur_max));
        }
        """,
    )
    x = RNG.integers(-9000, 9000, 20_000, dtype=np.int32)
    result = kernel(gpuarray.to_gpu(x)).get()
    assert result["cur_min"] == x.min()
    assert result["cur_max"] == x.max()


def test_errors_of_reductions() -> None:
    with pytest.raises(RuntimeError, match="vector argument"):
        ReductionKernel(np.int32, "0", "a+b", "n", "int n")
    x = gpuarray.zeros((4, 4), np.float32)
    kernel = ReductionKernel(np.float32, "0", "a+b", arguments="float *x")
    with pytest.raises(RuntimeError, match="non-contiguous"):
        kernel(x[:, 1:3])
    with pytest.raises(TypeError, match="invalid keyword"):
        kernel(x, axis=1)


# ---- scans -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_scans(dtype: Any) -> None:
    inclusive = InclusiveScanKernel(dtype, "a+b")
    exclusive = ExclusiveScanKernel(dtype, "a+b", neutral="0")
    for count in (1, 10, 257, 4097, 100_003, 1 << 20):
        a = RNG.integers(0, 10, count, dtype=dtype)
        expected = np.cumsum(a, dtype=dtype)
        there = gpuarray.to_gpu(a)
        assert inclusive(there) is there
        assert (there.get() == expected).all()
        there, out = gpuarray.to_gpu(a), gpuarray.empty(count, dtype)
        assert exclusive(there, out) is out
        assert (out.get() == expected - a).all()
        exclusive(there)
        assert (there.get() == expected - a).all()


def test_scans_of_other_operations() -> None:
    a = RNG.random(50_000)
    running = InclusiveScanKernel(np.float64, "a > b ? a : b")
    there = gpuarray.to_gpu(a)
    out = running(there, "new")
    assert (out.get() == np.maximum.accumulate(a)).all()
    assert (there.get() == a).all()
    # the value to the right, whatever stands on the left: not commutative
    last = ExclusiveScanKernel(np.int32, "b", neutral="-1", name_prefix="last")
    numbers = gpuarray.arange(1000, dtype=np.int32)
    assert last(numbers).get().tolist() == [-1, *range(999)]


def test_errors_of_scans() -> None:
    with pytest.raises(ValueError, match="neutral element is required"):
        ExclusiveScanKernel(np.int32, "a+b")
    kernel = InclusiveScanKernel(np.int32, "a+b")
    x = gpuarray.zeros(10, np.int32)
    with pytest.raises(ValueError, match="same shape"):
        kernel(x, gpuarray.zeros(9, np.int32))
    with pytest.raises(RuntimeError, match="non-contiguous"):
        kernel(x[::2])
    empty = gpuarray.zeros(0, np.int32)
    assert kernel(empty) is empty


# ---- what a GPU gets ---------------------------------------------------------------------------


def test_texts_for_a_gpu_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(element_loops, "on_gpu", lambda: True)
    monkeypatch.setattr(elementwise_kernels, "on_gpu", lambda: True)
    texts = [
        LINEAR.text(),
        LINEAR.text(has_range=True),
        ReductionKernel(
            np.complex128, "0", "a+b", "x[i]*y[i]", "pycuda::complex<double> *x, double *y"
        ).text(),
        ReductionKernel(np.float64, "0", "a+b", arguments="float *x").text(),
        ExclusiveScanKernel(np.int32, "a+b", "0").text(),
        InclusiveScanKernel(np.float64, "max(a, b)").text(),
    ]
    for text in texts:
        assert compiler.compile(text, no_extern_c=True, arch="sm_80")


# ---- random numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_numbers(dtype: Any) -> None:
    generator = curandom.XORWOWRandomNumberGenerator(curandom.seed_getter_uniform)
    even = generator.gen_uniform((100, 100), dtype).get()
    assert even.dtype == dtype
    assert 0 <= even.min() < 0.01
    assert 0.99 < even.max() <= 1
    assert abs(even.mean() - 0.5) < 0.02
    normal = generator.gen_normal(10_000, dtype).get()
    assert abs(normal.mean()) < 0.05
    assert abs(normal.std() - 1) < 0.05
    assert len({*generator.gen_uniform(1000, np.uint32).get().tolist()}) == 1000
    assert generator.gen_uniform(1000, np.int32).get().min() < 0
    assert (generator.gen_uniform(50, dtype).get() != generator.gen_uniform(50, dtype).get()).all()
    assert curandom.rand((3, 4), dtype).shape == (3, 4)


def test_distributions_that_were_removed() -> None:
    generator = curandom.XORWOWRandomNumberGenerator()
    for owner, name in (generator, "fill_poisson"), (curandom, "Sobol32RandomNumberGenerator"):
        with pytest.raises(NotImplementedError, match=r"with gpuarray\.to_gpu"):
            getattr(owner, name)
    assert not hasattr(generator, "fill_gamma")


def test_random_numbers_are_those_of_the_seed() -> None:
    def seeds(n: int) -> gpuarray.GPUArray:
        return gpuarray.to_gpu(np.full(n, 42, np.int32))

    one, other = (curandom.MRG32k3aRandomNumberGenerator(seeds) for _ in range(2))
    assert (one.gen_normal(99, np.float32).get() == other.gen_normal(99, np.float32).get()).all()
    later = curandom.PhiloxRandomNumberGenerator(seeds, offset=1)
    assert (one.gen_normal(99, np.float32).get() == later.gen_normal(99, np.float32).get()).all()
    with pytest.raises(NotImplementedError, match="float32, float64, not int32"):
        one.gen_normal(5, np.int32)
    with pytest.raises(RuntimeError, match="contiguous"):
        one.fill_uniform(gpuarray.zeros((4, 4), np.float32)[:, 1:3])


# ---- tools -------------------------------------------------------------------------------------


def test_pools_count_allocations() -> None:
    pool = tools.DeviceMemoryPool()
    one = pool.allocate(1000)
    assert isinstance(one, drv.DeviceAllocation)
    assert (pool.active_blocks, pool.active_bytes) == (1, 1000)
    one.free()
    assert (pool.active_blocks, pool.active_bytes) == (0, 0)
    with pytest.raises(drv.LogicError, match="was freed"):
        one.free()
    array = gpuarray.zeros(100, np.float32, allocator=pool.allocate)
    assert (array + 1).get().sum() == 100
    assert (pool.active_blocks, pool.managed_bytes) == (1, 400)
    del array
    pool.stop_holding()
    assert (pool.active_blocks, pool.held_blocks, pool.managed_bytes) == (0, 0, 0)
    assert int(pool.allocate(0))


def test_names_of_types() -> None:
    for dtype, name in (
        (np.float32, "float"),
        (np.int64, "long"),
        (np.uint8, "unsigned char"),
        (np.complex128, "pycuda::complex<double>"),
        (gpuarray.vec.float3, "float3"),
    ):
        assert tools.dtype_to_ctype(dtype) == name
        assert tools.get_or_register_dtype(name) == np.dtype(dtype)
    with pytest.raises(ValueError, match="unable to map"):
        tools.dtype_to_ctype(np.dtype([("a", np.int8)]))
    with pytest.raises(ValueError, match="may not be None"):
        tools.dtype_to_ctype(None)
    tools.get_or_register_dtype("my_record", np.dtype([("b", np.int8)]))
    assert tools.dtype_to_ctype(np.dtype([("b", np.int8)])) == "my_record"
    with pytest.raises(RuntimeError, match="already registered"):
        tools.get_or_register_dtype("my_record", np.int8)


@pytest.mark.parametrize(
    ("text", "kind", "dtype", "name"),
    [
        ("float *x", tools.VectorArg, np.float32, "x"),
        ("const unsigned long long* __restrict__ ptr", tools.VectorArg, np.uint64, "ptr"),
        ("pycuda::complex< float > *z", tools.VectorArg, np.complex64, "z"),
        ("int n", tools.ScalarArg, np.int32, "n"),
        ("double v[]", tools.VectorArg, np.float64, "v"),
        ("uint8_t c", tools.ScalarArg, np.uint8, "c"),
    ],
)
def test_arguments_of_c(text: str, kind: Any, dtype: Any, name: str) -> None:
    (result,) = parse_c_args(text)
    assert (type(result), result.dtype, result.name) == (kind, np.dtype(dtype), name)
    assert result.struct_char == ("P" if kind is tools.VectorArg else np.dtype(dtype).char)


def test_functions_that_remember() -> None:
    calls = []

    @tools.context_dependent_memoize
    def squared(x: int, plus: int = 0) -> int:
        calls.append(x)
        return x * x + plus

    assert [squared(3), squared(3), squared(3, plus=1), squared(4)] == [9, 9, 10, 16]
    assert calls == [3, 3, 4]
    tools.clear_context_caches()
    assert squared(3) == 9
    assert len(calls) == 4


def test_default_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_DEVICE", "0")
    context = tools.make_default_context()
    assert context.get_device() == drv.Device(0)
    context.detach()
    monkeypatch.setenv("CUDA_DEVICE", "first")
    with pytest.raises(TypeError, match="must be an integer, not 'first'"):
        tools.make_default_context()
    monkeypatch.delenv("CUDA_DEVICE")
    assert tools.DeviceData().warp_size == 32


def test_a_second_call_does_not_query_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    x = gpuarray.zeros(10, np.float32)
    kernel = ElementwiseKernel("float *x", "x[i] += 1", "asks_once")
    kernel(x)
    gpuarray.sum(x)
    monkeypatch.setattr(drv.Device, "get_attribute", None)
    kernel(x)
    assert gpuarray.sum(x).get() == 20
