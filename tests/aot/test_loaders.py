"""Programs that use a built library compute what launches in process do."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

from aot.conftest import LOADERS, expected, run
from pycu2c.cuda_driver import driver

DEVICES = ["cpu", *([pytest.param("cuda", marks=pytest.mark.gpu)] if driver.available() else [])]
WARNINGS = ("-Wall", "-Wextra", "-Werror", "-pedantic")
COMPILERS = ("gcc", "clang")
C11 = ("-std=c11", "-fopenmp-simd", "-Wno-pass-failed")
LIBRARIES = ("-pthread", "-ldl", "-lm")


def sources(library: Path) -> list[Path]:
    return [library / "src/finance_launch.c", library / "src/finance.c"]


def check_results(numbers: Path, result: Path, device: str) -> None:
    """Compare what a loader has written: bit for bit on the CPU."""
    data, wanted = result.read_bytes(), expected(numbers, device)
    if device == "cpu":
        assert data == wanted
    sizes = np.float32, 70 * 71 * 4
    for kind, part in ((sizes[0], slice(sizes[1])), (np.float64, slice(sizes[1], None))):
        computed, right = np.frombuffer(data[part], kind), np.frombuffer(wanted[part], kind)
        np.testing.assert_allclose(computed, right, rtol=1e-6 if kind is np.float32 else 1e-12)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("compiler", COMPILERS)
def test_c(library: Path, numbers: Path, tmp_path: Path, device: str, compiler: str) -> None:
    program, result = tmp_path / "main", tmp_path / "result"
    include = f"-I{library / 'include'}"
    link = f"-L{library / 'lib'}", "-lfinance", f"-Wl,-rpath,{library / 'lib'}", "-ldl"
    run(compiler, *C11, *WARNINGS, include, LOADERS / "main.c", "-o", program, *link)
    run(program, device, numbers, result)
    check_results(numbers, result, device)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_sources_have_no_warnings(library: Path, tmp_path: Path, compiler: str) -> None:
    for source in sources(library):
        flags = *C11, *WARNINGS, f"-I{library / 'include'}", "-O2", "-c"
        run(compiler, *flags, source, "-o", tmp_path / "object.o")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("threads", ["pool", "openmp", "none"])
def test_cpp_finds_the_package(
    library: Path, numbers: Path, tmp_path: Path, device: str, threads: str
) -> None:
    installed, result = tmp_path / "installed", tmp_path / "result"
    options = f"-DCMAKE_INSTALL_PREFIX={installed}", f"-DFINANCE_THREADS={threads}"
    run("cmake", "-S", library, "-B", tmp_path / "library", *options)
    run("cmake", "--build", tmp_path / "library")
    run("cmake", "--install", tmp_path / "library")
    options = f"-DCMAKE_PREFIX_PATH={installed}", f"-DCMAKE_CXX_FLAGS={' '.join(WARNINGS)}"
    run("cmake", "-S", LOADERS, "-B", tmp_path / "program", *options)
    run("cmake", "--build", tmp_path / "program")
    run(tmp_path / "program/main_cpp", device, numbers, result)
    check_results(numbers, result, device)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_containers(library: Path, tmp_path: Path, compiler: str) -> None:
    program, options = tmp_path / "containers", ("-std=c++17", *WARNINGS, f"-I{library}/include")
    linked = f"-L{library}/lib", "-lfinance", f"-Wl,-rpath,{library}/lib"
    run(compiler, *options, LOADERS / "containers.cpp", "-o", program, *linked)
    assert run(program) == "100 128 128 1\n"


@pytest.mark.parametrize("threads", ["pool", "openmp"])
def test_static_library_of_cmake(
    library: Path, numbers: Path, tmp_path: Path, threads: str
) -> None:
    """A project in C++ links the static library and what the library links."""
    installed, result = tmp_path / "installed", tmp_path / "result"
    options = f"-DCMAKE_INSTALL_PREFIX={installed}", f"-DFINANCE_THREADS={threads}"
    run("cmake", "-S", library, "-B", tmp_path / "library", "-DBUILD_SHARED_LIBS=OFF", *options)
    run("cmake", "--build", tmp_path / "library", "--target", "install")
    run("cmake", "-S", LOADERS, "-B", tmp_path / "program", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "--build", tmp_path / "program")
    run(tmp_path / "program/main_cpp", "cpu", numbers, result)
    check_results(numbers, result, "cpu")
    config = (installed / "lib/pkgconfig/finance.pc").read_text()
    assert ("-fopenmp" in config) == (threads == "openmp")


def test_unknown_threads_of_cmake(library: Path, tmp_path: Path) -> None:
    command = ["cmake", "-S", library, "-B", tmp_path, "-DFINANCE_THREADS=two"]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode
    assert "FINANCE_THREADS is two: set it to pool, openmp or none" in completed.stderr


@pytest.mark.parametrize("device", DEVICES)
def test_ctypes(library: Path, numbers: Path, tmp_path: Path, device: str) -> None:
    program, result = LOADERS / "plain.py", tmp_path / "result"
    run(sys.executable, "-I", program, library / "lib/libfinance.so", numbers, result, device)
    check_results(numbers, result, device)


@pytest.mark.slow
def test_wheel_in_a_clean_environment(library: Path, numbers: Path, tmp_path: Path) -> None:
    project, result = tmp_path / "project", tmp_path / "result"
    shutil.copytree(library, project)
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", tmp_path, project)
    (wheel,) = tmp_path.glob("finance-*.whl")
    venv.create(tmp_path / "clean", with_pip=True)
    python = tmp_path / "clean/bin/python"
    run(python, "-m", "pip", "install", "-q", wheel, "numpy")
    run(python, LOADERS / "packaged.py", numbers, result, folder=tmp_path)
    check_results(numbers, result, "cpu")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("sanitizer", ["address,undefined", "thread"])
@pytest.mark.parametrize("loader", ["main.c", "threads.c"])
def test_sanitizers_find_nothing(
    library: Path,
    numbers: Path,
    tmp_path: Path,
    device: str,
    sanitizer: str,
    loader: str,
) -> None:
    program = tmp_path / "program"
    flags = *C11, f"-fsanitize={sanitizer}", "-fno-sanitize-recover=all", "-O1", "-g"
    include = f"-I{library / 'include'}"
    run("gcc", *flags, include, LOADERS / loader, *sources(library), "-o", program, *LIBRARIES)
    run(program, device, *((numbers, tmp_path / "result") if loader == "main.c" else ()))


def test_aarch64(library: Path, numbers: Path, tmp_path: Path) -> None:
    program, result = tmp_path / "program", tmp_path / "result"
    flags = *C11, *WARNINGS, f"-I{library / 'include'}", "-O2", "-static"
    files = LOADERS / "main.c", *sources(library)
    run("aarch64-linux-gnu-gcc", *flags, "-Wno-error", *files, "-o", program, *LIBRARIES)
    run("qemu-aarch64", program, "cpu", numbers, result)
    data, wanted = result.read_bytes(), expected(numbers, "cpu")
    numbers_of_result = np.frombuffer(data[70 * 71 * 4 :]), np.frombuffer(wanted[70 * 71 * 4 :])
    np.testing.assert_allclose(*numbers_of_result, rtol=1e-12)


def test_library_needs_neither_python_nor_pycu2c(library: Path) -> None:
    shared = library / "lib/libfinance.so"
    needed = run("ldd", shared)
    assert "python" not in needed
    assert "pycu2c" not in needed
    assert platform.system() != "Linux" or "libc.so" in needed
    exported = {line.split()[-1] for line in run("nm", "-D", "--defined-only", shared).splitlines()}
    launches = {f"finance_{name}_launch" for name in ("stencil", "block_sums", "black_scholes")}
    assert exported == {"finance_last_error", *launches}


@pytest.mark.parametrize("device", DEVICES)
def test_python_package(library: Path, numbers: Path, tmp_path: Path, device: str) -> None:
    """The package works in the folder of the build, too, and on a GPU."""
    program, result = LOADERS / "packaged.py", tmp_path / "result"
    code = f"import sys; sys.path.insert(0, {str(library / 'python')!r}); import runpy; "
    code += f"sys.argv[1:] = {[str(numbers), str(result), device]!r}; "
    code += f"runpy.run_path({str(program)!r}, run_name='__main__')"
    run(sys.executable, "-c", code)
    check_results(numbers, result, device)
