"""Device arrays compared with numpy's: views and assignments, on the host and on a GPU."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from pycu2c import CudaError, LaunchError, cuda, kernel
from pycu2c.base.dtypes import DTYPES
from pycu2c.cuda import DeviceArray, to_device
from pycu2c.cuda.cudadrv.devicearray import auto_device
from pycu2c.cuda_driver import driver
from pycu2c.runtime.cuda import staging
from support.launching import in_pool

GPU = pytest.param(0, marks=pytest.mark.gpu, id="gpu")
PLACES = [pytest.param("cpu", id="host"), *([GPU] if driver.available() else [])]
BACKENDS = {"cpu": "cpu", 0: "cuda"}


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Any:
    """Where arrays are made."""
    return request.param


def same(array: DeviceArray, expected: np.ndarray) -> None:
    assert (array.shape, array.dtype) == (expected.shape, expected.dtype)
    np.testing.assert_array_equal(array.copy_to_host(), expected)


# ---- to the device and back ---------------------------------------------------------------------

FORMS: list[Callable[[np.ndarray], np.ndarray]] = [
    lambda a: a,
    lambda a: a.T,
    lambda a: a[::2, :, ::-1],
    lambda a: a[1, 2, 3],
    lambda a: a[:0],
    lambda a: np.asfortranarray(a),
    lambda a: np.broadcast_to(a[0, 0], (5, *a[0, 0].shape)),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [row.numpy for row in DTYPES if not row.fields], ids=str)
def test_an_array_is_copied_back_unchanged(place: Any, dtype: Any, form: Any) -> None:
    values = np.asarray(form(np.arange(60).reshape(3, 4, 5) % 2 == 1)).astype(dtype)
    array = to_device(values, device=place)
    same(array, values)
    assert array.is_c_contiguous() == array.copy_to_host().flags.c_contiguous
    assert array.is_f_contiguous() == array.copy_to_host().flags.f_contiguous
    assert (array.size, array.nbytes, array.ndim) == (values.size, values.nbytes, values.ndim)


def test_records_and_dates(place: Any) -> None:
    for dtype in ("i4,f8", "S3", "M8[s]", "U5", cuda.float3.numpy):
        values = np.arange(24).astype(np.uint8).repeat(8).view("u1").copy()
        values = values[: 3 * np.dtype(dtype).itemsize * 4].copy()
        values.resize(12 * np.dtype(dtype).itemsize)
        values = (
            np.frombuffer(values.tobytes(), dtype) if dtype != "U5" else np.array(["a", "bcde"])
        )
        array = to_device(values, device=place)
        np.testing.assert_array_equal(array[::-2].copy_to_host(), values[::-2])


def test_into_a_given_array(place: Any) -> None:
    values = np.arange(12.0).reshape(3, 4)
    array = to_device(values, device=place)
    for out in (np.zeros((3, 4)), np.zeros((4, 3)).T, np.zeros((6, 8))[::2, ::-2]):
        assert array.copy_to_host(out) is out
        np.testing.assert_array_equal(out, values)
        array.T.copy_to_host(out.T)
        np.testing.assert_array_equal(out, values)
    with pytest.raises(ValueError, match=r"shape \(3, 4\) .* to one of shape \(4, 3\)"):
        array.copy_to_host(np.zeros((4, 3)))
    array.copy_to_device(values + 1)
    same(array, values + 1)
    array.copy_to_device(to_device(values, device=place))
    same(array, values)
    with pytest.raises(ValueError, match=r"dtype int64 cannot be copied .* array\[...\] = values"):
        array.copy_to_device(np.zeros((3, 4), np.int64))
    assert to_device(values + 2, to=array) is array
    same(array, values + 2)


def test_a_copy_has_its_own_memory(place: Any) -> None:
    a = to_device(np.arange(6.0).reshape(2, 3), device=place)
    b, c, d = a.copy(), a.T.copy("F"), to_device(a)
    a[...] = 0
    for array in (b, c.T, d):
        same(array, np.arange(6.0).reshape(2, 3))
    assert c.is_f_contiguous()
    assert to_device(a, copy=False) is a


# ---- views and assignments, beside numpy's ------------------------------------------------------

shapes = nst.array_shapes(min_dims=1, max_dims=5, min_side=0, max_side=5)
few = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def numbered(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)


@few
@given(st.data())
def test_views_are_those_of_numpy(place: Any, data: st.DataObject) -> None:
    values = numbered(data.draw(shapes))
    array = to_device(values, device=place)
    for _ in range(3):
        key = data.draw(nst.basic_indices(values.shape, allow_newaxis=True, max_dims=6))
        seen, found = values[key], array[key]
        if not isinstance(found, DeviceArray):
            assert found == seen
            assert type(found) is type(seen)
            return
        assert found.shape == seen.shape
        same(found, seen)
        order = data.draw(st.permutations(range(seen.ndim)))
        values, array = seen.transpose(order), found.transpose(order)
        same(array, values)
        same(array.T, values.T)
        same(array.squeeze(), values.squeeze())


@few
@given(st.data())
def test_assignments_are_those_of_numpy(place: Any, data: st.DataObject) -> None:
    values = numbered(data.draw(shapes))
    array = to_device(values, device=place)
    key = data.draw(nst.basic_indices(values.shape, allow_newaxis=True))
    shape = np.shape(values[key])
    other = -1 - numbered(shape)
    kind = data.draw(st.sampled_from(["number", "host", "device", "row", "part", "reverse"]))
    if kind == "number":
        values[key], array[key] = 7, 7
    elif kind == "host":
        values[key], array[key] = other, other
    elif kind == "device":
        values[key], array[key] = other.T.T, to_device(other.T, device=place).T
    elif kind == "row" and shape:
        values[key], array[key] = other[:1], to_device(other, device=place)[:1]
    elif kind == "part":
        values[key] = array[key] = np.float32(2.5)
    elif shape:
        values[key] = values[key][::-1].copy()
        array[key] = array[key][::-1]
    same(array, values)


@few
@given(st.data())
def test_reshaping_is_that_of_numpy(place: Any, data: st.DataObject) -> None:
    values = numbered(data.draw(shapes))
    array = to_device(values, device=place)
    key = data.draw(nst.basic_indices(values.shape, allow_ellipsis=False))
    values, array = values[(*np.index_exp[key], ...)], array[(*np.index_exp[key], ...)]
    order = data.draw(st.sampled_from("CF"))
    same(array.ravel(order), values.ravel(order))
    divisors = [n for n in range(1, values.size + 1) if values.size and values.size % n == 0]
    rows = data.draw(st.sampled_from(divisors or [0]))
    for shape in ((rows, -1), (1, -1, rows), (-1,)):
        if values.size:
            same(array.reshape(shape, order=order), values.reshape(shape, order=order))
    part = np.shares_memory(values, values.reshape(-1)) if values.size else True
    flat = array.reshape(-1)
    flat[...] = 3
    assert bool(np.all(array.copy_to_host() == 3)) == (part or bool(np.all(values == 3)))


def test_valid_shapes(place: Any) -> None:
    array = to_device(np.zeros((2, 3)), device=place)
    assert array.reshape(3, 2).shape == array.reshape((3, -1)).shape == (3, 2)
    for shape in ((4, 2), (-1, -1), (-1, 4), (0, -1)):
        with pytest.raises(ValueError, match=r"cannot reshape array|one unknown"):
            array.reshape(shape)


@pytest.mark.parametrize("shape", [(3, 4), [3, 4], np.array([3, 4]), range(3, 5)])
def test_shapes_of_new_arrays(shape: Any) -> None:
    for allocate in (cuda.device_array, cuda.pinned_array, cuda.mapped_array):
        assert allocate(shape, np.int8).shape == (3, 4)


@pytest.mark.parametrize("length", [3, np.int8(3), np.array(3), [3], np.array([3])])
def test_lengths_of_new_arrays(length: Any) -> None:
    assert cuda.device_array(length, np.int8).shape == (3,)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "c8", "c16", "?", "i4,f8", "u1,u1,u1"])
@pytest.mark.parametrize("value", [0, 1])
def test_fills(place: Any, dtype: str, value: int) -> None:
    values = np.zeros((4, 6), dtype)
    array = to_device(values, device=place)
    for key in (..., np.s_[1], np.s_[:, 1:3], np.s_[::-2, 5], np.s_[:, ::2]):
        values[key] = array[key] = np.array(value).astype(dtype)[()]
        np.testing.assert_array_equal(array.copy_to_host(), values)


def test_values_that_do_not_fit_raise_as_in_numpy(place: Any) -> None:
    array = to_device(np.zeros(3, np.uint8), device=place)
    with pytest.raises(OverflowError):
        array[...] = 300
    with pytest.raises(ValueError, match="broadcast"):
        array[:2] = np.zeros(3)
    with pytest.raises(IndexError, match="indexed by integers, slices"):
        array[[0, 1]]
    with pytest.raises(IndexError):
        array[3]
    with pytest.raises(TypeError, match="Python objects"):
        to_device(np.array([None]), device=place)


@pytest.mark.parametrize("to", ["f8", "i2", "u1", "?", "c8", "f2", "M8[s]"])
@pytest.mark.parametrize("form", [lambda a: a, lambda a: a.T[::2]])
def test_astype(place: Any, to: str, form: Any) -> None:
    values = form(np.arange(24, dtype=np.int32).reshape(4, 6))
    array = form(to_device(np.arange(24, dtype=np.int32).reshape(4, 6), device=place))
    same(array.astype(to), values.astype(to))
    assert array.astype("i4", copy=False) is array
    assert array.astype("i4") is not array


def test_one_element(place: Any) -> None:
    array = to_device(np.arange(6, dtype=np.int16).reshape(2, 3), device=place)
    assert type(array[1, 2]) is np.int16
    assert array[-1, 0] == 3
    assert [x.shape for x in array] == [(3,), (3,)]
    assert array[:1, :1].item() == 0
    array[0, 0] = 9
    assert array[0].copy_to_host().tolist() == [9, 1, 2]
    assert len(array) == 2
    point = array[0, 1, ...]
    assert isinstance(point, DeviceArray)
    assert point.shape == ()
    with pytest.raises(TypeError, match="without axes"):
        len(point)


def test_unsupported_arrays(place: Any) -> None:
    array = to_device(np.zeros(3), device=place)
    with pytest.raises(TypeError, match=r"call copy_to_host\(\)"):
        np.asarray(array)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(array)
    assert {array: 1}[array] == 1
    assert {array, array[:]} - {array}
    assert "float64[3]" in repr(array)


def test_a_read_only_array(place: Any) -> None:
    array = to_device(np.zeros(3), device=place)
    view = DeviceArray(array._memory, array.address, (3,), (8,), array.dtype, writeable=False)
    for part in (view, view[1:], view.T):
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 1


# ---- what launches read -------------------------------------------------------------------------


def test_data_that_launches_read(place: Any) -> None:
    whole = to_device(np.zeros((4, 6), np.float32), device=place)
    array = whole[1:, ::2]
    assert array.address == whole.address + 24
    assert array.device == (-1 if place == "cpu" else 0)
    assert (array.shape, array.strides, array.ndim) == ((3, 3), (24, 8), 2)
    assert (array.dtype, array.writeable) == (np.float32, True)
    assert (array.is_c_contiguous(), whole.is_c_contiguous()) == (False, True)


@pytest.mark.parametrize("name", ["address", "shape", "strides", "dtype", "writeable", "device"])
def test_data_that_launches_read_is_fixed(place: Any, name: str) -> None:
    array = to_device(np.zeros(4), device=place)
    with pytest.raises(AttributeError):
        setattr(array, name, getattr(array, name))


# ---- launches -----------------------------------------------------------------------------------


def scale(out, data, factor):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        out[i] = data[i] * factor


def test_kernels_work_where_the_array_is(place: Any) -> None:
    k = kernel(backend=BACKENDS[place])(scale)
    data = to_device(np.arange(100.0), device=place)
    out = cuda.device_array(100, device=place)
    for factor in range(5):
        k[1, 128](out, data, factor)
        np.testing.assert_array_equal(out.copy_to_host(), np.arange(100.0) * factor)
        k[1, 128](out[::-2], data[:50], factor + 1)
        expected = np.arange(100.0) * factor
        expected[::-2] = np.arange(50.0) * (factor + 1)
        np.testing.assert_array_equal(out.copy_to_host(), expected)


def test_the_reference_takes_arrays_of_the_host() -> None:
    out = cuda.device_array(4, device="cpu")
    kernel(backend="python")(scale)[1, 4](out, to_device(np.arange(4.0), device="cpu"), 2)
    assert out.copy_to_host().tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda a: a.reshape(2, *[1] * 15, 12), "has 17 axes"),
        (lambda a: a.astype("M8[s]").ravel(), "dtype datetime64"),
    ],
)
def test_arrays_that_kernels_do_not_take(place: Any, make: Any, message: str) -> None:
    array = make(to_device(np.zeros((2, 3, 4), np.int64), device=place))
    for _ in range(2):
        with pytest.raises(LaunchError, match=rf"scale: argument 2 \(data\).*{message}"):
            kernel(backend=BACKENDS[place])(scale)[1, 4](np.zeros(1), array, 1)


@pytest.mark.gpu
def test_an_array_of_the_other_backend() -> None:
    here, there = (to_device(np.zeros(4), device=place) for place in BACKENDS)
    with pytest.raises(LaunchError, match=r"\(data\) is on a GPU, and the launch is on the CPU"):
        kernel(backend="cpu")(scale)[1, 4](here, there, 1)
    with pytest.raises(LaunchError, match="in memory of the host, and the launch is on a GPU"):
        kernel(backend="cuda")(scale)[1, 4](there, here, 1)
    there[...] = here
    here[...] = there.astype(np.int32)
    assert here.copy_to_host().tolist() == [0] * 4


# ---- allocation ---------------------------------------------------------------------------------


def test_new_arrays(place: Any) -> None:
    array = cuda.device_array((2, 3), np.int32, order="F", device=place)
    assert array.strides == (4, 8)
    assert cuda.device_array(5, device=place).dtype == np.float64
    like = cuda.device_array_like(np.zeros((2, 3, 4), np.int8).transpose(1, 0, 2), device=place)
    assert (like.shape, like.strides) == ((3, 2, 4), (4, 12, 1))
    gaps = cuda.device_array((2, 3), np.int32, strides=(32, 8), device=place)
    gaps[...] = numbered((2, 3))
    same(gaps, numbered((2, 3)))
    for bad in ((-1,), 2.5, "ab"):
        with pytest.raises((ValueError, TypeError)):
            cuda.device_array(bad, device=place)  # type: ignore[arg-type]
    with pytest.raises((IndexError, CudaError), match="there is no"):
        cuda.device_array(3, device=7)
    assert cuda.device_array((0, 3), device=place).copy_to_host().shape == (0, 3)


HOST_ARRAYS = ["pinned_array", "mapped_array", "managed_array"]


@pytest.mark.parametrize("name", HOST_ARRAYS)
def test_numpy_arrays_in_memory_that_a_gpu_reaches(name: str) -> None:
    make = getattr(cuda, name)
    values = make((3, 4), np.float32, order="F")
    assert isinstance(values, np.ndarray)
    assert values.flags.f_contiguous
    assert values.ctypes.data % 256 == 0
    assert make(0).shape == (0,)
    data, out = make(100), make(100)
    data[...], out[...] = np.arange(100), -1
    kernel(scale)[1, 64](out[:50], data[50:], 2)
    cuda.synchronize()
    np.testing.assert_array_equal(out[:50], 2 * data[50:])
    assert np.all(out[50:] == -1)
    view = out[::-1]
    del out, data, values
    gc.collect()
    assert view[-1] == 100


def test_arrays_of_the_host_like_others() -> None:
    like = np.zeros((2, 3, 4), np.int8).transpose(1, 0, 2)
    for make in (cuda.pinned_array_like, cuda.mapped_array_like):
        made = make(like)
        assert (made.shape, made.dtype, made.strides) == ((3, 2, 4), np.int8, (4, 12, 1))
    with cuda.pinned(np.zeros(10), np.zeros(0)):
        pass


def test_arrays_of_numpy_as_device_arrays() -> None:
    data, out = np.arange(100.0), np.zeros((50, 2))
    with cuda.mapped(data[::2], out[:, 1]) as (d, o):
        kernel(scale)[1, 64](o, d, 3)
    assert out[:, 1].tolist() == [6.0 * i for i in range(50)]
    assert not out[:, 0].any()
    with cuda.mapped(data) as whole:
        whole[...] = 1
    assert data.sum() == 100


def test_a_view_keeps_the_memory(place: Any) -> None:
    view = to_device(np.arange(1000.0), device=place)[10:20]
    gc.collect()
    others = [to_device(np.zeros(1000), device=place) for _ in range(5)]
    assert view.copy_to_host().tolist() == list(range(10, 20))
    del others


def test_an_array_is_not_deep_copied(place: Any) -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        copy.deepcopy(to_device(np.zeros(2), device=place))


@pytest.mark.gpu
def test_too_much_memory_says_how_much() -> None:
    with pytest.raises(MemoryError, match=r"allocate 8000000000000 bytes .* of the device's \d+"):
        cuda.device_array(10**12)
    assert cuda.device_array(10).size == 10


def pages() -> int:
    """Of this process in the machine's memory."""
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.slow
@pytest.mark.undisturbed
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")
def test_launches_on_fresh_arrays_leave_no_memory_behind(place: Any) -> None:
    k = kernel(backend=BACKENDS[place])(scale)
    data = np.zeros(500)

    def launches(count: int) -> tuple[tuple[int, ...], int]:
        for _ in range(count):
            array = to_device(data, device=place) if place == "cpu" else cuda.device_array(500)
            k[1, 32](array[::2][:8], array[:8], 2)
        cuda.synchronize()
        gc.collect()
        return in_pool(), pages()

    launches(2000)
    before = launches(2000)
    after = launches(100_000 if place == 0 else 10_000)
    assert after[0] == before[0]
    assert after[1] - before[1] < 500


