"""Launches by the dispatch table on a real device."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32
from pycu2c.cuda_driver import driver
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.cuda import memory_pool
from support.launching import in_pool, leaks

pytestmark = pytest.mark.gpu


def scale(out, a, x, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a[i] * x + 1


def turned(out, a):
    shared = cuda.shared.array(0, float32)
    i = cuda.threadIdx.x
    shared[i] = a[i]
    cuda.syncthreads()
    out[i] = shared[cuda.blockDim.x - 1 - i]


def learnt(k: Kernel[...], configuration: tuple[Any, ...], *arguments: object) -> None:
    """After this, the dispatch table has launches like it."""
    k[configuration](*arguments)
    k[configuration](*arguments)
    assert is_dispatched(k, configuration, *arguments), "there is no entry for this"


def is_dispatched(k: Kernel[...], configuration: tuple[Any, ...], *arguments: object) -> bool:
    """Whether the dispatch table runs a launch."""
    table = k.launcher.dispatch_table
    assert table is not None
    return table.launch(k[configuration]._configuration, arguments)


def in_threads(launch: Callable[[float], None], count: int) -> None:
    """``launch(0.0)``, ``launch(1.0)``, … at once."""
    threads = [threading.Thread(target=launch, args=(float(x),)) for x in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def of_cupy(values: Any) -> Any:
    return pytest.importorskip("cupy").asarray(values)


def of_torch(values: Any) -> Any:
    torch = pytest.importorskip("torch")
    return torch.asarray(values, device="cuda")


MAKERS = [cuda.to_device, of_cupy, of_torch]


def on_host(array: Any) -> Any:
    kind = type(array).__module__.partition(".")[0]
    return (
        array.get() if kind == "cupy" else array.cpu() if kind == "torch" else array.copy_to_host()
    )


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("stream", [None, 0, 1, 2, "blocking", "free"])
def test_arrays_and_streams(make: Callable[..., Any], stream: Any) -> None:
    k = Kernel(scale, backend="cuda")
    if isinstance(stream, str):
        stream = cuda.stream(blocking=stream == "blocking")
    configuration = (2, 64, stream)
    first = make(np.ones(100, np.float32)), make(np.ones(100, np.float32)), 1.5, 100
    cuda.synchronize()
    if make is of_cupy and stream not in (None, 0, 1):  # CuPy works in the default stream
        k[configuration](*first)
    else:
        learnt(k, configuration, *first)
    for n in (100, 37, 3):
        out, a = make(np.zeros(n, np.float32)), make(np.arange(n, dtype=np.float32))
        k[configuration](out, a, 2.0, n)
        cuda.synchronize()
        np.testing.assert_array_equal(np.asarray(on_host(out)), np.arange(n) * 2.0 + 1)


def test_a_thread_without_a_context() -> None:
    k, out, a = (
        Kernel(scale, backend="cuda"),
        cuda.to_device(np.zeros(9)),
        cuda.to_device(np.ones(9)),
    )
    learnt(k, (1, 32), out, a, 1.0, 9)
    result: list[Any] = []

    def launch() -> None:
        for x in (2.0, 3.0):
            k[1, 32](out, a, x, 9)
        result.append(driver.current_context())

    thread = threading.Thread(target=launch)
    thread.start()
    thread.join()
    assert out.copy_to_host().tolist() == [4] * 9
    assert result == [driver.current_context()]


def test_a_context_that_is_taken_away() -> None:
    k, out, a = (
        Kernel(scale, backend="cuda"),
        cuda.to_device(np.zeros(9)),
        cuda.to_device(np.ones(9)),
    )
    learnt(k, (1, 32), out, a, 1.0, 9)
    before = driver.api().cuCtxGetCurrent()[1]
    driver.check(driver.api().cuCtxSetCurrent(0), "leave the context")
    try:
        assert not is_dispatched(k, (1, 32), out, a, 5.0, 9)
        k[1, 32](out, a, 5.0, 9)
    finally:
        driver.check(driver.api().cuCtxSetCurrent(before), "enter the context")
    assert out.copy_to_host().tolist() == [6] * 9


def test_much_shared_memory() -> None:
    k, size = Kernel(turned, backend="cuda"), 96 * 1024
    a = np.arange(1024, dtype=np.float32)
    out, arguments = cuda.to_device(a), cuda.to_device(a)
    learnt(k, (1, 1024, None, size), out, arguments)
    assert not is_dispatched(k, (1, 1024, None, size + 4), out, arguments)
    k[1, 1024, None, size](arguments, out)
    np.testing.assert_array_equal(arguments.copy_to_host(), a)


def test_arrays_that_are_used_on_another_stream_know_it() -> None:
    k, stream = Kernel(scale, backend="cuda"), cuda.stream(blocking=False)
    out, a = cuda.to_device(np.zeros(9)), cuda.to_device(np.ones(9))
    learnt(k, (1, 32, stream), out, a, 1.0, 9)
    fresh = cuda.to_device(np.zeros(9))
    assert is_dispatched(k, (1, 32, stream), fresh, a, 1.0, 9)
    assert stream in fresh._memory._streams
    assert fresh.copy_to_host().tolist() == [2] * 9


@pytest.mark.undisturbed
def test_work_of_cupy_in_another_stream_is_waited_for() -> None:
    cupy = pytest.importorskip("cupy")
    k = Kernel(scale, backend="cuda")
    n = 1 << 24
    out, a = cupy.zeros(n, np.float32), cupy.zeros(n, np.float32)
    learnt(k, (n // 256, 256), out, a, 1.0, n)
    stream = cupy.cuda.Stream(non_blocking=True)
    for x in range(1, 20):
        with stream:
            for _ in range(10):
                a[:] = x
            assert not is_dispatched(k, (n // 256, 256), out, a, 1.0, n)
            k[n // 256, 256](out, a, 1.0, n)
        cuda.synchronize()
        assert float(out.min()) == float(out.max()) == x + 1


def test_unsupported_tensors() -> None:
    torch = pytest.importorskip("torch")
    k = Kernel(scale, backend="cuda")
    out, a = (torch.zeros(9, device="cuda") for _ in range(2))
    learnt(k, (1, 32), out, a, 1.0, 9)
    for wrong in (a.double(), a[::2], torch.zeros((3, 3), device="cuda")):
        assert not is_dispatched(k, (1, 32), out, wrong, 1.0, 9)


@pytest.mark.undisturbed
def test_launches_with_fresh_arrays_leak_nothing() -> None:
    k, a = Kernel(scale, backend="cuda"), cuda.to_device(np.ones(1 << 18, np.float32))
    out = cuda.device_array(1 << 18, np.float32)
    learnt(k, (1, 32), out, a, 1.0, 9)

    def launch() -> None:
        k[1, 32](cuda.device_array(1 << 18, np.float32), a, 1.0, 9)

    for _ in range(1000):
        launch()
    gc.collect()  # arrays of earlier tests
    cuda.synchronize()
    before = in_pool()
    assert not leaks(launch, 33_000, 100)
    cuda.synchronize()
    assert in_pool() == before


# ---- arrays of the host ------------------------------------------------------------------------


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their copies stand in memory that is kept, also where other memory is not."""
    monkeypatch.setattr(memory_pool._cache, "is_enabled", True)


