"""Launches choose the signature by the arrays, and convert the numbers."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot import exported_signatures
from aot.conftest import build_file, run
from aot.loaders.plain import Dim3, tensor
from aot.test_loaders import C11, COMPILERS, WARNINGS
from pycu2c.aot.build_settings import BuildSettings
from pycu2c.aot.exported_library import ExportedLibrary, ExportError, KernelRequest
from pycu2c.aot.library_files import library_files
from pycu2c.aot.output_folder import write_files
from pycu2c.aot.python_kernels import export_python
from pycu2c.declarations.signatures import parse_signature
from support.golden_kernels import NAMES, kernel_of, module_of

INVALID_ARGUMENT = 1


@pytest.fixture(scope="module")
def scaling(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("scaling")
    build_file(exported_signatures.__file__, folder, "--name", "scaling", "--targets", "cpu")
    loaded = ctypes.CDLL(str(folder / "lib/libscaling.so"))
    loaded.scaling_last_error.restype = ctypes.c_char_p
    return loaded


def scale(library: ctypes.CDLL, array: np.ndarray[Any, Any], factor: float) -> tuple[int, str]:
    configuration = Dim3(1, 1, 1), Dim3(64, 1, 1), ctypes.c_size_t(0), None
    number = ctypes.c_double(factor)
    status = library.scaling_scale_launch(ctypes.byref(tensor(array)), number, *configuration)
    return status, library.scaling_last_error().decode() if status else ""


@pytest.mark.parametrize("step", [1, 3, -2])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_layouts(scaling: ctypes.CDLL, dtype: str, step: int) -> None:
    array = np.arange(60, dtype=dtype)
    expected = array.copy()
    expected[::step] *= 3
    assert scale(scaling, array[::step], 3) == (0, "")
    np.testing.assert_array_equal(array, expected)


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (2.5, "factor = 2.5 is not an integer"),
        (float("nan"), "factor = nan is not an integer"),
        (2.0**31, "factor = 2147483648 does not fit int32"),
    ],
)
def test_numbers_that_are_no_integers(scaling: ctypes.CDLL, factor: float, message: str) -> None:
    status, text = scale(scaling, np.arange(60, dtype=np.int32), factor)
    assert (status, text) == (INVALID_ARGUMENT, message)


UNSUPPORTED = {
    "debug_print": "calls print",
    "mandelbrot": "two signatures",
    "saxpy": "two signatures",
    "scale": "two signatures",
    "texture_rotate": "a texture2d",
}


PERMITTED = {"saxpy_half": ("-Wno-pedantic", "-Wno-unused-function")}  # _Float16 and its functions


def golden_library(name: str) -> ExportedLibrary:
    signatures = [parse_signature(text) for text in module_of(name).SIGNATURES.values()]
    return export_python("golden", [KernelRequest(kernel_of(name), signatures)], ["cpu"])


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNSUPPORTED])
def test_goldens_have_no_warnings(tmp_path: Path, name: str, compiler: str) -> None:
    write_files(tmp_path, library_files(golden_library(name), (), BuildSettings()))
    for source in (tmp_path / "src").glob("*.c"):
        flags = *C11, *WARNINGS, *PERMITTED.get(name, ()), f"-I{tmp_path / 'include'}", "-c"
        run(compiler, *flags, source, "-o", tmp_path / "object.o")


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_goldens_that_a_library_cannot_have(name: str) -> None:
    with pytest.raises(ExportError, match=UNSUPPORTED[name]):
        golden_library(name)
