"""DLPack in both directions on the host: shared memory, freed exactly once."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from pycu2c import LaunchError, cuda, kernel
from pycu2c.cuda import to_device
from pycu2c.runtime.arguments import dlpack

DTYPES = ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"]


class Old:
    """An array that speaks the first version of DLPack."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self, stream: Any = None) -> Any:
        return self.array.__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


class New(Old):
    """One that speaks the version that has flags, and nothing else."""

    def __dlpack__(self, *, max_version: Any = None) -> Any:  # type: ignore[override]
        return self.array.__dlpack__(max_version=max_version)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("speak", [Old, New])
def test_numpy_takes_ours_over(dtype: str, speak: Any) -> None:
    array = to_device(np.arange(24).astype(dtype).reshape(4, 6), device="cpu")
    part = array[::-2, 1::2].T
    seen = np.from_dlpack(part)
    assert seen.ctypes.data == part.address
    np.testing.assert_array_equal(seen, part.copy_to_host())
    again = cuda.from_dlpack(speak(part))
    assert (again.address, again.strides, again.dtype) == (part.address, part.strides, part.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("speak", [Old, New])
def test_ours_take_numpys_over(dtype: str, speak: Any) -> None:
    values = np.arange(24).astype(dtype).reshape(2, 3, 4)[:, ::-1]
    array = cuda.from_dlpack(speak(values))
    assert array.address == values.ctypes.data
    array[0, 0] = 1
    np.testing.assert_array_equal(array.copy_to_host(), values)
    assert values[0, 0].tolist() == [1] * 4


def test_bfloat16_is_exchanged() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = to_device(np.arange(4).astype(ml_dtypes.bfloat16), device="cpu")
    assert cuda.from_dlpack(Old(array)).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("speak", [Old, New])
def test_memory_lives_as_long_as_it_is_referenced(speak: Any) -> None:
    array = to_device(np.arange(4.0), device="cpu")
    gone = weakref.ref(array)
    taken = cuda.from_dlpack(speak(array))
    part = taken[1:]
    del array, taken
    gc.collect()
    assert gone() is not None
    assert part.copy_to_host().tolist() == [1, 2, 3]
    del part
    assert gone() is None
    assert not dlpack._EXPORTED


def test_an_unconsumed_capsule_frees_its_memory() -> None:
    array = to_device(np.arange(4.0), device="cpu")
    gone = weakref.ref(array)
    capsules = [array.__dlpack__(), array.__dlpack__(max_version=(1, 0))]
    del array
    assert gone() is not None
    capsules.clear()
    assert gone() is None


def test_a_capsule_is_used_once() -> None:
    capsule = to_device(np.zeros(2), device="cpu").__dlpack__()

    class Once:
        def __dlpack__(self, **_: Any) -> Any:
            return capsule

        def __dlpack_device__(self) -> Any:
            return 1, 0

    cuda.from_dlpack(Once())
    with pytest.raises(LaunchError, match="consumed once"):
        cuda.from_dlpack(Once())


def test_read_only_arrays_stay_so() -> None:
    values = np.zeros(3)
    values.flags.writeable = False
    array = cuda.from_dlpack(New(values))
    assert not array.writeable
    assert not np.from_dlpack(array).flags.writeable
    with pytest.raises(BufferError, match="read-only"):
        array.__dlpack__()


def test_copies_for_dlpack() -> None:
    array = to_device(np.arange(3.0), device="cpu")
    seen = np.from_dlpack(array, copy=True)
    seen[...] = 5
    assert array.copy_to_host().tolist() == [0, 1, 2]
    with pytest.raises(BufferError, match="cannot copy"):
        array.__dlpack__(dl_device=(2, 0))


@pytest.mark.parametrize("dtype", ["M8[s]", "S3", "i4,f4"])
def test_types_without_dlpack(dtype: str) -> None:
    with pytest.raises(BufferError, match="DLPack has no dtype"):
        to_device(np.zeros(3, dtype), device="cpu").__dlpack__()


def test_objects_that_are_no_array() -> None:
    with pytest.raises(TypeError, match="a list has no __dlpack__"):
        cuda.from_dlpack([1])
    with pytest.raises(TypeError, match=r"a numpy\.ndarray has no __cuda_array_interface__"):
        cuda.as_cuda_array(np.zeros(1))
    assert not cuda.is_cuda_array(np.zeros(1))
    assert not cuda.is_cuda_array(to_device(np.zeros(1), device="cpu"))


@pytest.mark.parametrize("speak", [Old, New])
def test_kernels_accept_dlpack_objects(target: str, speak: Any) -> None:
    def double(data, out):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        if i < len(out):
            out[i] = 2 * data[i]

    values, out = np.arange(12.0), np.zeros(6)
    kernel(backend=target)(double)[1, 32](speak(values[::2]), speak(out))
    assert out.tolist() == [0, 4, 8, 12, 16, 20]


def test_kernels_do_not_write_to_what_is_read_only() -> None:
    @kernel(backend="cpu")
    def fill(out):  # type: ignore[no-untyped-def]
        out[cuda.grid(1)] = 1

    values = np.zeros(3)
    values.flags.writeable = False
    with pytest.raises(LaunchError, match="read-only"):
        fill[1, 3](New(values))