# ---- numpy's arrays on their way to a GPU -------------------------------------------------------


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["mapped_array", "managed_array"])
def test_a_launch_copies_nothing_that_the_gpu_reaches(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, out = getattr(cuda, name)(100), getattr(cuda, name)((2, 100))[1]
    data[...], out[...] = np.arange(100), 0
    for function in ("copy_in", "copy_out"):
        monkeypatch.setattr(driver, function, None)
    kernel(backend="cuda")(scale)[1, 128](out[::-1], data, 3)
    cuda.synchronize()
    np.testing.assert_array_equal(out[::-1], 3 * np.arange(100))


SIZES = [
    staging.MIN_BYTES - 1,
    staging.MIN_BYTES,
    staging.MIN_BYTES + 1,
    23 * staging.PIECE_BYTES + 12345,
]


@pytest.mark.gpu
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("pin", [False, True])
def test_large_copies_are_split(size: int, pin: bool) -> None:
    values = np.random.default_rng(size).integers(0, 256, size, np.uint8)
    out = np.zeros(size, np.uint8)
    with cuda.pinned(*([values, out] if pin else [])):
        for stream in (None, cuda.stream(), cuda.stream(blocking=False)):
            array = cuda.to_device(values, stream)
            array.copy_to_host(out, stream)
            cuda.synchronize()
            assert np.array_equal(out, values)
            array[size // 2 :] = array[: size - size // 2]
            out[...] = 0
        rows = cuda.to_device(values[: size // 2 * 2].reshape(2, -1).T)
        assert np.array_equal(rows.T.copy_to_host().ravel(), values[: size // 2 * 2])


@pytest.mark.gpu
def test_a_launch_on_large_numpy_arrays() -> None:
    n = 3 * staging.MIN_BYTES // 8 + 77
    data, out = np.arange(float(n)), np.zeros(n)
    kernel(backend="cuda")(scale)[-(-n // 256), 256](out, data, 2)
    assert np.array_equal(out, 2 * data)


@pytest.mark.gpu
def test_threads_without_a_context() -> None:
    def work(number: int) -> float:
        array = cuda.to_device(np.full(1000, number))
        array[::2] = array[1::2]
        return float(array.copy_to_host().sum())

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(work, range(20))) == [1000.0 * i for i in range(20)]


@pytest.mark.parametrize(
    ("compute", "what"),
    [
        (lambda d: d == d.copy(), r"has no ==: "),
        (lambda d: d != d.copy(), r"has no ==: "),
        (lambda d: d in [d.copy()], r"has no ==: "),
        (lambda d: d + 1, r"has no \+: "),
        (lambda d: 2**d, r"has no \*\*: "),
        (lambda d: d @ d.copy(), r"has no @: "),
        (lambda d: d > 0, r"has no >: "),
        (lambda d: operator.iadd(d, 1), r"has no \+: "),
        (lambda d: np.zeros(3) + d, r"numpy's add does not take"),
        (lambda d: np.zeros(3) == d, r"numpy's equal does not take"),
        (lambda d: np.add(np.zeros(3), np.zeros(3), out=d), r"numpy's add does not take"),
        (lambda d: np.sum(d), r"numpy's sum does not take"),
        (lambda d: np.array_equal(d, np.zeros(3)), r"numpy's array_equal does not take"),
    ],
)
def test_python_and_numpy_do_not_compute_with_device_arrays(
    place: Any, compute: Any, what: str
) -> None:
    array = to_device(np.zeros(3), device=place)
    with pytest.raises(TypeError, match=rf"{what}.*a kernel.*copy_to_host\(\) gives"):
        compute(array)


class OtherArray:
    """An array of a library that computes with device arrays, too."""

    __cuda_array_interface__ = None

    def __radd__(self, other: Any) -> str:
        return "sum"

    def __lt__(self, other: Any) -> str:
        return "less"


def test_operators_of_other_libraries(place: Any) -> None:
    array = to_device(np.zeros(3), device=place)
    assert array + OtherArray() == "sum"
    assert (array > OtherArray()) == "less"
    with pytest.raises(TypeError, match="unsupported operand"):
        array - OtherArray()


def test_numpy_asks_for_the_shape(place: Any) -> None:
    array = to_device(np.zeros((2, 3)), device=place)
    assert (np.shape(array), np.ndim(array), np.size(array)) == ((2, 3), 2, 6)


def test_the_truth_of_an_array_is_that_of_its_one_element(place: Any) -> None:
    array = to_device(np.array([0, 7]), device=place)
    assert not array[:1]
    assert array[1:]
    for several in array, array[:0]:
        with pytest.raises(ValueError, match=r"array of \d elements has no truth value: copy_"):
            bool(several)


def test_operators_of_packages_that_take_device_arrays(place: Any) -> None:
    class Elsewhere:
        @property
        def __cuda_array_interface__(self) -> dict[str, Any]:
            return {}

        def __radd__(self, other: object) -> str:
            return "theirs"

    assert to_device(np.zeros(3), device=place) + Elsewhere() == "theirs"  # type: ignore[operator]


def test_numpy_attributes_that_device_arrays_lack():
    array = cuda.to_device(np.ones(3))
    with pytest.raises(AttributeError, match=r"no sum: a kernel, .* copy_to_host\(\)"):
        array.sum()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match=r"no summe$"):
        array.summe  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"no cpu: copy_to_host\(\) gives a numpy array"):
        array.cpu()  # type: ignore[attr-defined]
    assert not hasattr(array, "__array_struct__")
    if array.device == -1:
        with pytest.raises(AttributeError, match="an array in host memory has no __cuda"):
            array.__cuda_array_interface__  # noqa: B018


@pytest.mark.parametrize("order", ["C", "F", "A"])
def test_orders_of_flat_arrays(order: str) -> None:
    for host in (np.arange(24).reshape(2, 3, 4), np.asfortranarray(np.arange(6).reshape(2, 3))):
        flat = cuda.to_device(host).ravel(order=order)  # type: ignore[arg-type]
        np.testing.assert_array_equal(flat.copy_to_host(), host.ravel(order=order))  # type: ignore[call-overload]


def test_invalid_orders() -> None:
    with pytest.raises(ValueError, match="order is 'C', 'F' or 'A', not 'K'"):
        cuda.to_device(np.zeros((2, 2))).ravel(order="K")  # type: ignore[arg-type]


def test_flags() -> None:
    array = cuda.to_device(np.zeros((2, 3)))
    assert array.flags == {"C_CONTIGUOUS": True, "F_CONTIGUOUS": False}
    assert array.T.flags == {"C_CONTIGUOUS": False, "F_CONTIGUOUS": True}


def test_numbas_names_of_memory() -> None:
    device = cuda.to_device(np.arange(4, dtype=np.float32))
    assert device.alloc_size == 16
    assert device.device_ctypes_pointer.value == device.address
    with pytest.raises(AttributeError, match="device_ctypes_pointer"):
        device.gpu_data  # type: ignore[attr-defined] # noqa: B018
    same, is_new = auto_device(device)
    assert same is device
    assert not is_new
    copied, is_new = auto_device([1, 2, 3])
    assert is_new
    assert copied.copy_to_host().tolist() == [1, 2, 3]
    assert auto_device(np.zeros((2, 3)), copy=False)[0].shape == (2, 3)


@pytest.mark.parametrize(
    "change",
    [
        np.transpose,
        lambda a: np.transpose(a, (1, 0, 2)),
        lambda a: np.reshape(a, (4, 3)),
        lambda a: np.reshape(a, -1),
        np.squeeze,
        lambda a: np.squeeze(a, axis=2),
    ],
)
def test_numpy_functions_that_return_views(change: Any) -> None:
    host = np.arange(12.0).reshape(3, 4, 1)
    device = cuda.to_device(host)
    changed = change(device)
    assert isinstance(changed, cuda.DeviceArray)
    np.testing.assert_array_equal(changed.copy_to_host(), change(host))
    device[...] = 7
    assert (changed.copy_to_host() == 7).all()


def test_transposes_of_wrong_axes() -> None:
    device = cuda.to_device(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="repeated axis"):
        np.transpose(device, (0, 0))
    with pytest.raises(ValueError, match="out of bounds"):
        np.transpose(device, (0, 2))
