"""Arrays of other packages in kernels, and ours in other packages, without copies. On a GPU."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.cuda_driver import driver

pytestmark = pytest.mark.gpu
ROUNDS = 20_000_000  # a fifth of a second


@kernel(backend="cuda")
def double(data, out):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(out):
        out[i] = data[i] * 2


@kernel(backend="cuda")
def late(out, rounds):  # type: ignore[no-untyped-def]
    """Write 1 everywhere, after a while."""
    x = np.int32(1)
    for i in range(rounds):
        x = x * np.int32(1664525) + np.int32(i)
    j = cuda.grid(1)
    if j < len(out):
        out[j] = 1 if x != 0 or rounds < 1 else 2


@pytest.fixture
def cupy() -> Any:
    return pytest.importorskip("cupy")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


# ---- theirs in our kernels -------------------------------------------------------------------


def test_cupy(cupy: Any) -> None:
    data = cupy.arange(1000, dtype=cupy.float32)
    out = cupy.zeros_like(data)
    double[8, 128](data, out)
    np.testing.assert_array_equal(out.get(), np.arange(1000, dtype=np.float32) * 2)
    double[8, 128](data[::-2], out[:500])
    np.testing.assert_array_equal(out[:500].get(), data[::-2].get() * 2)


def test_cupy_stream(cupy: Any) -> None:
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        data = cupy.arange(1 << 20, dtype=cupy.float32)
        out = cupy.zeros_like(data)
        double[1 << 12, 256, stream](data, out)
    stream.synchronize()
    np.testing.assert_array_equal(out.get(), np.arange(1 << 20, dtype=np.float32) * 2)


def test_torch(torch: Any) -> None:
    data = torch.arange(1000, dtype=torch.float32, device="cuda")
    out = torch.zeros_like(data)
    double[8, 128](data, out)
    np.testing.assert_array_equal(out.cpu().numpy(), np.arange(1000, dtype=np.float32) * 2)


def test_torch_on_the_host(torch: Any) -> None:
    data, out = torch.arange(10.0), torch.zeros(10)
    double[1, 32](data, out)
    assert out.tolist() == [2.0 * i for i in range(10)]


def test_bfloat16_of_torch(torch: Any) -> None:
    data = torch.arange(10, dtype=torch.bfloat16, device="cuda")
    array = cuda.from_dlpack(data)
    assert array.copy_to_host().astype(float).tolist() == list(range(10))


def test_a_buffer_of_cuda_core() -> None:
    core = pytest.importorskip("cuda.core")
    device = core.Device(0)
    device.set_current()
    buffer = device.allocate(64, stream=device.default_stream)
    array = cuda.from_dlpack(buffer)
    assert (array.nbytes, array.address) == (64, int(buffer.handle))
    array.view("f4")[...] = 3
    out = cuda.device_array(16, "f4")
    double[1, 32](array.view("f4"), out)
    assert out.copy_to_host().tolist() == [6.0] * 16


def test_host_and_device_arrays_together(cupy: Any) -> None:
    data = cupy.arange(64, dtype=cupy.float32)
    out = np.zeros(64, np.float32)
    double[1, 64](data, out)
    np.testing.assert_array_equal(out, np.arange(64, dtype=np.float32) * 2)


# ---- the same memory, both ways --------------------------------------------------------------

DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_cupy_has_ours_and_gives_it_back(cupy: Any, dtype: str) -> None:
    values = np.arange(24).astype(dtype).reshape(4, 6)
    array = cuda.to_device(values)[::2, ::-1]
    for taken in (cupy.asarray(array), cupy.from_dlpack(array)):
        assert (taken.data.ptr, taken.strides) == (array.address, array.strides)
        assert taken.get().tolist() == values[::2, ::-1].tolist()
        for again in (cuda.as_cuda_array(taken), cuda.from_dlpack(taken)):
            assert again.address == array.address
            assert (again.strides, again.dtype) == (array.strides, array.dtype)
    taken[0] = 1
    assert array.copy_to_host()[0].tolist() == [1] * 6


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d not in ("u2", "u8")])
def test_torch_has_ours_and_gives_it_back(torch: Any, dtype: str) -> None:
    values = np.arange(24).astype(dtype).reshape(4, 6)
    array = cuda.to_device(values)[::2]
    for taken in (torch.as_tensor(array), torch.from_dlpack(array)):
        assert taken.data_ptr() == array.address
        assert taken.cpu().numpy().tolist() == values[::2].tolist()
        for again in (cuda.as_cuda_array(taken), cuda.from_dlpack(taken)):
            assert again.address == array.address
            assert (again.strides, again.dtype) == (array.strides, array.dtype)


def test_numba_has_ours_and_gives_it_back() -> None:
    numba = pytest.importorskip("numba.cuda")
    array = cuda.to_device(np.arange(10.0))[::3]
    taken = numba.as_cuda_array(array)
    assert taken.device_ctypes_pointer.value == array.address
    assert taken.copy_to_host().tolist() == [0, 3, 6, 9]
    assert cuda.as_cuda_array(taken).address == array.address
    theirs = numba.to_device(np.arange(4.0))
    out = cuda.device_array(4)
    double[1, 32](theirs, out)
    assert out.copy_to_host().tolist() == [0, 2, 4, 6]


def test_arrays_of_others_are_assigned(cupy: Any, torch: Any) -> None:
    array = cuda.device_array((2, 3), np.float32)
    array[0], array[1] = cupy.arange(3), torch.arange(3, device="cuda") + 10
    assert array.copy_to_host().tolist() == [[0, 1, 2], [10, 11, 12]]
    assert cuda.to_device(cupy.arange(3)).copy_to_host().tolist() == [0, 1, 2]


def test_memory_lives_as_long_as_it_is_referenced(cupy: Any, torch: Any) -> None:
    for take in (cupy.asarray, cupy.from_dlpack, torch.as_tensor, torch.from_dlpack):
        taken = take(cuda.to_device(np.arange(1000.0)))
        gc.collect()
        others = [cuda.to_device(np.zeros(1000)) for _ in range(5)]
        assert float(taken.sum()) == 499500
        del others


# ---- streams: what the other package reads or writes late --------------------------------------


def no_order(*_: object) -> None:
    """Instead of driver.order_after: what the tests below must see to fail."""


DISORDER = pytest.param(False, id="disorder is seen", marks=pytest.mark.undisturbed)


@pytest.fixture(params=[pytest.param(True, id="ordered"), DISORDER])
def ordered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """Whether streams wait for others."""
    late[1, 128](cuda.device_array(1), 1)
    cuda.synchronize()
    if not request.param:
        monkeypatch.setattr(driver, "order_after", no_order)
    yield request.param
    cuda.synchronize()


def written_late(stream: Any) -> Any:
    array = cuda.to_device(np.zeros(100))
    cuda.synchronize()
    late[1, 128, stream](array, ROUNDS)
    return array


@pytest.mark.parametrize("how", ["asarray", "from_dlpack"])
def test_cupy_waits_for_our_stream(cupy: Any, ordered: bool, how: str) -> None:
    def read(array: Any) -> Any:
        with cupy.cuda.Stream(non_blocking=True) as stream:
            result = getattr(cupy, how)(array) + 0
            stream.synchronize()
        return result.get()

    read(cuda.to_device(np.zeros(100)))  # the first one loads its kernel
    result = read(written_late(cuda.stream(blocking=False)))
    assert np.all(result == 1) == ordered


def test_torch_waits_for_our_stream(torch: Any, ordered: bool) -> None:
    def read(array: Any) -> Any:
        with torch.cuda.stream(torch.cuda.Stream()) as _:
            result = torch.from_dlpack(array) + 0
            torch.cuda.current_stream().synchronize()
        return result.cpu()

    read(cuda.to_device(np.zeros(100)))  # the first one loads its kernel, and makes streams
    result = read(written_late(cuda.stream(blocking=False)))
    assert bool((result == 1).all()) == ordered


def test_we_wait_for_the_stream_of_cupy(cupy: Any, ordered: bool) -> None:
    theirs = cupy.zeros(100)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        late[1, 128, stream](theirs, ROUNDS)
        ours = cuda.as_cuda_array(theirs)
        read = ours.copy_to_host()
    assert np.all(read == 1) == ordered


def test_a_launch_waits_for_the_stream_of_cupy(cupy: Any, ordered: bool) -> None:
    theirs, out = cupy.zeros(100), cuda.device_array(100)
    double[1, 128](theirs, out)
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        late[1, 128, stream](theirs, ROUNDS)
        double[1, 128](theirs, out)
        read = out.copy_to_host()
    assert np.all(read == 2) == ordered


def test_we_wait_for_the_stream_of_torch(torch: Any) -> None:
    """torch orders its stream before ours when it hands the array out."""
    theirs = torch.zeros(100, dtype=torch.float64, device="cuda")
    torch.cuda.synchronize()
    late[1, 128](cuda.device_array(1), 1)
    with torch.cuda.stream(torch.cuda.Stream()):
        late[1, 128, torch.cuda.current_stream()](theirs, ROUNDS)
        read = cuda.from_dlpack(theirs).copy_to_host()
    assert np.all(read == 1)


def test_memory_that_a_foreign_stream_uses_is_freed_after_it(cupy: Any) -> None:
    stream = cupy.cuda.Stream(non_blocking=True)
    for arguments in (stream, stream.ptr):
        array = cuda.to_device(np.zeros(1 << 20))
        late[1 << 13, 128, arguments](array, 1)
        cuda.synchronize()
        late[1 << 13, 128, arguments](array, ROUNDS // 10)
        del array
        fresh = [cuda.device_array(1 << 20) for _ in range(3)]
        for new in fresh:
            new[...] = 5
        cuda.synchronize()
        assert all(np.all(new.copy_to_host() == 5) for new in fresh)


def test_a_device_array_has_no_array_namespace():
    """Users of the array API standard test for the attribute; the error says what to use."""
    array = cuda.to_device(np.zeros(3))
    assert not hasattr(array, "__array_namespace__")
    with pytest.raises(AttributeError, match=r"CuPy or PyTorch can compute with it without a copy"):
        array.__array_namespace__()
    with pytest.raises(TypeError, match=r"call copy_to_host\(\)"):
        np.asarray(array)
