"""Launch functions return a status and a message for each wrong argument."""

from __future__ import annotations

import ctypes
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot.loaders.plain import Dim3, Tensor, tensor

SUCCESS, INVALID_ARGUMENT, UNSUPPORTED_DEVICE = range(3)
Launch = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def launch(library: Path) -> Launch:
    """Return a function that launches ``block_sums`` or ``stencil``: its status, its message."""
    return launch_function(library / "lib/libfinance.so")


def launch_function(path: Path) -> Launch:
    loaded = ctypes.CDLL(str(path))
    loaded.finance_last_error.restype = ctypes.c_char_p

    def launch_with(
        name: str, *arguments: Any, grid: Any = (1, 1, 1), block: Any = (128, 1, 1), shared: int = 0
    ) -> tuple[int, str]:
        passed = [ctypes.byref(a) if isinstance(a, Tensor) else a for a in arguments]
        configuration = Dim3(*grid), Dim3(*block), ctypes.c_size_t(shared), None
        status = getattr(loaded, f"finance_{name}_launch")(*passed, *configuration)
        return status, loaded.finance_last_error().decode() if status else ""

    return launch_with


def values(count: int = 1000) -> Tensor:
    return tensor(np.ones(count))


def changed(array: Tensor, **fields: Any) -> Tensor:
    for name, value in fields.items():
        setattr(array, name, value)
    return array


def lengths(*numbers: int) -> Any:
    return (ctypes.c_int64 * len(numbers))(*numbers)


FIRST = ctypes.c_int64(0)
WRONG_ARRAYS = {
    "NULL": (None, "a is NULL"),
    "no shape": (changed(values(), shape=None), "a has no valid shape"),
    "negative axes": (changed(values(), ndim=-1), "a has no valid shape"),
    "too many axes": (changed(values(), ndim=17), "a has no valid shape"),
    "negative length": (changed(values(), shape=lengths(-5)), "a has the length -5 along axis 0"),
    "more elements than memory": (changed(values(), shape=lengths(1 << 50)), "more than 2**48"),
    "axes": (
        tensor(np.ones((4, 4))),
        "a is float64 with 2 axes, and block_sums takes float64 with 1",
    ),
    "dtype": (tensor(np.ones(9, np.float32)), "a is float32 with 1 axis"),
    "integers": (changed(values(), code=0), "a is int64 with 1 axis"),
    "vectors": (
        changed(values(), lanes=4),
        "a is float64x4 with 1 axis, and block_sums takes float64 with 1",
    ),
    "no address": (changed(values(), data=None), "a is not empty, but its address is NULL"),
    "alignment": (changed(values(), byte_offset=4), "a does not begin at a multiple of 8 bytes"),
    "another device": (changed(values(), device=(2, 0)), "a and sums are on different devices"),
}


@pytest.mark.parametrize("case", WRONG_ARRAYS)
def test_wrong_arrays(launch: Launch, case: str) -> None:
    array, message = WRONG_ARRAYS[case]
    status, text = launch("block_sums", array, values(), FIRST)
    assert status == INVALID_ARGUMENT
    assert message in text


def test_unknown_device(launch: Launch) -> None:
    arrays = (changed(values(), device=(12, 0)) for _ in range(2))
    status, text = launch("block_sums", *arrays, FIRST)
    assert (status, text) == (UNSUPPORTED_DEVICE, "a is neither on the CPU nor on an NVIDIA GPU")


def test_gpu_that_is_not_there(launch: Launch) -> None:
    arrays = (changed(values(), device=(2, 60)) for _ in range(2))
    status, text = launch("block_sums", *arrays, FIRST)
    assert status == UNSUPPORTED_DEVICE
    assert text.startswith(("libcuda.so.1", "there is no GPU 60", "there is no NVIDIA GPU"))


def test_array_that_is_not_contiguous(launch: Launch) -> None:
    image = np.ones((8, 8), np.float32)
    arrays = tensor(image[:, ::2]), tensor(image)
    status, text = launch("stencil", *arrays, ctypes.c_double(0.5))
    assert (status, text) == (INVALID_ARGUMENT, "a is not C-contiguous: pass a copy")


def test_number_out_of_range(launch: Launch) -> None:
    status, text = launch("block_sums", values(), values(), ctypes.c_int64(1 << 31))
    assert (status, text) == (INVALID_ARGUMENT, "first = 2147483648 does not fit int32")


@pytest.mark.parametrize("value", ["abc", "0", "-1", "2 threads", "1.5"])
def test_invalid_environment_variable(
    library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """A copy of the library reads the variable anew."""
    copy = shutil.copy(library / "lib/libfinance.so", tmp_path)
    monkeypatch.setenv("PYCU2C_THREADS", value)
    status, text = launch_function(Path(copy))("block_sums", values(), values(), FIRST)
    assert status == INVALID_ARGUMENT
    assert f"PYCU2C_THREADS is '{value}': set it to a number of threads, 1 or more" in text


WRONG_CONFIGURATIONS: dict[str, tuple[dict[str, Any], str]] = {
    "no blocks": ({"grid": (1, 0, 1)}, "a grid has 1 to 65535 blocks along y, not 0"),
    "negative": ({"grid": (-1, 1, 1)}, "blocks along x, not 4294967295"),
    "threads": ({"block": (32, 64, 1)}, "a block of block_sums has at most 1024 threads, not 2048"),
    "layers": ({"block": (1, 1, 65)}, "a block has 1 to 64 threads along z, not 65"),
    "shared": ({"shared": 1 << 20}, "a block has at most 232448 bytes of shared memory"),
}


@pytest.mark.parametrize("case", WRONG_CONFIGURATIONS)
def test_wrong_configurations(launch: Launch, case: str) -> None:
    configuration, message = WRONG_CONFIGURATIONS[case]
    status, text = launch("block_sums", values(), values(), FIRST, **configuration)
    assert status == INVALID_ARGUMENT
    assert message in text


def test_unknown_combination_of_types(launch: Launch) -> None:
    double, single = values(), tensor(np.ones(1000, np.float32))
    numbers = ctypes.c_double(0), ctypes.c_double(1)
    arguments = double, single, double, *numbers, double, ctypes.c_bool(False)
    status, text = launch("black_scholes", *arguments)
    assert status == INVALID_ARGUMENT
    assert text.startswith("black_scholes is not compiled for price float64, strike float32")


def test_more_elements_than_32_bits_count(launch: Launch) -> None:
    """One element is repeated; indices have 64 bits."""
    number, sums = np.ones(1), np.zeros(1)
    a = tensor(np.lib.stride_tricks.as_strided(number, ((1 << 32) + 5,), (0,)))
    assert launch("block_sums", a, tensor(sums), FIRST) == (SUCCESS, "")
    assert sums[0] == 128


def test_empty_arrays(launch: Launch) -> None:
    sums = np.full(1, math.nan)
    empty = changed(values(), shape=lengths(0), data=None)
    assert launch("block_sums", empty, tensor(sums), FIRST) == (SUCCESS, "")
    assert sums[0] == 0
