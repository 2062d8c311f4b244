"""``RawKernel`` and ``RawModule`` of ``pycu2c.cupy``, with CuPy's names and rules."""

from __future__ import annotations

import io
import pickle
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import CudaError, cuda, cupy
from pycu2c.base.diagnostics import CompileError, LaunchError
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.cuda_text.source_text import CudaSource
from support.cuda_text import BACKENDS

SUM = r"""
extern "C" __global__
void test_sum(const float* a, const float* b, float* out, unsigned int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""
TWO = r"""
#ifndef TYPE
#define TYPE float
#endif
extern "C" {
__global__ void add(const TYPE* a, const TYPE* b, TYPE* out, unsigned int n) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
__global__ void multiply(const TYPE* a, const TYPE* b, TYPE* out, unsigned int n) {
    unsigned int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = a[i] * b[i];
}
}
"""
KINDS = {"numpy": np.asarray, "device": cuda.to_device}


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    if request.param == "cpu":
        request.getfixturevalue("without_gpus")
    return str(request.param)


def operands(dtype: str = "f4") -> tuple[Any, Any, Any]:
    a = np.arange(100, dtype=dtype).reshape(10, 10)
    return a, np.full_like(a, 3), np.zeros_like(a)


def numbers(array: Any) -> Any:
    return array if isinstance(array, np.ndarray) else array.copy_to_host()


# ---- kernels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_kernel_runs(backend: str, kind: str) -> None:
    kernel = cupy.RawKernel(SUM, "test_sum", backend=backend)
    a, b, out = map(KINDS[kind], operands())
    for _ in range(6):  # the short way, too
        kernel((10,), (10,), (a, b, out, 100))
    assert np.array_equal(numbers(out), numbers(a) + 3)


@pytest.mark.parametrize("grid", [10, (10,), (10, 1), [10, 1, 1], np.int64(10), (np.int32(10),)])
def test_grids_of_every_form(backend: str, grid: Any) -> None:
    kernel = cupy.RawKernel(SUM, "test_sum", backend=backend)
    a, b, out = operands()
    for _ in range(5):
        kernel(grid, (10,), [a, b, out, np.uint32(100)])
    assert np.array_equal(out, a + 3)


def test_streams_are_accepted(backend: str) -> None:
    kernel = cupy.RawKernel(SUM, "test_sum", backend=backend)
    stream = cuda.stream()
    a, b, out = map(cuda.to_device, operands())
    for _ in range(5):
        kernel((10,), (10,), (a, b, out, 100), stream=stream)
    stream.synchronize()
    assert np.array_equal(out.copy_to_host(), a.copy_to_host() + 3)


def test_attributes(backend: str) -> None:
    kernel = cupy.RawKernel(SUM, "test_sum", backend=backend)
    result = kernel.attributes
    assert set(result) == {
        "binary_version",
        "cache_mode_ca",
        "const_size_bytes",
        "local_size_bytes",
        "max_dynamic_shared_size_bytes",
        "max_threads_per_block",
        "num_regs",
        "preferred_shared_memory_carveout",
        "ptx_version",
        "shared_size_bytes",
    }
    assert kernel.max_threads_per_block == result["max_threads_per_block"] > 0
    assert result["shared_size_bytes"] == 0
    assert backend == "cpu" or kernel.num_regs > 0
    kernel.max_dynamic_shared_size_bytes = 64 * 1024
    assert kernel.max_dynamic_shared_size_bytes == 64 * 1024
    kernel.preferred_shared_memory_carveout = 50
    assert kernel.preferred_shared_memory_carveout == 50


def test_much_shared_memory_needs_no_attribute(backend: str) -> None:
    kernel = cupy.RawKernel(
        r"""extern "C" __global__ void k(float *out) {
    extern __shared__ float s[];
    for (int i = threadIdx.x; i < 20000; i += blockDim.x) s[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = s[19999];
}""",
        "k",
        backend=backend,
    )
    out = np.zeros(1, np.float32)
    kernel((1,), (128,), (out,), shared_mem=80000)
    assert out[0] == 19999


def test_numbers_are_what_the_parameters_are(backend: str) -> None:
    """CuPy would give a float parameter half of a double."""
    kernel = cupy.RawKernel(
        """extern "C" __global__
void k(double *out, float f, int i, double d, bool b, long long l) {
    out[0] = f; out[1] = i; out[2] = d; out[3] = b; out[4] = l;
}""",
        "k",
        backend=backend,
    )
    out = np.zeros(5)
    kernel((1,), (1,), (out, 2.5, 3, 4, True, 2**40))
    assert out.tolist() == [2.5, 3, 4, 1, 2**40]
    with pytest.raises(LaunchError, match="argument 3"):
        kernel((1,), (1,), (out, 2.5, 3.5, 4, True, 2**40))


def test_structures_by_value_and_void_pointers(backend: str) -> None:
    kernel = cupy.RawKernel(
        """struct complex_data { double c[2]; int n; };
extern "C" __global__ void k(void *out, complex_data data) {
    double *numbers = (double *)out;
    numbers[threadIdx.x] = threadIdx.x < 2 ? data.c[threadIdx.x] : data.n;
}""",
        "k",
        backend=backend,
    )
    row = np.dtype([("c", "f8", 2), ("n", "i4")], align=True)
    out = np.zeros(3)
    kernel((1,), (3,), (out, np.array(((1.5, -2.5), 7), row)[()]))
    assert out.tolist() == [1.5, -2.5, 7]


def test_arrays_without_axes_are_values_where_no_pointer_is(backend: str) -> None:
    """A structure of 8 bytes is no pointer."""
    kernel = cupy.RawKernel(
        """struct Pair { int a; float b; };
extern "C" __global__ void k(Pair pair, float x, float *out) { *out = pair.a * pair.b + x; }""",
        "k",
        backend=backend,
    )
    pair = np.array((3, 2.5), [("a", "i4"), ("b", "f4")])
    out = np.zeros(1, np.float32)
    kernel((1,), (1,), (pair, np.array(1, np.float32), out))
    assert out[0] == 8.5
    for wrong in (np.zeros(2, np.float32), pair.reshape(1), 4096):
        with pytest.raises(LaunchError, match=r"argument 1 .*pass a numpy record"):
            kernel((1,), (1,), (wrong, 0.0, out))


@pytest.mark.parametrize(("dtype", "kind"), [("c8", "cuFloatComplex"), ("c16", "cuDoubleComplex")])
def test_complex_numbers(backend: str, dtype: str, kind: str) -> None:
    f = "f" if dtype == "c8" else ""
    kernel = cupy.RawKernel(
        f"""#include <cuComplex.h>
extern "C" __global__ void k({kind} *x, {kind} y) {{
    int t = threadIdx.x;
    x[t] = t == 0 ? cuCadd{f}(x[t], y) : t == 1 ? cuCsub{f}(x[t], y) : t == 2 ? cuCmul{f}(x[t], y)
         : t == 3 ? cuCdiv{f}(x[t], y) : t == 4 ? cuConj{f}(x[t]) : cuCfma{f}(x[t], y, y);
    if (t == 6) x[t] = make_{kind}(cuCabs{f}(x[5]), cuCimag{f}(y));
}}""",
        "k",
        backend=backend,
    )
    x = np.full(6, 3 + 4j, dtype)
    y = np.dtype(dtype).type(1 - 2j)
    kernel((1,), (6,), (x, y))
    z = 3 + 4j
    expected = [z + y, z - y, z * y, z / y, z.conjugate(), z * y + y]
    assert np.allclose(x, expected)


@pytest.mark.parametrize("name", ["complex", "thrust::complex"])
def test_complex_numbers_of_cupys(backend: str, name: str) -> None:
    text = f"""#include <cupy/complex.cuh>
template <class T> __global__ void k({name}<T> *x, {name}<T> y, T *size) {{
    int t = threadIdx.x;
    x[t] = exp(x[t] * y) + conj(y) / x[t];
    size[t] = abs(x[t]) + x[t].real();
}}"""
    module = cupy.RawModule(text, backend=backend, name_expressions=["k<double>"])
    x, y = np.array([1 + 2j, 3 - 1j, 0.5 + 0j]), 0.25 - 0.5j
    expected, size = np.exp(x * y) + np.conj(y) / x, np.zeros(3)
    module.get_function("k<double>")((1,), (3,), (x, y, size))
    assert np.allclose(x, expected)
    assert np.allclose(size, abs(expected) + expected.real)
    assert module.inspect() == text


CUCOMPLEX = """#include <cuComplex.h>
extern "C" __global__ void computed(cuComplex *z, cuDoubleComplex w, cuDoubleComplex *out) {
    const cuComplex a = z[0], b = make_cuFloatComplex(1, 3);
    out[0] = cuComplexFloatToDouble(cuCaddf(a, b));
    out[1] = cuCdiv(cuCmul(w, w), cuConj(w));
    out[2] = make_cuDoubleComplex(cuCabs(w), cuCimagf(a));
    out[3] = cuCfma(w, make_cuDoubleComplex(0, 1), w);
    OPERATORS
}"""


@pytest.mark.parametrize("translated", [False, True])
def test_cucomplex(backend: str, translated: bool) -> None:
    a, w = np.complex64(2 - 1j), 3 + 4j
    z, out = np.array([a]), np.zeros(5, np.complex128)
    operators = "out[4] = w * w - 1.0;" if translated else ""
    module = cupy.RawModule(
        code=CUCOMPLEX.replace("OPERATORS", operators),
        translate_cucomplex=translated,
        backend=backend,
    )
    module.get_function("computed")((1,), (1,), (z, w, out))
    expected = [a + 1 + 3j, w * w / w.conjugate(), abs(w) - 1j, w * 1j + w]
    np.testing.assert_allclose(out, [*expected, w * w - 1 if translated else 0])
    assert ".entry computed" in module.inspect("ptx")


def test_a_mistake_beside_complex_numbers_is_shown_where_it_is(backend: str) -> None:
    text = "#include <cupy/complex.cuh>\n__global__ void k(complex<float> *x) {\n    x = 2;\n}"
    module = cupy.RawModule(code=text, backend=backend)
    with pytest.raises(CompileError) as result:
        module.compile()
    assert result.value.line == 3
    assert "    x = 2;" in str(result.value)


# ---- modules ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("options", "dtype"), [((), "f4"), (("-DTYPE=double",), "f8")])
def test_a_module_has_several_kernels(backend: str, options: Any, dtype: str) -> None:
    module = cupy.RawModule(code=TWO, options=options, backend=backend)
    a, b, out = operands(dtype)
    module.get_function("add")((10,), (10,), (a, b, out, 100))
    assert np.array_equal(out, a + b)
    module.get_function("multiply")((10,), (10,), (a, b, out, 100))
    assert np.array_equal(out, a * b)
    with pytest.raises(LookupError, match="no kernel ad: did you mean add"):
        module.get_function("ad")


MACROS = """extern "C" __global__ void f(T* x, int first) {
    __shared__ T row[N];
    row[threadIdx.x] = F(x[threadIdx.x], P);
    __syncthreads();
    if (threadIdx.x >= first) x[threadIdx.x] = row[N - 1 - threadIdx.x];
#ifdef A
    x[0] = A;
#endif
}"""


def test_macros_of_any_name(backend: str) -> None:
    """Also such as headers have for parameters of templates, or that name CUDA's functions."""
    options = ("-DN=4", "-DP=2", "--define-macro=T=float", "-DF(x,y)=__fmul_rn(x, y)", "-DA", "-UA")
    x = np.arange(4, dtype=np.float32)
    kernel = cupy.RawKernel(MACROS, "f", options=options, backend=backend)
    kernel((1,), (4,), (x, 0))
    assert x.tolist() == [6, 4, 2, 0]
    text = "#if N != 1\n#error no such precision\n#endif\n" + MACROS
    with pytest.raises(CompileError, match="no such precision"):
        cupy.RawKernel(text, "f", options=options, backend=backend).compile()


def test_macros_are_no_options_of_nvrtc() -> None:
    """NVRTC 13.0 takes names in its own header for them."""
    options = options_of(("-DN=4", "-lineinfo", "--undefine-macro=A", "-I", "folder"))
    assert options.for_nvrtc("sm_90") == ("--gpu-architecture=sm_90", "-lineinfo", "-Ifolder")
    text = options.with_macros(CudaSource("int n = N;", "mine.cu"))
    assert text == '#define N 4\n#undef A\n#line 1 "mine.cu"\nint n = N;'


def test_instances_of_templates(backend: str) -> None:
    names = ["squared<int>", "squared<float>", "squared<double>", "plain"]
    module = cupy.RawModule(
        code="""template<typename T> __global__ void squared(T* x, int n) {
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= x[i];
}
__global__ void plain(double* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }""",
        options=("--std=c++17",),
        name_expressions=names,
        backend=backend,
    )
    for name, dtype in zip(names, ("i4", "f4", "f8")):
        x = np.arange(10).astype(dtype)
        module.get_function(name)((1,), (10,), (x, 10))
        assert np.array_equal(x, np.arange(10) ** 2)
    x = np.zeros(3)
    module.get_function("plain")((1,), (4,), (x, 3))
    assert x.tolist() == [1, 1, 1]


def test_constant_memory(backend: str) -> None:
    module = cupy.RawModule(
        code="""extern "C" { __constant__ float factors[100];
__global__ void k(float* x, int n) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] *= factors[i];
} }""",
        backend=backend,
    )
    variable = module.get_global("factors")
    assert variable.ptr == module.get_global_var("factors") != 0
    variable.view(100, np.float32)[:] = np.arange(100, dtype=np.float32)
    x = np.ones(100, np.float32)
    module.get_function("k")((1,), (100,), (x, x.size))
    assert np.array_equal(x, np.arange(100))
    with pytest.raises(ValueError, match="has 400 bytes"):
        variable.view(101, np.float32)


def test_texts_in_files(backend: str, tmp_path: Path) -> None:
    header, path = tmp_path / "twice.cuh", tmp_path / "kernels.cu"
    header.write_text("__device__ inline int twice(int x) { return 2 * x; }\n")
    text = '#include "twice.cuh"\nextern "C" __global__ void k(int *x) { x[0] = twice(x[0]); }'
    path.write_text(text)
    module = cupy.RawModule(path=str(path), backend=backend)
    x = np.array([21], np.int32)
    module.get_function("k")((1,), (1,), (x,))
    assert x[0] == 42
    header.write_text("__device__ inline int twice(int x) { return 3 * x; }\n")
    again = cupy.RawModule(path=str(path), backend=backend, options=(f"-I{tmp_path}",))
    again.get_function("k")((1,), (1,), (x,))
    assert x[0] == 126  # what a file holds is a part of the cache's key


@pytest.mark.parametrize("quoted", ["<parts/factor.cuh>", '"parts/factor.cuh"', '"factor.cuh"'])
def test_included_files_that_include_files(quoted: str, backend: str, tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "scale.cuh").write_text(f"#include {quoted}\n")
    text = '#include <parts/scale.cuh>\nextern "C" __global__ void k(int *x) { x[0] *= FACTOR; }'
    x = np.array([7], np.int32)
    for factor, product in ((2, 14), (3, 42)):
        (tmp_path / "parts" / "factor.cuh").write_text(f"#define FACTOR {factor}\n")
        module = cupy.RawModule(code=text, backend=backend, options=(f"-I{tmp_path}",))
        module.get_function("k")((1,), (1,), (x,))
        assert x[0] == product


@pytest.mark.gpu
@pytest.mark.parametrize("suffix", [".cubin", ".ptx"])
def test_compiled_files(suffix: str, tmp_path: Path) -> None:
    made = cupy.RawModule(code=SUM)
    path = tmp_path / f"sum{suffix}"
    ptx = suffix == ".ptx"
    path.write_bytes(made.inspect("ptx").rstrip("\0").encode() if ptx else made.module.cubin().data)
    a, b, out = operands()
    cupy.RawModule(path=str(path)).get_function("test_sum")((10,), (10,), (a, b, out, 100))
    assert np.array_equal(out, a + b)


def test_cooperative_launches(backend: str) -> None:
    kernel = cupy.RawKernel(
        """#include <cooperative_groups.h>
extern "C" __global__ void k(float *x, float *y) {
    auto grid = cooperative_groups::this_grid();
    x[grid.thread_rank()] += 1;
    grid.sync();
    y[grid.thread_rank()] = x[grid.size() - 1 - grid.thread_rank()];
}""",
        "k",
        enable_cooperative_groups=True,
        backend=backend,
    )
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel((2,), (32,), (x, y))
    assert np.array_equal(y, np.arange(64)[::-1] + 1)


# ---- compiling --------------------------------------------------------------------------------


def test_a_mistake_is_shown(backend: str) -> None:
    kernel = cupy.RawKernel(
        'extern "C" __global__ void k(int *x) {\n    x = y;\n}', "k", backend=backend
    )
    with pytest.raises(CompileError) as result:
        kernel.compile()
    assert (result.value.code, result.value.line) == ("inline-c", 2)
    assert "    x = y;" in str(result.value)


def test_compiler_messages_are_written(backend: str) -> None:
    said = io.StringIO()
    text = 'extern "C" __global__ void k(int *x) {\n    int unused;\n    *x = 1;\n}'
    cupy.RawKernel(text, "k", backend=backend).compile(log_stream=said)
    (message,) = (line for line in said.getvalue().splitlines() if re.search(r"\.cu[(:]2\b", line))
    assert re.search("warning.*unused", message)


def test_symbols_that_do_not_exist(backend: str) -> None:
    module = cupy.RawModule(code=TWO, backend=backend)
    for look_up in (
        lambda: module.get_function("nothing"),
        lambda: module.get_global("nothing"),
        lambda: module.get_global_var("nothing"),
        lambda: cupy.RawKernel(TWO, "nothing", backend=backend)(1, 1, ()),
    ):
        with pytest.raises(CudaError, match=r"named symbol not found.*nothing: it has") as result:
            look_up()
        assert isinstance(result.value, LookupError)
        assert result.value.name == "CUDA_ERROR_NOT_FOUND"


def test_files_that_do_not_exist() -> None:
    with pytest.raises(CudaError, match=r"nothing\.cubin: file not found") as result:
        cupy.RawModule(path="nothing.cubin")
    assert isinstance(result.value, FileNotFoundError)


def test_kernels_and_modules_are_pickled(backend: str) -> None:
    module = cupy.RawModule(code=TWO, options=("-DTYPE=double",), backend=backend)
    copies = (
        pickle.loads(pickle.dumps(module)).get_function("add"),
        pickle.loads(pickle.dumps(module.get_function("add"))),
    )
    for copied in copies:
        a, b, out = operands("f8")
        copied((10,), (10,), (a, b, out, 100))
        assert np.array_equal(out, a + b)
        assert copied.options == ("-DTYPE=double",)


def test_accepted_values_are_stated() -> None:
    with pytest.raises(TypeError, match="either code or path"):
        cupy.RawModule()
    with pytest.raises(TypeError, match="either code or path"):
        cupy.RawModule(code=SUM, path="k.cu")
    with pytest.raises(ValueError, match="name_expressions require source text"):
        cupy.RawModule(path="k.cubin", name_expressions=["k<int>"])


def test_inspect_shows_the_text_and_what_it_becomes() -> None:
    kernel = cupy.RawKernel(SUM, "test_sum")
    assert kernel.inspect("cuda") == SUM
    assert ".entry test_sum" in kernel.inspect("ptx")
    assert "int i = blockDim.x * blockIdx.x + threadIdx.x;" in kernel.inspect("c")
    with pytest.raises(ValueError, match="cuda, ptx, sass or c"):
        kernel.inspect("basic")


def test_compile_with_cache(backend: str) -> None:
    module = cupy.compile_with_cache(SUM, "kernels.cu", options=("-DX=1",), backend=backend)
    a, b, out = operands()
    module.get_function("test_sum")((10,), (10,), (a, b, out, 100))
    assert np.array_equal(out, a + b)


def test_threads_launch_one_kernel(backend: str) -> None:
    kernel = cupy.RawKernel(SUM, "test_sum", backend=backend)
    results: list[bool] = []

    def launch() -> None:
        for _ in range(20):
            a, b, out = operands()
            kernel((10,), (10,), (a, b, out, 100))
            results.append(np.array_equal(out, a + b))

    threads = [threading.Thread(target=launch) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 80


# ---- memoize ----------------------------------------------------------------------------------


@pytest.mark.parametrize("for_each_device", [False, True])
def test_memoize(for_each_device: bool) -> None:
    calls = []

    @cupy.memoize(for_each_device=for_each_device)
    def added(a: int, b: int = 0) -> int:
        """Adds."""
        calls.append((a, b))
        return a + b

    assert [added(1, b=2), added(1, b=2), added(1, 2), added(1)] == [3, 3, 3, 1]
    assert calls == [(1, 2), (1, 2), (1, 0)]
    assert added.__doc__ == "Adds."
    cupy.clear_memo()
    assert added(1) == 1
    assert len(calls) == 4


# ---- graphs -----------------------------------------------------------------------------------


def test_launches_are_captured(backend: str) -> None:
    kernel = cupy.RawKernel(SUM, "test_sum", backend=backend)
    a, b, out = map(cuda.to_device, operands())
    kernel((10,), (10,), (a, b, out, 100))
    with cuda.graph() as graph:
        kernel((10,), (10,), (a, b, out, 100))
        kernel((10,), (10,), (out, b, out, 100))
    assert [node.name for node in graph.nodes] == ["test_sum"] * 2
    for _ in range(2):
        graph.launch()
    assert np.array_equal(out.copy_to_host(), a.copy_to_host() + 6)
    graph.nodes[1].set(out, b, a, 100)
    graph.launch()
    assert np.array_equal(a.copy_to_host(), np.arange(100).reshape(10, 10) + 6)
    with pytest.raises(LaunchError, match="takes 4 arguments"):
        graph.nodes[1].set(out)
