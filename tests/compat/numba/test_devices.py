"""Devices, contexts and the driver under numba's names, with a GPU and without."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pycu2c import cuda
from pycu2c.cuda_driver import driver

NUMBERS = """
MAX_THREADS_PER_BLOCK MAX_BLOCK_DIM_X MAX_BLOCK_DIM_Z MAX_GRID_DIM_X MAX_GRID_DIM_Y WARP_SIZE
MAX_SHARED_MEMORY_PER_BLOCK MULTIPROCESSOR_COUNT MAX_THREADS_PER_MULTI_PROCESSOR
TOTAL_CONSTANT_MEMORY COMPUTE_CAPABILITY_MAJOR MAX_REGISTERS_PER_BLOCK UNIFIED_ADDRESSING
"""


def test_the_device_of_the_thread() -> None:
    device = cuda.get_current_device()
    assert cuda.select_device(0).id == device.id == 0
    assert device.name.decode("utf-8") == str(device.name)
    assert device.name
    assert device.compute_capability >= (5, 0)
    assert device.uuid.startswith("GPU-")
    assert len(device.uuid) == 40
    assert device.supports_float16
    for name in NUMBERS.split():
        assert getattr(device, name) > 0
    with pytest.raises(AttributeError, match="has no CORES"):
        _ = device.CORES
    with cuda.gpus.current as entered:
        assert entered.id == 0
    device.reset()


def test_the_context_of_the_thread() -> None:
    context = cuda.current_context()
    free, total = context.get_memory_info()
    assert 0 < free <= total == context.get_memory_info().total
    assert context.device.id == context.id == 0
    array = cuda.to_device(np.arange(4))
    context.deallocations.clear()
    assert len(context.deallocations) == 0
    with context.defer_cleanup(), cuda.defer_cleanup(), context.deallocations.disable():
        context.synchronize()
    with context.create_stream().auto_synchronize():
        context.create_event().record(context.get_default_stream())
    context.push()
    context.pop()
    context.reset()
    cuda.close()
    assert array.copy_to_host().tolist() == [0, 1, 2, 3]


def test_the_information_on_the_machine(capsys: pytest.CaptureFixture[str]) -> None:
    there = driver.available()
    assert cuda.detect() is there
    assert f"Found {len(cuda.gpus)} CUDA devices" in capsys.readouterr().out
    assert cuda.list_devices() is cuda.gpus
    assert cuda.gpus.lst == cuda.gpus[:] == [] or there
    assert (cuda.cuda_error() is None) is there
    assert cuda.is_supported_version()
    assert cuda.is_float16_supported()
    assert cuda.runtime.get_version() >= (12, 0)
    assert cuda.runtime.supported_versions == (cuda.runtime.get_version(),)
    assert cuda.runtime.is_supported_version()


def test_a_function_that_requires_a_context() -> None:
    @cuda.require_context
    def f(x):  # type: ignore[no-untyped-def]
        return x + 1

    assert f(1) == 2


def test_what_a_launch_does_with_an_argument() -> None:
    @cuda.jit
    def exchanged(a, b, c):  # type: ignore[no-untyped-def]
        i = cuda.grid(1)
        b[i] = a[i]
        a[i] = 7
        c[i] += 1

    a, b, c = np.ones(4), np.zeros(4), np.ones(4)
    exchanged[1, 4](cuda.In(a), cuda.Out(b), cuda.InOut(c))
    assert [a.tolist(), b.tolist(), c.tolist()] == [[1] * 4, [1] * 4, [2] * 4]


# ---- GPUs that are left alone ------------------------------------------------------------------

PROGRAM = """
import numpy as np
from pycu2c import cuda

assert cuda.is_available()
assert len(cuda.gpus) == 1
with cuda.gpus[0]:
    device = cuda.get_current_device()
assert device is cuda.gpus.lst[0] is cuda.select_device(0)
assert "PYCU2C_BACKEND" in cuda.cuda_error()
assert cuda.detect()


@cuda.jit
def fill(out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


out = cuda.device_array(100, np.float32)
assert out.device == -1
stream = cuda.stream()
fill[4, device.WARP_SIZE, stream](out, 3)
stream.synchronize()
assert (out.copy_to_host() == 3).all()
assert cuda.to_device([1.0], device=0).device == -1
print(fill.launcher.backend)
"""


@pytest.mark.parametrize("backend", ["cpu", "cpu-resumable", "python"])
def test_the_environment_takes_the_gpus_away(backend: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    places = {"PYCU2C_BACKEND": backend, "PYTHONPATH": os.pathsep.join(sys.path)}
    words = [sys.executable, str(path)]
    done = subprocess.run(
        words, capture_output=True, text=True, env={**os.environ, **places}, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == backend
