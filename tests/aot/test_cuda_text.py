"""Libraries of kernels in CUDA C, of elementwise kernels and of reductions."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from aot import exported_text
from aot.conftest import build_file, run
from aot.loaders.plain import Dim3, Tensor, tensor
from aot.test_loaders import C11, COMPILERS, DEVICES, WARNINGS
from pycu2c import cuda
from pycu2c.aot.cuda_text_arguments import CudaTextKernel
from pycu2c.aot.export import kernels_of
from pycu2c.cli.main import main
from pycu2c.compat.cuda_text import TextModule

INVALID_ARGUMENT, TRAP = 1, 6
OPTIONS = [f"--signature={text}" for text in exported_text.SIGNATURES]
Array = np.ndarray[Any, Any]
Launch = Callable[..., str]


@pytest.fixture(scope="module")
def signals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("signals")
    build_file(
        exported_text.__file__, folder, "--name", "signals", "--arch", "sm_80,sm_90", *OPTIONS
    )
    return folder


@pytest.fixture(scope="module")
def launch(signals: Path) -> Launch:
    """Return a function that launches a kernel with arrays on a device; it returns the error."""
    library = ctypes.CDLL(str(signals / "lib/libsignals.so"))
    library.signals_last_error.restype = ctypes.c_char_p

    def launch_kernel(
        name: str,
        *arguments: Any,
        grid: int = 0,
        block: int = 64,
        shared: int = 0,
        device: str = "cpu",
    ) -> str:
        copies = {}
        passed = []
        for position, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                argument = tensor(argument)
                if device == "cuda":
                    copy = copies[position] = cuda.to_device(arguments[position].reshape(-1))
                    argument.data = copy.__cuda_array_interface__["data"][0]
                    argument.device[0] = 2
            passed.append(ctypes.byref(argument) if isinstance(argument, Tensor) else argument)
        configuration = (Dim3(grid, 1, 1), Dim3(block, 1, 1), ctypes.c_size_t(shared))
        status = getattr(library, f"signals_{name}_launch")(
            *passed, *(configuration if grid else ()), ctypes.c_void_p()
        )
        for position, copy in copies.items():
            cuda.synchronize()
            arguments[position][...] = copy.copy_to_host().reshape(arguments[position].shape)
        return f"{status}: {library.signals_last_error().decode()}" if status else ""

    return launch_kernel


def launch_in_process(
    owner: object, name: str, grid: int, *arguments: Any, shared: int = 0
) -> None:
    """Launch a kernel of a text on the CPU."""
    kernel = next(k for k in kernels_of(owner) if k.name == name)
    assert isinstance(kernel, CudaTextKernel)
    text, options = kernel.module.text.code, kernel.module.options.words
    names = kernel.module.name_expressions
    module = TextModule(text, options=options, name_expressions=names, backend="cpu")
    module.function(kernel.expression).launch(grid, 64, arguments, shared)


def check(computed: Array, expected: Array, device: str) -> None:
    """Compare results: bit for bit on the CPU."""
    if device == "cpu":
        assert computed.tobytes() == expected.tobytes()
    np.testing.assert_allclose(computed, expected, rtol=1e-5)


def random(*shape: int) -> Array:
    return np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)


# ---- texts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_loop(launch: Launch, device: str) -> None:
    x, y, expected = random(20, 50), np.ones((20, 50), np.float32), np.ones(1000, np.float32)
    number, count = ctypes.c_double(0.1), ctypes.c_int64(990)
    assert launch("saxpy", x, y, number, count, grid=16, device=device) == ""
    launch_in_process(exported_text.saxpy, "saxpy", 16, x, expected, 0.1, 990)
    check(y.ravel(), expected, device)


@pytest.mark.parametrize("device", DEVICES)
def test_instance_of_a_template(launch: Launch, device: str) -> None:
    x, y, expected = random(640), np.zeros(640, np.float32), np.zeros(640, np.float32)
    number = ctypes.c_double(0.1)
    assert launch("polynomial_float_3", x, y, number, grid=10, device=device) == ""
    launch_in_process(exported_text.module, "polynomial_float_3", 10, x, expected, 0.1)
    check(y, expected, device)


@pytest.mark.parametrize("device", DEVICES)
def test_loops_between_barriers(launch: Launch, device: str) -> None:
    x, sums, expected = np.arange(1000.0) / 3, np.zeros(16), np.zeros(16)
    count = ctypes.c_int64(1000)
    assert launch("block_sums", x, sums, count, grid=16, shared=512, device=device) == ""
    launch_in_process(exported_text.module, "block_sums", 16, x, expected, 1000, shared=512)
    check(sums, expected, device)


@pytest.mark.parametrize("device", DEVICES)
def test_fibers(launch: Launch, device: str) -> None:
    x = np.arange(640, dtype=np.int32)
    expected = np.cumsum(x.reshape(-1, 32), axis=1, dtype=np.int32).ravel()
    assert launch("scan", x, ctypes.c_bool(False), grid=10, device=device) == ""
    check(x, expected, device)


@pytest.mark.parametrize("device", DEVICES)
def test_vectors(launch: Launch, device: str) -> None:
    v = random(64, 4)
    signs, expected_signs, expected = np.zeros(64, np.uint8), np.zeros(64, np.uint8), v.copy()
    assert launch("normalize", v, signs, grid=1, device=device) == ""
    launch_in_process(exported_text.vectors, "normalize", 1, expected, expected_signs)
    check(v, expected, device)
    check(signs, expected_signs, device)


def test_assert_that_fails(launch: Launch) -> None:
    error = launch("scan", np.zeros(64, np.int32), ctypes.c_bool(True), grid=1)
    assert error == f"{TRAP}: scan: an assert of the kernel has failed"


# ---- elementwise kernels and reductions ------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(5000,), (3, 70, 5), ()])
def test_elementwise(launch: Launch, shape: tuple[int, ...], device: str) -> None:
    x, y, table, z = random(*shape), random(*shape), random(7), np.zeros(shape, np.float32)
    assert launch("blend", x, y, table, z, device=device) == ""
    check(z, np.asarray(exported_text.blend(x, y, table)), device)


def test_elementwise_in_place_with_a_number(launch: Launch) -> None:
    x = np.linspace(0.5, 2, 5000)
    expected = exported_text.power(x, 1.5)
    assert launch("power", x, ctypes.c_double(1.5), x) == ""
    np.testing.assert_allclose(x, expected, rtol=1e-15)  # the C library has several pow functions


SHAPES = [  # of an input, and of the output
    ((1000,), ()),
    ((1000,), (1,)),
    ((200_000,), ()),
    ((3, 100_000), (3,)),
    ((3, 4, 100), (3, 4)),
    ((7000, 9), (7000,)),
    ((100, 600), (100,)),
    ((5, 8, 90), (5,)),
    ((4, 0), (4,)),
]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("shape", "result"), SHAPES)
def test_reduction(
    launch: Launch, shape: tuple[int, ...], result: tuple[int, ...], device: str
) -> None:
    x, y, out = random(*shape), random(*shape) ** 2, np.full(result, 7, np.float32)
    axes = None if out.size == 1 else tuple(range(len(result), len(shape)))
    x = np.abs(x)
    assert launch("norm", x, y, out, device=device) == ""
    expected = np.asarray(exported_text.norm(x, y, axis=axes))
    check(out, expected.reshape(result), device)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("length", [1, 5, 63, 64, 700, 100_000])
def test_reduction_without_identity(launch: Launch, length: int, device: str) -> None:
    x = -np.random.default_rng(1).integers(3, 1 << 30, (3, length), np.int32)
    out = np.zeros(3, np.int32)
    assert launch("largest", x, out, device=device) == ""
    check(out, x.max(axis=1), device)


def test_no_elements(launch: Launch) -> None:
    empty = np.zeros(0, np.float32)
    assert launch("blend", empty, empty, random(7), empty) == ""
    assert launch("norm", np.zeros((0, 5), np.float32), np.zeros((0, 5), np.float32), empty) == ""


# ---- wrong arguments -------------------------------------------------------------------------

IMAGE, WORDS = random(8, 8), np.zeros(9, np.int32)
ROWS = np.zeros(64, np.float32)
WRONG: dict[str, tuple[str, tuple[Any, ...], str]] = {
    "type": (
        "saxpy",
        (np.zeros(9), ROWS, ctypes.c_double(1), ctypes.c_int64(9)),
        "x is float64 with 1 axis, and saxpy takes float32 with 1",
    ),
    "not contiguous": (
        "saxpy",
        (IMAGE[:, ::2], ROWS, ctypes.c_double(1), ctypes.c_int64(9)),
        "x is not C-contiguous: pass a copy",
    ),
    "number": (
        "saxpy",
        (IMAGE, ROWS, ctypes.c_double(1), ctypes.c_int64(1 << 40)),
        "n = 1099511627776 does not fit int32",
    ),
    "lanes": (
        "normalize",
        (random(8, 6), np.zeros(8, np.uint8)),
        "the last axis of v is not a multiple of 4",
    ),
    "alignment": (
        "normalize",
        (np.zeros(40, np.float32)[1:33], np.zeros(8, np.uint8)),
        "v does not begin at a multiple of 16 bytes",
    ),
    "shapes": ("blend", (IMAGE, ROWS, ROWS, ROWS), "x and y have different shapes"),
    "overlap": ("blend", (ROWS[:60], ROWS[:60], WORDS, ROWS[2:62]), "table is int32"),
    "result": (
        "norm",
        (IMAGE, IMAGE, np.zeros(9, np.float32)),
        "the shape of out is not the first part of that of x",
    ),
    "no elements": (
        "largest",
        (np.zeros((4, 0), np.int32), np.zeros(4, np.int32)),
        "largest of no elements has no value",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_arguments(launch: Launch, case: str) -> None:
    name, arguments, message = WRONG[case]
    grid = 1 if name in ("saxpy", "normalize") else 0
    error = launch(name, *arguments, grid=grid)
    assert error.startswith(f"{INVALID_ARGUMENT}: {message}")


def test_arrays_that_overlap(launch: Launch) -> None:
    table = random(7)
    error = launch("blend", ROWS[:60], ROWS[:60], table, ROWS[2:62])
    assert error == f"{INVALID_ARGUMENT}: z and x overlap: pass a copy"
    error = launch("norm", ROWS, ROWS, ROWS[:1])
    assert error == f"{INVALID_ARGUMENT}: out and x overlap: pass a copy"


# ---- files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sources_have_no_warnings(signals: Path, tmp_path: Path, compiler: str) -> None:
    include, result = f"-I{signals / 'include'}", tmp_path / "object.o"
    for source in (signals / "src").glob("*.c"):
        run(compiler, *C11, *WARNINGS, include, "-O2", "-c", source, "-o", result)
    cpp = tmp_path / "main.cpp"
    cpp.write_text(CPP)
    run(
        f"{compiler.replace('gcc', 'g')}++",
        "-std=c++17",
        *WARNINGS,
        include,
        "-c",
        cpp,
        "-o",
        result,
    )


CPP = """
#include <vector>

