"""The binding of a built library to TVM-FFI: ``tvm_ffi.load_module(...).KERNEL(...)``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tvm_ffi

from aot import exported_records, exported_scalars
from aot.conftest import LOADERS, build, build_file, run
from aot.exported_records import message, particle
from aot.test_loaders import C11, COMPILERS, DEVICES, LIBRARIES, WARNINGS, check_results, sources
from pycu2c import cuda
from pycu2c.aot.bindings import TVM_FFI
from pycu2c.cuda_driver import driver
from support.frameworks import is_tested

TARGETS = "cpu,cuda" if driver.available() else "cpu"
HEADERS, LINKED = TVM_FFI.flags()[:2], TVM_FFI.flags()[2:]
FOR_CPU = "--targets", "cpu", "--bindings", "c,tvm-ffi"
Arrays = Callable[[Any, str], Any]


@pytest.fixture(scope="module")
def finance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finance_for_tvm_ffi")
    build(folder, "--targets", TARGETS, "--bindings", "c,cmake,tvm-ffi")
    return folder


@pytest.fixture(scope="module")
def module(finance: Path) -> Any:
    return tvm_ffi.load_module(str(finance / "lib/libfinance_tvm_ffi.so"))


def numpy_array(values: np.ndarray, device: str) -> Any:
    """Return an array of NumPy, or one of this package on a GPU."""
    return values if device == "cpu" else cuda.to_device(values)


def tvm_ffi_tensor(values: np.ndarray, device: str) -> Any:
    return tvm_ffi.from_dlpack(numpy_array(values, device))


def torch_tensor(values: np.ndarray, device: str) -> Any:
    import torch

    return torch.from_numpy(values).to(device)


KINDS = [numpy_array, tvm_ffi_tensor, *([torch_tensor] if is_tested("torch") else [])]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("array", KINDS)
def test_results_are_those_of_launches(
    module: Any, numbers: Path, tmp_path: Path, array: Arrays, device: str
) -> None:
    x = np.fromfile(numbers)
    image = x[: 70 * 71].astype(np.float32).reshape(70, 71)
    results = [array(a, device) for a in (np.zeros_like(image), np.zeros(20), np.zeros(5000))]
    smooth, sums, prices = results
    from_x = array(x, device)
    module.stencil(array(image, device), smooth, 0.2, (5, 9), (16, 8))
    module.block_sums(array(x[::2], device), sums, 7, 20, 128)
    module.black_scholes(from_x, from_x, from_x, 0.02, 0.3, prices, True, 20, tvm_ffi.Shape((256,)))
    (tmp_path / "result").write_bytes(b"".join(bytes_of(r) for r in results))
    check_results(numbers, tmp_path / "result", device)


def bytes_of(array: Any) -> bytes:
    if isinstance(array, tvm_ffi.Tensor) and array.device.type == "cuda":
        array = cuda.from_dlpack(array)
    if hasattr(array, "copy_to_host"):
        array = array.copy_to_host()
    return np.from_dlpack(array.cpu() if hasattr(array, "cpu") else array).tobytes()


def test_errors_are_raised(module: Any) -> None:
    a = np.ones((4, 4), np.float32)
    out = np.zeros_like(a)
    with pytest.raises(TypeError, match=r"stencil: takes \(a, out, weight, grid, block, shared"):
        module.stencil(a, out, 0.2)
    with pytest.raises(TypeError, match="stencil: out is not an array"):
        module.stencil(a, 1, 0.2, 1, 1)
    with pytest.raises(TypeError, match="stencil: weight is not a number"):
        module.stencil(a, out, "0.2", 1, 1)
    with pytest.raises(ValueError, match="out is float64 with 2 axes, and stencil takes float32"):
        module.stencil(a, out.astype(float), 0.2, 1, 1)
    with pytest.raises(ValueError, match="grid and block are 1 to 3 lengths each"):
        module.stencil(a, out, 0.2, (1, 1, 1, 1), 1)
    with pytest.raises(ValueError, match="shared_bytes is a number of bytes"):
        module.stencil(a, out, 0.2, 1, 1, -1)
    with pytest.raises(TypeError, match="block_sums: first is not an integer"):
        module.block_sums(np.ones(4), np.ones(4), 0.5, 1, 128)


def test_numbers_of_numpy(module: Any) -> None:
    a, out = np.ones((4, 4), np.float32), np.zeros((4, 4), np.float32)
    for number in (np.float32(0.5), np.float64(0.5), np.int32(0)):
        module.stencil(a, out, number, np.int64(1), [4, 4])
        assert (out == 1).all()


def test_records_are_bytes_along_a_last_axis(tmp_path: Path) -> None:
    build_file(exported_records.__file__, tmp_path, "--name", "records", *FOR_CPU)
    records = tvm_ffi.load_module(str(tmp_path / "lib/librecords_tvm_ffi.so"))
    particles, messages = np.zeros(5, particle), np.zeros(5, message)
    as_bytes = [a[:, None].view(np.uint8) for a in (particles, messages)]
    records.move(*as_bytes, 0.5, 1, 8)
    assert particles["at"]["x"].tolist() == messages["from"]["at"]["x"].tolist() == [0.5] * 5
    v, out = np.ones((5, 4), np.float32), np.zeros((5, 4), np.float32)
    records.shift(v, out, 1, 8)
    assert out.tolist() == [[2, 1, 1, 1]] * 5
    with pytest.raises(ValueError, match="one more axis of length 72"):
        records.move(particles.view(np.uint8), as_bytes[1], 0.5, 1, 8)


def test_complex_numbers_are_tuples(tmp_path: Path) -> None:
    build_file(exported_scalars.__file__, tmp_path, "--name", "scalars", *FOR_CPU)
    scalars = tvm_ffi.load_module(str(tmp_path / "lib/libscalars_tvm_ffi.so"))
    x = np.array([2, 1j], np.complex64)
    scalars.scale(x, (0, 2), 1, 8)
    scalars.scale(x, 3, 1, 8)
    assert x.tolist() == [12j, -6]
    for number in ((1,), (1, 2, 3), (1, "a"), "a"):
        with pytest.raises(TypeError, match="factor is not a number or a tuple of two"):
            scalars.scale(x, number, 1, 8)


def test_functions_are_a_library_of_their_own(finance: Path) -> None:
    symbols = run("nm", "-D", "--defined-only", finance / "lib/libfinance_tvm_ffi.so")
    kernels = ("stencil", "block_sums", "black_scholes")
    functions = {f"__tvm_ffi_{name}" for name in kernels}
    assert {line.split()[-1] for line in symbols.splitlines()} == functions
    assert "tvm_ffi" not in run("ldd", finance / "lib/libfinance.so")


@pytest.mark.parametrize("compiler", COMPILERS)
def test_source_has_no_warnings(finance: Path, tmp_path: Path, compiler: str) -> None:
    source, include = finance / "src/finance_tvm_ffi.c", f"-I{finance / 'include'}"
    flags = *C11, *WARNINGS, include, *HEADERS, "-O2", "-c"
    run(compiler, *flags, source, "-o", tmp_path / "object.o")


CALLS = """\
right: 0
too few: -1 TypeError: block_sums: takes (a, sums, first, grid, block, shared_bytes=0)
none: -1 TypeError: block_sums: takes (a, sums, first, grid, block, shared_bytes=0)
argument 0 is None: -1 TypeError: block_sums: a is not an array
argument 1 is None: -1 TypeError: block_sums: sums is not an array
argument 2 is None: -1 TypeError: block_sums: first is not an integer
argument 3 is None: -1 ValueError: block_sums: grid and block are 1 to 3 lengths each
argument 4 is None: -1 ValueError: block_sums: grid and block are 1 to 3 lengths each
a tuple of 4: -1 ValueError: block_sums: grid and block are 1 to 3 lengths each
a tuple with a float: -1 ValueError: block_sums: grid and block are 1 to 3 lengths each
a shape: 0
float32: -1 ValueError: a is float32 with 1 axis, and block_sums takes float64 with 1
121 128 128 128 128 128 128 104 \n"""


@pytest.mark.parametrize("device", DEVICES)
def test_functions_check_calls(finance: Path, tmp_path: Path, device: str) -> None:
    """A C program calls a function as TVM-FFI does; sanitizers find nothing."""
    flags = *C11, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g"
    files = LOADERS / "tvm_ffi_calls.c", finance / "src/finance_tvm_ffi.c", *sources(finance)
    include = f"-I{finance / 'include'}", *HEADERS
    linked = *LINKED, f"-Wl,-rpath,{LINKED[0].removeprefix('-L')}", *LIBRARIES
    run("gcc", *flags, *include, *files, "-o", tmp_path / "program", *linked)
    assert run(tmp_path / "program", device) == CALLS


def test_cmake_option(finance: Path, tmp_path: Path) -> None:
    run("cmake", "-S", finance, "-B", tmp_path, f"-DPython_EXECUTABLE={sys.executable}")
    run("cmake", "--build", tmp_path)
    assert tvm_ffi.load_module(str(tmp_path / "libfinance_tvm_ffi.so")).stencil
