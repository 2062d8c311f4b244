"""PyCUDA's kernels of expressions: elementwise and reductions; and its memory pools and names
of types. On the GPU, or the CPU where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pycu2c.pycuda.driver as drv
from pycu2c.compat.pycuda.c_types import parse_c_args
from pycu2c.pycuda import curandom, gpuarray, tools
from pycu2c.pycuda.elementwise import ElementwiseKernel
from pycu2c.pycuda.reduction import ReductionKernel
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
    assert "twice(x[i])" in kernel.inspect()


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
    assert ".entry" in kernel.inspect("ptx")


def test_kernels_can_be_inspected() -> None:
    assert "a * x[i] + b * y[i]" in LINEAR.inspect()
    assert ".entry linear" in LINEAR.inspect("ptx")
    assert "return a+b;" in ReductionKernel(np.int32, "0", "a+b").inspect()


def test_expressions_are_c() -> None:
    for make in (
        lambda: ElementwiseKernel("float *x", abs),  # type: ignore[arg-type]
        lambda: ReductionKernel(np.int32, "0", max),  # type: ignore[arg-type]
        lambda: ReductionKernel(np.int32, "0", "a+b", abs),  # type: ignore[arg-type]
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
    with pytest.raises(TypeError, match="a int is not a device array"):
        kernel(3)
    with pytest.raises(ValueError, match="'flaot' is unknown"):
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


# ---- random numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_random_numbers(dtype: Any) -> None:
    numbers = curandom.rand((100, 100), dtype).get()
    assert numbers.dtype == dtype
    assert 0 <= numbers.min() < 0.01
    assert 0.99 < numbers.max() <= 1
    assert abs(numbers.mean() - 0.5) < 0.02
    assert (numbers != curandom.rand((100, 100), dtype).get()).any()
    with pytest.raises(NotImplementedError, match="not int32"):
        curandom.rand(5, np.int32)


# ---- tools -------------------------------------------------------------------------------------


def test_pools() -> None:
    pool = tools.DeviceMemoryPool()
    assert isinstance(pool.allocate(1000), drv.DeviceAllocation)
    array = gpuarray.zeros(100, np.float32, allocator=pool.allocate)
    assert (array + 1).get().sum() == 100
    pool.free_held()
    pool.stop_holding()


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
    with pytest.raises(ValueError, match="unable to map"):
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


def test_default_contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_DEVICE", "0")
    context = tools.make_default_context()
    assert context.get_device() == drv.Device(0)
    context.detach()
    monkeypatch.setenv("CUDA_DEVICE", "first")
    with pytest.raises(ValueError, match="first"):
        tools.make_default_context()
    monkeypatch.delenv("CUDA_DEVICE")


def test_a_second_call_does_not_query_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    x = gpuarray.zeros(10, np.float32)
    kernel = ElementwiseKernel("float *x", "x[i] += 1", "asks_once")
    kernel(x)
    gpuarray.sum(x)
    monkeypatch.setattr(drv.Device, "get_attribute", None)
    kernel(x)
    assert gpuarray.sum(x).get() == 20