#include "signals.hpp"
#ifdef HAS_OTHER
#include "other.hpp"
#endif
int main() {
    float x[12] = {1}, y[12] = {2}, table[2] = {3}, z[12], sums[3], any_sums[1];
    pycu2c::array<const float, 2> a(x, {3, 4}), b(y, {3, 4});
    pycu2c::array<float, 2> c(z, {3, 4});
    signals::blend(a, {y, {3, 4}}, pycu2c::array<const float, 1>(table, {2}), c);
    signals::norm(c, a, sums);
    signals::norm(a, {x, {3, 4}}, sums);
    signals::saxpy(x, std::vector<float>(12), 2, 12, {{1, 1, 1}, {64, 1, 1}});
    signals::saxpy(a, c, 2, 12, {{1, 1, 1}, {64, 1, 1}});
    const pycu2c::array<float, pycu2c::any_axes> any = c;
    signals::norm(any, any, any_sums);
    try {
        signals::norm(pycu2c::array<float, 2>(x, {3, 4}, {1, 3}), a, sums);
        return 1;
    } catch (const pycu2c::error &) {
    }
    bool is_right = z[0] == 6 && any_sums[0] > 6 && sums[0] == 1 && sums[1] == 0;
#ifdef HAS_OTHER
    other::other(c, {{1, 1, 1}, {12, 1, 1}});
    for (auto add_one : {other::services, other::saxpy, other::saxpy_launch, other::last_error})
        add_one(pycu2c::array<float, 1>(z, {12}), {{1, 1, 1}, {1, 1, 1}});
    is_right = is_right && z[0] == 9 && z[1] == 5;
#endif
    return is_right ? 0 : 1;
}
"""


OTHER = """
from pycu2c import cupy, kernel

