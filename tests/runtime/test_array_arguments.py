"""Array arguments with any strides, of any owner, used in place on all targets."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from pycu2c import cuda, kernel
from pycu2c.base.diagnostics import LaunchError
from pycu2c.kernels.kernel import Kernel


@kernel
def numbered(a):
    """Each element of an array of three axes says where it is, and what was there."""
    i, j, k = cuda.grid(3)
    if i < a.shape[0] and j < a.shape[1] and k < a.shape[2]:
        a[i, j, k] = 1000 * a[i, j, k] + 100 * i + 10 * j + k


@kernel
def copied(out, a):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = a[i]


def on(target: str, k: Kernel[...], grid: Any, *arguments: object) -> None:
    fresh = Kernel(k.python, backend=target)  # type: ignore[arg-type]
    for _ in range(3):  # the last of them by the short way
        fresh[grid, (2, 2, 2) if isinstance(grid, tuple) else 4](*arguments)


SLICES = st.builds(
    slice,
    st.one_of(st.none(), st.integers(-4, 4)),
    st.one_of(st.none(), st.integers(-4, 4)),
    st.sampled_from([1, 2, 3, -1, -2, -3]),
)


@settings(max_examples=40)
@given(
    slices=st.tuples(SLICES, SLICES, SLICES),
    axes=st.permutations([0, 1, 2]),
    order=st.sampled_from("CF"),
    dtype=st.sampled_from(["i4", "i8", "f4", "f8"]),
)
@pytest.mark.parametrize("target", ["cpu"])
def test_any_view(target: str, slices: Any, axes: Any, order: Any, dtype: str) -> None:
    base = np.ones((4, 4, 4), dtype, order)
    expected = np.ones((4, 4, 4), dtype, order)
    view, target_value = base[slices].transpose(axes), expected[slices].transpose(axes)
    places = np.indices(target_value.shape)
    for _ in range(2):
        target_value[...] = 1000 * target_value + 100 * places[0] + 10 * places[1] + places[2]
    fresh = Kernel(numbered.python, backend=target)  # type: ignore[arg-type]
    for _ in range(2):
        fresh[(2, 2, 2), (2, 2, 2)](view)
    np.testing.assert_array_equal(base, expected)  # what is not in the view is as it was


VIEWS: dict[str, Callable[[], Any]] = {
    "backwards": lambda: np.arange(12.0)[::-2],
    "a column": lambda: np.arange(18.0).reshape(6, 3)[:, 1],
    "one number": lambda: np.broadcast_to(np.float64(7), (6,)),
    "overlapping": lambda: as_strided(np.arange(9.0), (3, 3), (8, 16))[1],
    "read-only": lambda: np.frombuffer(np.arange(6.0).tobytes()),
    "of a matrix": lambda: np.array(np.arange(6.0).view(np.matrix).A1),
    "a field of records": lambda: (
        np.rec.array([(float(i), i) for i in range(6)], dtype=[("x", "f8"), ("n", "i8")]).x
    ),
    "of bytes": lambda: np.frombuffer(bytearray(np.arange(6.0).tobytes())),
    "of ctypes": lambda: np.ctypeslib.as_array((ctypes.c_double * 6)(*range(6))),
    "of a buffer": lambda: np.asarray(array.array("d", range(6))),
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_what_is_read(target: str, make: Callable[[], Any]) -> None:
    a = make()
    out = np.zeros(a.size)
    on(target, copied, 2, out, a)
    assert out.tolist() == np.asarray(a).tolist()


@pytest.mark.undisturbed  # compute-sanitizer keeps Python's frames, and what they name
def test_a_file_is_written_in_place(target: str, tmp_path: Path) -> None:
    path = tmp_path / "numbers"
    out = np.memmap(path, np.int32, "w+", shape=(6,))
    on(target, copied, 2, out, np.arange(6))
    out.flush()
    assert np.fromfile(path, np.int32).tolist() == [0, 1, 2, 3, 4, 5]
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        on(target, copied, 2, np.frombuffer(mapped, np.int32), np.arange(6, 12))
    assert np.fromfile(path, np.int32).tolist() == [6, 7, 8, 9, 10, 11]


def test_overlapping_views_share_their_memory(target: str) -> None:
    base = np.arange(8)
    one_block = Kernel(copied.python, backend=target, grid=1, block=1)  # type: ignore[arg-type]

    @kernel(backend=target, grid=1, block=1)  # type: ignore[arg-type]
    def swap_ends(a, b):
        a[0], b[-1] = b[-1], a[0]
        a[1] = 100
        b[0] += 1

    swap_ends(base[:5], base[1:])
    assert base.tolist() == [7, 101, 2, 3, 4, 5, 6, 0]
    one_block(base[1:2], base[7:])
    assert base[1] == 0


def test_empty_arrays(target: str) -> None:
    for shape in ((0,), (3, 0)):
        a = np.zeros(shape)
        on(target, copied, 2, a.reshape(-1)[:0], a.reshape(-1))
        a = np.zeros((*shape, 1, 1)[:3])
        on(target, numbered, (1, 1, 1), a)


@kernel
def moved(points):
    i = cuda.grid(1)
    if i < points.size:
        points[i].x += points[i].n


@pytest.mark.parametrize("kind", [np.ndarray, np.recarray])
def test_records(target: str, kind: Any) -> None:
    points = np.zeros(5, np.dtype([("x", "f4"), ("n", "i4")], align=True))
    points["n"] = range(5)
    seen = points.view(kind) if kind is np.ndarray else points.view(np.recarray)
    on(target, moved, 2, seen)
    assert points["x"].tolist() == [0, 3, 6, 9, 12]


NOT_ARRAYS = {
    "bytearray": (bytearray(8), r"pass numpy.frombuffer\(…, dtype\), which shares its memory"),
    "bytes": (b"12345678", r"pass numpy.frombuffer\(…, dtype\), which shares its memory"),
    "memoryview": (memoryview(bytearray(8)), r"pass numpy.asarray\(…\), which shares its memory"),
    "array.array": (array.array("d", [1.0]), r"pass numpy.asarray\(…\), which shares its memory"),
    "other byte order": (np.zeros(4, ">f8"), r"not in native byte order.*\.astype\('<f8'\)"),
    "unaligned": (np.frombuffer(bytearray(33), np.uint8)[1:].view("f8"), "pass a copy"),
    "a list": ([1.0], r"pass a tuple, or numpy.array"),
}


@pytest.mark.parametrize(("given", "message"), NOT_ARRAYS.values(), ids=NOT_ARRAYS)
def test_errors_state_what_to_pass(target: str, given: Any, message: str) -> None:
    with pytest.raises(LaunchError, match=rf"copied: argument 2 \(a\).*{message}"):
        on(target, copied, 1, np.zeros(1), given)


def test_a_read_only_array_is_not_written(target: str) -> None:
    out = np.zeros(4)
    out.flags.writeable = False
    for view in (out, out[::2], np.broadcast_to(np.zeros(1), (4,))):
        with pytest.raises(LaunchError, match="is written, and it is read-only: pass a copy"):
            on(target, copied, 1, view, np.ones(4))
    assert out.tolist() == [0] * 4


@pytest.mark.parametrize("address", [0, None])
def test_elements_at_address_0_are_rejected(address: int | None, target: str) -> None:
    """As of a freed array; a kernel that read it would end the process."""

    class Freed:
        __array_interface__ = {
            "shape": (3,), "typestr": "<f4", "data": (address, False), "version": 3,
        }  # fmt: skip

    with pytest.raises(LaunchError, match=r"data address is 0"):
        on(target, copied, (1, 3), np.zeros(3, np.float32), Freed())
