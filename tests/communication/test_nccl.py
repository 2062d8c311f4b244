"""NCCL on device arrays, in the streams of their launches, by CuPy and by nccl4py."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.cuda_driver import driver

pytestmark = pytest.mark.skipif(not driver.available(), reason="needs a GPU")
SIZE = 1000
AllReduce = Callable[[list[Any], list[cuda.Stream]], None]


@kernel(backend="cuda")
def fill(a, value):  # type: ignore[no-untyped-def]
    i = cuda.grid(1)
    if i < len(a):
        a[i] = value + i


def by_cupy(arrays: list[Any], streams: list[cuda.Stream]) -> None:
    from cupy.cuda import nccl

    communicators = nccl.NcclCommunicator.initAll(len(arrays))
    nccl.groupStart()
    for communicator, a, stream in zip(communicators, arrays, streams):
        with cuda.gpus[a.device]:
            pointers = a.address, a.address
            kind, operation = nccl.NCCL_FLOAT64, nccl.NCCL_SUM
            communicator.allReduce(*pointers, a.size, kind, operation, stream.handle)
    nccl.groupEnd()


def by_nccl4py(arrays: list[Any], streams: list[cuda.Stream]) -> None:
    import nccl.core as nccl

    communicators = nccl.Communicator.init_all(len(arrays))
    with nccl.group():
        for communicator, a, stream in zip(communicators, arrays, streams):
            with cuda.gpus[a.device]:
                communicator.allreduce(a, a, nccl.SUM, stream=stream)
    for stream in streams:
        stream.synchronize()
    for communicator in communicators:
        communicator.destroy()


PACKAGES = {"cupy": by_cupy, "nccl": by_nccl4py}


@pytest.mark.parametrize("package", [p for p in PACKAGES if importlib.util.find_spec(p)])
def test_sums_of_all_gpus(package: str) -> None:
    arrays: list[Any] = []
    streams: list[cuda.Stream] = []
    for gpu in cuda.gpus:
        with gpu:
            streams.append(cuda.stream(blocking=False))
            arrays.append(cuda.device_array(SIZE))
            fill[8, 128, streams[-1]](arrays[-1], 10.0 * gpu.id)
    PACKAGES[package](arrays, streams)
    count = len(arrays)
    expected = count * np.arange(SIZE) + 10 * sum(range(count))
    for a, stream in zip(arrays, streams):
        stream.synchronize()
        assert np.array_equal(a.copy_to_host(), expected)