@kernel
def services(x: "float32[::1]"):  # as a symbol of the scheduler
    x[0] += 1

@kernel
def saxpy(x: "float32[::1]"):  # as a kernel of the other library
    x[0] += 1

@kernel
def saxpy_launch(x: "float32[::1]"):  # as the function that launches saxpy
    x[0] += 1

@kernel
def last_error(x: "float32[::1]"):  # as a function of the library
    x[0] += 1

other = cupy.RawKernel('''
template <typename T> __device__ float scaled(T x, T a) { return 5; }
__device__ float length;
extern "C" __global__ void other(float *x) { x[threadIdx.x] = scaled(x[0], length); }
''', "other")
"""


def test_static_libraries(signals: Path, tmp_path: Path) -> None:
    """A program links two static libraries, whose kernels call other functions of one name."""
    (tmp_path / "other.py").write_text(OTHER)
    build_file(str(tmp_path / "other.py"), tmp_path / "other", "--targets", "cpu")
    (tmp_path / "main.cpp").write_text(CPP)
    (tmp_path / "CMakeLists.txt").write_text(
        f"""cmake_minimum_required(VERSION 3.18)
project(program LANGUAGES C CXX)
set(BUILD_SHARED_LIBS OFF)
add_subdirectory({signals} signals)
add_subdirectory(other)
add_executable(program main.cpp)
target_compile_definitions(program PRIVATE HAS_OTHER)
target_compile_features(program PRIVATE cxx_std_17)
target_link_libraries(program PRIVATE signals::signals other::other)
"""
    )
    run("cmake", "-S", tmp_path, "-B", tmp_path / "build")
    run("cmake", "--build", tmp_path / "build")
    run(tmp_path / "build/program")


PACKAGE = """
import numpy as np
import signals
x, y, z = np.arange(6, dtype=np.float32), np.zeros(6, np.float32), np.zeros((), np.float32)
signals.saxpy(x, y, 2, 5, grid=1, block=8)
signals.norm(x, y, z)
print(y.tolist(), float(z) ** 2)
try:
    signals.norm(x, y, z, grid=1)
