"""The binding of a built library to JAX: handlers of XLA's FFI, and the module ``NAME.jax``."""

from __future__ import annotations

import ctypes
import importlib
import pickle
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from aot import exported_coroutines, exported_records, exported_scalars
from aot.conftest import LOADERS, build, build_file, run
from aot.test_loaders import C11, COMPILERS, DEVICES, LIBRARIES, WARNINGS, check_results, sources
from pycu2c.aot.bindings import JAX
from pycu2c.cuda_driver import driver
from support.frameworks import jax_platforms

jax.config.update("jax_enable_x64", True)
TARGETS = "cpu,cuda" if driver.available() else "cpu"
HEADERS = JAX.flags()[:2]  # "-isystem", the folder
SUMS = jax.ShapeDtypeStruct((20,), np.float64)


@pytest.fixture(scope="module")
def finance(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finance_for_jax")
    build(folder, "--targets", TARGETS, "--bindings", "c,cmake,python,jax")
    return folder


def imported(library: Path, name: str) -> Any:
    """Import the module for JAX of a library's Python package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(library / "python"), *sys.path])
        return importlib.import_module(f"{name}.jax")


@pytest.fixture(scope="module")
def module(finance: Path) -> Any:
    return imported(finance, "finance")


@pytest.mark.parametrize("platform", jax_platforms())
def test_results_are_those_of_launches(
    module: Any, numbers: Path, tmp_path: Path, platform: str
) -> None:
    @jax.jit
    def compute(x: Any, image: Any) -> Any:
        smooth = module.stencil(image, 0.2, grid=(5, 9), block=(16, 8))
        sums = module.block_sums(first=7, a=x[::2], grid=20, block=128, out_shapes=SUMS)
        prices = module.black_scholes(x, x, x, 0.02, 0.3, True, grid=20, block=256)
        return smooth, sums, prices

    x = np.fromfile(numbers)
    with jax.default_device(jax.devices(platform)[0]):
        results = compute(x, x[: 70 * 71].astype(np.float32).reshape(70, 71))
    (tmp_path / "result").write_bytes(b"".join(np.asarray(r).tobytes() for r in results))
    check_results(numbers, tmp_path / "result", platform)


def test_documentation(module: Any) -> None:
    assert module.block_sums.__doc__.startswith("Sum the elements of each block of 128, ")
    assert pickle.loads(pickle.dumps(module.block_sums)) is module.block_sums


def test_batch(module: Any) -> None:
    images = jnp.asarray(np.random.default_rng(2).random((3, 20, 30)), np.float32)
    smooth = lambda a: module.stencil(a, 0.2, grid=(2, 3), block=(16, 8))  # noqa: E731
    result = jax.jit(jax.vmap(smooth))(images)
    for image, expected in zip(result, map(smooth, images)):
        np.testing.assert_array_equal(image, expected)


def test_library_chooses_the_signature(module: Any) -> None:
    x = np.full(4, 1.5, np.float32)
    launch = {"grid": 1, "block": 32}
    assert module.black_scholes(x, x, x, 0.02, 0.3, True, **launch).dtype == np.float32
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"INVALID_ARGUMENT: .*strike float64"):
        jax.block_until_ready(
            module.black_scholes(x, x.astype(float), x, 0.02, 0.3, True, **launch)
        )


def test_updated_array_is_a_result(tmp_path: Path) -> None:
    options = "--name", "waiting", "--targets", "cpu", "--bindings", "python,jax"
    build_file(exported_coroutines.__file__, tmp_path, *options)
    reverse = imported(tmp_path, "waiting").reverse
    a = jnp.arange(640, dtype=np.int32)
    with jax.default_device(jax.devices("cpu")[0]):
        incremented, reversed_ = jax.jit(lambda a: reverse(a, grid=10, block=64))(a)
    np.testing.assert_array_equal(incremented, np.arange(1, 641))
    np.testing.assert_array_equal(reversed_, np.arange(640, 0, -1))


def test_vectors_and_records_are_elements_of_a_last_axis(tmp_path: Path) -> None:
    options = "--name", "records", "--targets", "cpu", "--bindings", "python,jax"
    build_file(exported_records.__file__, tmp_path, *options)
    records = imported(tmp_path, "records")
    pixels = np.zeros((3, 5), exported_records.color)
    pixels["g"] = np.arange(15).reshape(3, 5)
    as_bytes, like = pixels[..., None].view(np.uint8), jax.ShapeDtypeStruct((3, 5, 4), np.float32)
    with jax.default_device(jax.devices("cpu")[0]):
        gray = lambda p: records.gray(p, grid=1, block=(8, 8), out_shapes=like)  # noqa: E731
        result = jax.jit(gray)(as_bytes)
    np.testing.assert_array_equal(result[..., 2], pixels["g"])


def test_complex_numbers(tmp_path: Path) -> None:
    options = "--name", "scalars", "--targets", "cpu", "--bindings", "python,jax"
    build_file(exported_scalars.__file__, tmp_path, *options)
    scale = imported(tmp_path, "scalars").scale
    with jax.default_device(jax.devices("cpu")[0]):
        for x, factor in (([2, 1j], 1 - 2j), ([2.0, 1.0], 3)):
            array = jnp.asarray(x, np.complex64 if factor != 3 else np.float32)
            result = jax.jit(lambda a, f=factor: scale(a, f, grid=1, block=8))(array)
            np.testing.assert_array_equal(result, np.asarray(x) * factor)


class Extension(ctypes.Structure):
    """An XLA_FFI_Metadata_Extension and the XLA_FFI_Metadata that it points to."""

    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("next", ctypes.c_void_p),
        ("metadata", ctypes.c_void_p),
        ("metadata_size", ctypes.c_size_t),
        ("version", ctypes.c_uint64 * 3),
        ("traits", ctypes.c_uint32),
    ]


def traits(library: Path, handler: str) -> int:
    """Ask a handler for its traits, as XLA does."""
    extension = Extension(type=1)
    extension.metadata = ctypes.addressof(extension) + Extension.metadata_size.offset
    frame = (ctypes.c_void_p * 20)(160, ctypes.addressof(extension))
    handle = getattr(ctypes.CDLL(str(library)), handler)
    handle.restype = ctypes.c_void_p
    assert handle(frame) is None  # no error
    return extension.traits


def test_handlers_that_command_buffers_may_record(finance: Path) -> None:
    """XLA may capture launches on GPUs."""
    library = finance / "lib/libfinance_xla.so"
    assert [traits(library, f"stencil_on_{target}") for target in ("cuda", "cpu")] == [1, 0]


def test_handlers_are_a_library_of_their_own(finance: Path) -> None:
    kernels = ("stencil", "block_sums", "black_scholes")
    handlers = {f"{name}_on_{target}" for name in kernels for target in ("cpu", "cuda")}
    launches = {"finance_last_error", *(f"finance_{name}_launch" for name in kernels)}
    for library, expected in (("finance_xla", handlers), ("finance", launches)):
        symbols = run("nm", "-D", "--defined-only", finance / f"lib/lib{library}.so")
        assert {line.split()[-1] for line in symbols.splitlines()} == expected


@pytest.mark.parametrize("compiler", COMPILERS)
def test_source_has_no_warnings(finance: Path, tmp_path: Path, compiler: str) -> None:
    source, include = finance / "src/finance_xla.c", f"-I{finance / 'include'}"
    flags = *C11, *WARNINGS, include, *HEADERS, "-O2", "-c"
    run(compiler, *flags, source, "-o", tmp_path / "object.o")


NO_FIRST = "block_sums: there is no integer attribute first"
NO_LENGTHS = "block_sums: grid and block are 1 to 3 lengths each"
WRONG_TYPE = "with 1 axis, and block_sums takes float64 with 1"
WRONG_CALLS = {
    "frame.args.size = 0": "block_sums: there is no operand for a",
    "frame.rets.size = 0": "block_sums: there is no result for sums",
    "frame.attrs.size = 0": NO_FIRST,
    "frame.attrs.size = 2": NO_LENGTHS,
    "names[1].len = 4": NO_FIRST,
    "of_first.dtype = XLA_FFI_DataType_F64": NO_FIRST,
    "of_grid.size = 4": NO_LENGTHS,
    "of_grid.size = 0": NO_LENGTHS,
    "of_block.dtype = XLA_FFI_DataType_F32": NO_LENGTHS,
    "types[0] = XLA_FFI_AttrType_STRING": NO_LENGTHS,
    "lengths[0] = -1": NO_LENGTHS,
    "shared_bytes = -1": "a block has at most 232448 bytes of shared memory",
    "operand.dtype = XLA_FFI_DataType_F32": f"a is float32 {WRONG_TYPE}",
    "operand.dtype = XLA_FFI_DataType_F8E5M2": f"a is type0 {WRONG_TYPE}",
    "operand.rank = 0": "a is float64 with 0 axes, and block_sums takes float64 with 1",
}


@pytest.mark.parametrize("device", DEVICES)
def test_handlers_check_calls(finance: Path, tmp_path: Path, device: str) -> None:
    """A C program calls a handler as XLA does; sanitizers find nothing."""
    flags = *C11, "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g"
    files = LOADERS / "xla_calls.c", finance / "src/finance_xla.c", *sources(finance)
    include = f"-I{finance / 'include'}", *HEADERS
    run("gcc", *flags, *include, *files, "-o", tmp_path / "program", *LIBRARIES)
    right, *wrong, sums = run(tmp_path / "program", device).splitlines()
    assert (right, sums) == ("right: 0 ", "121 128 128 128 128 128 128 104 ")
    assert wrong == [f"{call}: 3 {message}" for call, message in WRONG_CALLS.items()]


def test_cmake_option(finance: Path, numbers: Path, tmp_path: Path) -> None:
    options = f"-DCMAKE_INSTALL_PREFIX={tmp_path}", f"-DPython_EXECUTABLE={sys.executable}"
    for chosen in ("ON", "OFF"):
        build_folder = tmp_path / chosen
        run("cmake", "-S", finance, "-B", build_folder, *options, f"-DFINANCE_XLA={chosen}")
        run("cmake", "--build", build_folder)
        assert (build_folder / "libfinance_xla.so").exists() == (chosen == "ON")
