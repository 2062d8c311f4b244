"""Functions for a second process that shares device arrays with the process of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any, TypeVar

import numpy as np

from pycu2c import cuda
from pycu2c.cuda import IpcArrayHandle
from pycu2c.kernels.kernel import Kernel

R = TypeVar("R")

_KEPT: list[cuda.DeviceArray] = []


def add(a, x):  # type: ignore[no-untyped-def]
    i, j = cuda.grid(2)
    if i < a.shape[0] and j < a.shape[1]:
        a[i, j] += x


@contextmanager
def second_process() -> Iterator[Callable[..., Any]]:
    """Yield a function that calls functions of this module in one other process."""
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        yield lambda function, *arguments: executor.submit(function, *arguments).result()


def add_in_place(array: cuda.DeviceArray, x: float) -> None:
    """Launch a kernel that adds to all elements, and wait for it."""
    Kernel(add, backend="cpu" if array.device == -1 else "cuda")[(1, 1), (8, 8)](array, x)
    cuda.synchronize()


def add_to_shared(
    handle: IpcArrayHandle[cuda.DeviceArray], x: float, gpu: int | None = None
) -> np.ndarray[Any, Any]:
    """Add to an array of the other process, on a GPU of this one; return the elements before."""
    if gpu is not None:
        cuda.select_device(gpu)
    with handle as array:
        before = array.copy_to_host()
        add_in_place(array, x)
    return before


def open_twice(
    first: IpcArrayHandle[cuda.DeviceArray], second: IpcArrayHandle[cuda.DeviceArray]
) -> tuple[Any, Any]:
    """Open two handles at once; the second remains open when the first is closed."""
    with second as b:
        with first as a:
            rows = a.copy_to_host()
        del a
        add_in_place(b, 1.0)
        return rows, b.copy_to_host()


def make_shared(values: np.ndarray[Any, Any], device: Any) -> IpcArrayHandle[cuda.DeviceArray]:
    """Create a shareable array, and keep it until ``release``."""
    array = cuda.device_array_like(values, device=device, shareable=True)
    array[...] = values
    cuda.synchronize()
    _KEPT.append(array)
    return array.get_ipc_handle()


def release() -> None:
    """Free the arrays of ``make_shared``."""
    _KEPT.clear()