except TypeError as error:
    print(error)
"""


def test_python_package(signals: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(signals / "python")}
    done = subprocess.run(
        [sys.executable, "-c", PACKAGE], env=environment, capture_output=True, text=True, check=True
    )
    results, message = done.stdout.splitlines()
    assert results.startswith("[0.0, 2.0, 4.0, 6.0, 8.0, 0.0] 60.0")
    assert "unexpected keyword argument 'grid'" in message


def test_exported_symbols(signals: Path) -> None:
    symbols = run("nm", "-D", "--defined-only", signals / "lib/libsignals.so").splitlines()
    names = {line.split()[-1] for line in symbols}
    assert names == {"signals_last_error", *(name for name in names if name.endswith("_launch"))}
    assert len(names) == 10


@pytest.mark.parametrize(
    "description",
    [
        'saxpy, from line 3 of CUDA C.\n *\n * extern "C" __global__ void saxpy(const float *x,',
        "power, from an ElementwiseKernel.\n *\n * y = pow(x, a)\n *\n * x: float64, any",
        "norm, from a ReductionKernel.\n *\n * map: x * y\n * reduce: a + b\n * post: out",
    ],
)
def test_descriptions_in_the_header(signals: Path, description: str) -> None:
    assert f"/* {description}" in (signals / "include/signals.h").read_text()


# ---- errors of a build -----------------------------------------------------------------------

GLOBAL = 'extern "C" __global__ void'
REJECTED = {
    'k = cupy.ElementwiseKernel("T x", "T y", "y = x", "k")': "k takes one --signature 'k=...'",
    'k = cupy.ElementwiseKernel("raw int8 x", "raw int8 y", "y[i] = x[i]")': "only raw arrays",
    """k = cupy.ReductionKernel("int32 x", "int32 y", "{x}", "Sum{a.x + b.x}", "y = a.x",
    reduce_type="Sum", preamble="struct Sum { int x; };")""": "reduces Sum, which is not a number",
    f"k = cupy.RawKernel('struct P {{ int a; }}; {GLOBAL} k(P p, int *x) {{}}', 'k')": (
        "`P p` of k has an unknown type: pass --signature"
    ),
    f"k = cupy.RawKernel('{GLOBAL} k(int **x) {{}}', 'k')": "`int * * x` of k has an unknown type",
    f"k = cupy.RawKernel('{GLOBAL} k(int x) {{}}', 'k')": "k has no array argument",
    f"""k = cupy.RawKernel('''
#define KERNEL(n) {GLOBAL} n(int *x) {{}}
KERNEL(k)''', "k")""": "k is not defined, or a macro defines it",
    f"""k = cupy.RawKernel('{GLOBAL} k(int *x) {{ asm("bar"); }}', "k")
