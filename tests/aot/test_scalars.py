"""Complex numbers and floats of 16 bits as arguments of built libraries."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot import exported_scalars
from aot.conftest import LOADERS, build_file, forget_package, run
from aot.test_loaders import DEVICES, WARNINGS
from pycu2c import cuda

LAUNCH = {"grid": 1, "block": 8}


@pytest.fixture(scope="module")
def scalars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scalars")
    build_file(exported_scalars.__file__, folder, "--name", "scalars")
    return folder


@pytest.fixture(scope="module")
def package(scalars: Path) -> Iterator[Any]:
    sys.path.insert(0, str(scalars / "python"))
    forget_package("scalars")
    yield importlib.import_module("scalars")
    sys.path.remove(str(scalars / "python"))
    forget_package("scalars")


def combined(package: Any, h: float = 0, b: float = 0, device: str = "cpu") -> complex:
    out = np.zeros(2, complex)
    arrays = [np.array([2, 1j]), out]
    if device == "cuda":
        arrays = [cuda.to_device(array) for array in arrays]
    package.combine(arrays[0], h, 1 + 2j, b, 1 - 1j, 3, arrays[1], **LAUNCH)
    if device == "cuda":
        out = arrays[1].copy_to_host()
    return complex(out[1])


@pytest.mark.parametrize("device", DEVICES)
def test_numbers_of_all_sizes(package: Any, device: str) -> None:
    half = float(np.float16(0.1))
    assert combined(package, 0.1, 3, device) == 1j * (1 - 1j) + 3 * (1 + 2j) + half + 3j


HALVES = [
    *(0.0, -0.0, 1 / 3, -2.5, 65504, 65519.99, 65520, -1e30, float("inf"), 6e-5, 6e-8, 2.9e-8),
    *(1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-40, 5e-324, -1.7e308),
    *(np.random.default_rng(1).normal(size=50) * 10.0 ** np.arange(-8, 5).repeat(4)[:50]),
]


@pytest.mark.filterwarnings("ignore:overflow")
def test_float16_is_rounded_to_nearest(package: Any) -> None:
    for number in HALVES:
        nearest = float(np.float16(number))
        assert combined(package, h=number) == 1j * (1 - 1j) + 3 * (1 + 2j) + nearest, number
    assert np.isnan(combined(package, h=float("nan")).real)


@pytest.mark.parametrize(
    ("number", "nearest"),
    [
        (1 / 3, 171 / 512),
        (1 + 2**-8, 1),
        (1 + 3 * 2**-8, 1 + 2**-6),
        (1 + 2**-8 + 2**-50, 1 + 2**-7),  # above the middle, which rounding to float32 would hide
        (-3.3e38, -248 * 2.0**120),
        (3.4e38, float("inf")),
        (9.3e-41, 2.0**-133),
        (4e-41, 0),
    ],
)
def test_bfloat16_is_rounded_to_nearest(package: Any, number: float, nearest: float) -> None:
    assert combined(package, b=number).imag == 7 + nearest


def test_signatures_choose_the_type_of_a_number(package: Any) -> None:
    for dtype, factor in ((np.complex64, 1 - 2j), (np.float32, 2.5), (np.int32, 3)):
        x = np.arange(5).astype(dtype)
        package.scale(x, factor, **LAUNCH)
        np.testing.assert_array_equal(x, np.arange(5) * factor)


@pytest.mark.parametrize(
    ("dtype", "factor", "message"),
    [
        (np.float32, 1j, "factor has an imaginary part"),
        (np.int32, 1j, "factor has an imaginary part"),
        (np.int32, 1.5, "factor = 1.5 is not an integer"),
        (np.int32, float("nan"), "factor = nan is not an integer"),
    ],
)
def test_numbers_of_another_type(package: Any, dtype: Any, factor: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        package.scale(np.ones(5, dtype), factor, **LAUNCH)


@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_cpp(scalars: Path, tmp_path: Path, compiler: str) -> None:
    library, program = scalars / "lib", tmp_path / "program"
    link = f"-L{library}", "-lscalars", f"-Wl,-rpath,{library}"
    include = f"-I{scalars / 'include'}"
    source = LOADERS / "scalars.cpp"
    run(compiler, "-std=c++17", *WARNINGS, include, source, "-o", program, *link)
    assert run(program) == "4.09997559 10 4 6\n"
