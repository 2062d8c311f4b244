"""The generated texts of CuPy's kernels for a GPU and the CPU, compared with recorded ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c.cupy import ElementwiseKernel, ReductionKernel
from support.paths import DATA

RECORDED = DATA / "recorded" / "cupy"
F32 = np.ones((64, 96), np.float32)


def axpy() -> Any:
    kernel = ElementwiseKernel("T x, T y, T a", "T z", "z = a * x + y", "axpy")
    kernel(F32, F32, 2)
    return kernel


def broadcast() -> Any:
    kernel = ElementwiseKernel("T x, U y", "T z", "z = x * y", "scaled_rows")
    kernel(F32, np.arange(64)[:, None])
    return kernel


def raw() -> Any:
    text = "ptrdiff_t at[] = {i % 3, i / 3};\nz = x[at] + y[n - 1 - i]"
    kernel = ElementwiseKernel("raw T x, raw T y", "T z", text, "gathered")
    kernel(np.ones((4, 3)).T, np.ones(12), np.ones(12))
    return kernel


def in_place() -> Any:
    kernel = ElementwiseKernel(
        "float32 x", "float32 x", "if (x < 0) return;\nx = sqrtf(x)", "roots"
    )
    kernel(F32, F32.copy())
    return kernel


def norm(shape: tuple[int, ...], axis: Any) -> Any:
    kernel = ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")
    kernel(np.ones(shape, np.float32), axis=axis)
    return kernel


def largest() -> Any:
    kernel = ReductionKernel("T x", "T y", "x", "max(a, b)", "y = a", None, "largest")
    kernel(np.ones((50, 40, 30)), axis=(0, 2))
    return kernel


CASES: dict[str, Callable[[], Any]] = {
    "axpy": axpy,
    "broadcast": broadcast,
    "raw": raw,
    "in_place": in_place,
    "norm_of_all": lambda: norm((1 << 20,), None),
    "norm_of_rows": lambda: norm((1000, 24), 1),
    "norm_of_columns": lambda: norm((1000, 500), 0),
    "largest": largest,
}


def texts(case: str) -> dict[str, str]:
    """By the suffixes of their files."""
    kernel = CASES[case]()
    on_cpu = kernel.inspect("c")
    own = on_cpu.rpartition("#undef PYCU2C_STORE\n")[2].lstrip()
    return {".cu": kernel.inspect("cuda"), ".cpp": own}


@pytest.mark.golden
@pytest.mark.parametrize("case", CASES)
def test_texts(case: str, request: pytest.FixtureRequest) -> None:
    for suffix, text in texts(case).items():
        file = RECORDED / f"{case}{suffix}"
        if request.config.getoption("--update-golden") and (
            not file.exists() or file.read_text() != text
        ):
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
            pytest.fail(f"{file} is written anew: read it")
        assert file.read_text() == text


def test_every_file_is_of_a_case() -> None:
    assert {file.stem for file in RECORDED.iterdir()} == set(CASES)
    assert {file.suffix for file in RECORDED.iterdir()} == {".cu", ".cpp"}


@pytest.mark.parametrize("case", CASES)
def test_a_gpu_gets_them_compiled(case: str) -> None:
    assert ".visible .entry" in CASES[case]().inspect("ptx")


def test_loads_of_a_norm_are_of_several_elements() -> None:
    assert "ld.global.v4" in norm((1 << 20,), None).inspect("ptx")