""": "build it with --targets cuda",
    f"""k = cupy.RawKernel('''
#include <cooperative_groups.h>
{GLOBAL} k(int *x) {{ cooperative_groups::this_grid().sync(); }}
''', "k", enable_cooperative_groups=True)""": "k waits for all blocks: build it with --targets",
    f"k = cupy.RawKernel('{GLOBAL} k(int *x) {{ x[0] = y; }}', 'k')": "error[inline-c]",
    f"""k = cupy.RawKernel('{GLOBAL} k(int *x) {{}}', "k")
m = cupy.RawKernel('{GLOBAL} m(int *x) {{}}', "m", options=("--fmad=false",))
""": "kernels in CUDA C have different options",
    f"k = cupy.RawKernel('{GLOBAL} k(int *x) {{}}', 'k', options=('-arch=sm_80',))": (
        "is compiled for one GPU"
    ),
}


@pytest.mark.parametrize("source", REJECTED)
def test_rejected_kernels(tmp_path: Path, source: str) -> None:
    path = tmp_path / "rejected.py"
    path.write_text(f"from pycu2c import cupy\n{source}\n")
    arguments = ["build", str(path), "-o", str(tmp_path / "library"), "--targets", "cpu"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert REJECTED[source] in result.output
    assert not (tmp_path / "library").exists()


def test_types_of_a_signature(tmp_path: Path) -> None:
    path = tmp_path / "typed.py"
    path.write_text(
        """from pycu2c import cupy
k = cupy.RawKernel('''typedef float real;
extern "C" __global__ void k(const void *x, real a, int n) {}''', "k")
"""
    )
    output = tmp_path / "library"
    signature = "--signature=uint8[:], {}, int32"
    arguments = ["build", str(path), "-o", str(output), "--targets", "cpu"]
    result = CliRunner().invoke(main, [*arguments, signature.format("float64")])
    assert "do not have the types that the text or --signature names: they have 8, 4, 4 bytes" in (
        result.output
    )
    result = CliRunner().invoke(main, [*arguments, signature.format("float32")])
    assert result.exit_code == 0, result.output
    assert "x: uint8, any number of axes" in (output / "include/typed.h").read_text()
