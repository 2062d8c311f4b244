"""Floating-point arithmetic of libraries is that of launches in process, with all options."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot.conftest import build_file, run
from aot.loaders.plain import Dim3, tensor
from pycu2c.toolchain.cc.discovery import find_compiler
from support.kernels_from_text import module_from

SOURCE = """
from pycu2c import cuda, kernel

@kernel("void(DTYPE[::1], DTYPE[::1], DTYPE[::1], DTYPE[::1])"OPTIONS)
def k(x, y, z, out):
    i = cuda.grid(1)
    if i < len(x):
        out[i] = x[i] * y[i] + z[i] * x[i] - y[i] * z[i] / x[i]
"""


TOLERANCES = {"float32": 1e-5, "float16": 1e-2}
OPTIONS = ("", ", fmad=False", ", fastmath=True")
CASES = [(dtype, options) for dtype in ("float32", "float16") for options in OPTIONS]
# with fastmath, complex results depend on where a vector of the processor ends
CASES += [("complex64", options) for options in OPTIONS[:2]]


@pytest.mark.parametrize(("dtype", "options"), CASES)
def test_library_computes_what_launches_do(tmp_path: Path, dtype: str, options: str) -> None:
    source = tmp_path / "arithmetic.py"
    source.write_text(SOURCE.replace("DTYPE", dtype).replace("OPTIONS", options))
    build_file(
        str(source), tmp_path, "--targets", "cpu", f"--cpu-flags={' '.join(find_compiler().flags)}"
    )
    random = np.random.default_rng(1)
    arrays = [(random.standard_normal(5000) + 1j * random.standard_normal(5000)) for _ in range(4)]
    arrays = [(a if dtype == "complex64" else a.real).astype(dtype) for a in arrays]
    kernel = module_from(source.read_text(), tmp_path).k
    kernel[50, 100](*arrays)
    expected = arrays[3].copy()
    run("cmake", "-S", tmp_path, "-B", tmp_path / "cmake")
    run("cmake", "--build", tmp_path / "cmake")
    for folder in ("lib", "cmake"):
        arrays[3][:] = 0
        assert launch(tmp_path / folder / "libarithmetic.so", arrays) == 0
        if "fastmath" in options:  # which computes reciprocals as the processor is best at
            np.testing.assert_allclose(arrays[3], expected, rtol=TOLERANCES[dtype], atol=1e-2)
        else:
            np.testing.assert_array_equal(arrays[3], expected, folder)


def launch(library: Path, arrays: list[Any]) -> int:
    tensors = [ctypes.byref(tensor(a)) for a in arrays]
    configuration = Dim3(50, 1, 1), Dim3(100, 1, 1), ctypes.c_size_t(0), None
    return ctypes.CDLL(str(library)).arithmetic_k_launch(*tensors, *configuration)
