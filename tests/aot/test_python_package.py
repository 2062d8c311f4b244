"""The Python package of a library: what it takes, and the errors that it raises."""

from __future__ import annotations

import importlib
import inspect
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot.conftest import forget_package


@pytest.fixture(scope="module")
def finance(library: Path) -> Iterator[Any]:
    """Return the package of the library finance."""
    sys.path.insert(0, str(library / "python"))
    forget_package("finance")
    yield importlib.import_module("finance")
    sys.path.remove(str(library / "python"))
    forget_package("finance")


class UnversionedArray:
    """An array that exports DLPack before version 1.0, as NumPy before 2.1 does."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream: None = None) -> Any:
        return self._array.__dlpack__(stream=stream)


@pytest.mark.parametrize("as_array", [np.asarray, UnversionedArray, lambda a: a.__dlpack__()])
def test_arrays(finance: Any, as_array: Any) -> None:
    x, sums = np.arange(512.0), np.zeros(2)
    finance.block_sums(as_array(x[::2]), as_array(sums), 0, grid=2, block=128)
    assert sums.tolist() == [x[:256:2].sum(), x[256::2].sum()]


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (0, 0)])
def test_empty_arrays_are_contiguous(finance: Any, shape: tuple[int, int]) -> None:
    """NumPy gives them strides of 0."""
    finance.stencil(np.zeros(shape, np.float32), np.zeros(shape, np.float32), 1, grid=1, block=32)


def test_numbers_of_numpy(finance: Any) -> None:
    x, sums = np.ones(128), np.zeros(1)
    finance.block_sums(x, sums, np.int32(28), grid=np.int64(1), block=[np.int64(128)])
    assert sums.tolist() == [100]


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array.flags.writeable = False
    return array


def test_arrays_that_are_read_may_be_read_only(finance: Any) -> None:
    sums = np.zeros(1)
    finance.block_sums(read_only(np.ones(128)), sums, 0, grid=1, block=128)
    assert sums.tolist() == [128]


ONES = np.ones(128)
ERRORS: dict[str, tuple[tuple[Any, ...], type[Exception], str]] = {
    "missing": (
        (ONES,),
        TypeError,
        r"block_sums\(\) missing 2 required positional arguments: ",
    ),
    "too many": ((ONES, ONES, 1, 2), TypeError, r"block_sums\(\) takes 3 positional arguments but"),
    "list": (([1.0], ONES, 0), TypeError, "a is a list, which has no __dlpack__"),
    "float": ((ONES, ONES, 1.5), TypeError, "first is 1.5: 'float' object cannot be interpreted"),
    "text": ((ONES, ONES, "a"), TypeError, "first is 'a': 'str' object cannot be interpreted"),
    "int64": (
        (ONES, ONES, 1 << 63),
        OverflowError,
        "first is 9223372036854775808, which is not in",
    ),
    "range": ((ONES, ONES, 1 << 31), RuntimeError, "first = 2147483648 does not fit int32"),
    "read-only": (
        (ONES, read_only(np.zeros(1)), 0),
        ValueError,
        "sums is read-only, and the kernel writes it",
    ),
    "byte order": ((ONES.astype(">f8"), ONES, 0), BufferError, "a: .*native byte order"),
    "dtype": ((ONES.astype(np.float32), ONES, 0), RuntimeError, "a is float32 with 1 axis"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_wrong_arguments(finance: Any, case: str) -> None:
    arguments, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        finance.block_sums(*arguments, grid=1, block=128)


@pytest.mark.parametrize("grid", [(1, 1, 1, 1), (), -1, 1 << 32])
def test_wrong_grids(finance: Any, grid: Any) -> None:
    with pytest.raises(ValueError, match="a grid or block has 1 to 3 lengths"):
        finance.block_sums(ONES, ONES, 0, grid=grid, block=128)


@pytest.mark.parametrize("grid", [None, 1.0, "a", (1, None), np.ones(1, int)])
def test_grids_that_are_no_integers(finance: Any, grid: Any) -> None:
    with pytest.raises(TypeError, match="grid is "):
        finance.block_sums(ONES, ONES, 0, grid=grid, block=128)


@pytest.mark.parametrize("size", [-1, 1 << 64])
def test_wrong_size_of_shared_memory(finance: Any, size: int) -> None:
    with pytest.raises(OverflowError, match=f"shared_bytes is {size}, which is not in"):
        finance.block_sums(ONES, ONES, 0, grid=1, block=128, shared_bytes=size)


class Stream:
    """A stream as those of CuPy and PyTorch."""

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 5


def test_streams(finance: Any) -> None:
    for stream in 0, 5, np.int64(5), Stream():
        finance.block_sums(ONES, np.zeros(1), 0, grid=1, block=128, stream=stream)
    for wrong in "a", "", None, 1.5, -1, 1 << 64:
        with pytest.raises((TypeError, OverflowError), match="stream is "):
            finance.block_sums(ONES, np.zeros(1), 0, grid=1, block=128, stream=wrong)


def test_keywords(finance: Any) -> None:
    x, sums = np.arange(128.0), np.zeros(1)
    finance.block_sums(first=100, a=x, sums=sums, grid=1, block=128)
    assert sums == x[100:].sum()
    with pytest.raises(TypeError, match=r"block_sums\(\) got an unexpected keyword argument 'q'"):
        finance.block_sums(x, sums, q=0, grid=1, block=128)
    with pytest.raises(TypeError, match=r"block_sums\(\) missing 1 .* argument: 'grid'"):
        finance.block_sums(x, sums, 0, block=128)


def test_signature_and_documentation(finance: Any) -> None:
    signature = "(a, sums, first, *, grid, block, shared_bytes=0, stream=0)"
    assert str(inspect.signature(finance.block_sums)) == signature
    assert inspect.getdoc(finance.block_sums) == (
        "Sum the elements of each block of 128, from the index ``first`` on.\n\n"
        "a: float64, 1 axis\nsums: float64, 1 axis, C-contiguous, written\nfirst: int32"
    )


def test_pickle(finance: Any) -> None:
    assert pickle.loads(pickle.dumps(finance.block_sums)) is finance.block_sums
    error = pickle.loads(pickle.dumps(finance.LaunchError(1, "a message")))
    assert (error.status, str(error)) == (1, "a message")