@pytest.mark.parametrize("stream", [None, "blocking", "apart"])
def test_numpy_arrays(stream: str | None, kept: None) -> None:
    k, a = Kernel(scale, backend="cuda"), np.arange(9.0)
    at = (1, 32, cuda.stream(blocking=stream == "blocking")) if stream else (1, 32)
    learnt(k, at, np.zeros(9), a, 1.0, 9)
    for n in (1, 9, 100, 20_000):
        out, a = np.zeros(n), np.arange(float(n))
        assert is_dispatched(k, (-(-n // 32), *at[1:]), out, a, 2.0, n)
        np.testing.assert_array_equal(out, 2 * a + 1)
    assert is_dispatched(k, at, a, a, 3.0, 5)
    assert a[:6].tolist() == [1, 4, 7, 10, 13, 5]


def test_numpy_arrays_beside_those_of_the_device(kept: None) -> None:
    k, a = Kernel(scale, backend="cuda"), np.arange(9.0)
    out = cuda.to_device(np.zeros(9))
    learnt(k, (1, 32), out, a, 1.0, 9)
    for x in range(20):
        a[:] = x
        assert is_dispatched(k, (1, 32), out, a, 1.0, 9)
        assert out.copy_to_host().tolist() == [x + 1] * 9


def test_numpy_arrays_that_take_the_slow_path(kept: None) -> None:
    k, n = Kernel(scale, backend="cuda"), 1 << 19
    learnt(k, (1, 32), np.zeros(9), np.ones(9), 1.0, 9)
    mapped = cuda.mapped_array(9, dtype=np.float64)
    for out in (mapped, np.zeros(18)[::2], np.zeros(18)[:9], np.zeros(n)):
        out[:] = 0
        assert not is_dispatched(k, (1, 32), out, np.ones(out.size), 1.0, out.size)
        k[n // 32, 32](out, np.ones(out.size), 1.0, out.size)
        cuda.synchronize()
        assert (out == 2).all()


def test_numpy_arrays_from_many_threads(kept: None) -> None:
    k = Kernel(scale, backend="cuda")
    learnt(k, (1, 32), np.zeros(9), np.ones(9), 1.0, 9)
    wrong: list[object] = []

    def launch(x: float) -> None:
        a, out = np.arange(9.0), np.zeros(9)
        for _ in range(100):
            out[:] = 0
            k[1, 32](out, a, x, 9)
            if out.tolist() != (a * x + 1).tolist():
                wrong.append(x)

    in_threads(launch, 8)
    assert wrong == []


# which it is depends on what lies there
_BAD_ADDRESS = ("CUDA_ERROR_ILLEGAL_ADDRESS True", "CUDA_ERROR_INVALID_ADDRESS_SPACE True")

STICKY = """
import numpy as np
from pycu2c import cuda, kernel
from pycu2c.cuda_driver import driver
@kernel(backend="cuda", wraparound=False)
def write(out, i):
    out[i] = 1
out = cuda.to_device(np.zeros(4))
for _ in range(2):
    write[1, 1](out, 1)
write[1, 1](out, 1)
assert write.launcher.dispatch_table.take_latest() is not None
write[1, 1](out, 1 << 29)
for _ in range(2):
    try:
        cuda.synchronize()
        write[1, 1](out, 1)
    except driver.CudaError as error:
        print(error.name, "Launched last: write" in str(error))
"""


@pytest.mark.faulty
def test_after_a_kernel_has_failed_launches_say_so(tmp_path: Path) -> None:
    program = tmp_path / "sticky.py"
    program.write_text(STICKY)
    ran = subprocess.run((sys.executable, program), capture_output=True, text=True, check=True)
    first, *others = ran.stdout.splitlines()
    assert first in _BAD_ADDRESS
    assert others == [first]


OF_NUMPY = """
import numpy as np
from pycu2c import kernel
from pycu2c.cuda_driver import driver
@kernel(backend="cuda", wraparound=False)
def write(out, i):
    out[i] = 1
out = np.zeros(4)
for _ in range(2):
    write[1, 1](out, 1)
write[1, 1](out, 1)
assert write.launcher.dispatch_table.take_latest() is not None
try:
    write[1, 1](out, 1 << 29)
except driver.CudaError as error:
    print(error.name, "run write" in str(error))
"""


@pytest.mark.faulty
def test_a_kernel_that_fails_on_numpy_arrays_is_named(tmp_path: Path) -> None:
    program = tmp_path / "faulty.py"
    program.write_text(OF_NUMPY)
    ran = subprocess.run((sys.executable, program), capture_output=True, text=True, check=True)
    assert ran.stdout.strip() in _BAD_ADDRESS


def test_many_threads_at_once() -> None:
    k = Kernel(scale, backend="cuda")
    learnt(k, (1, 32), cuda.to_device(np.zeros(9)), cuda.to_device(np.ones(9)), 1.0, 9)
    wrong: list[object] = []

    def launch(x: float) -> None:
        a = cuda.to_device(np.arange(9.0))
        for _ in range(100):
            out = cuda.device_array(9)
            k[1, 32](out, a, x, 9)
            if out.copy_to_host().tolist() != (np.arange(9.0) * x + 1).tolist():
                wrong.append(x)

    in_threads(launch, 16)
    assert wrong == []


def test_arrays_that_overlap_take_no_entry_for_distinct_ones() -> None:
    def sums(a, out):
        i = cuda.grid(1)
        for k in range(4):
            out[i] += a[i + k]

    k = Kernel(sums, backend="cuda")
    memory = cuda.to_device(np.arange(40.0, dtype=np.float32))
    learnt(k, (1, 1), memory[:5], memory[20:21])
    assert k.launcher.latest is not None
    (key,) = k.launcher.typed_kernel(k.launcher.latest).runners
    assert key.assumptions.distinct_arrays
    assert not is_dispatched(k, (1, 1), memory[:5], memory[2:3])
    memory.copy_to_device(np.arange(40.0, dtype=np.float32))
    learnt(k, (1, 1), memory[:5], memory[2:3])
    assert memory.copy_to_host()[2] == 51  # three times 2 * x + 5, from 2
