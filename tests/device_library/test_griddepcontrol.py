"""``pycu2c.cuda.griddepcontrol``: kernels for programmatic dependent launches."""

from __future__ import annotations

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.cuda import griddepcontrol
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.asynchronous import hopper_code
from support.launching import run


@kernel
def double(values):
    griddepcontrol.launch_dependents()
    griddepcontrol.wait()
    values[cuda.threadIdx.x] *= 2


def test_other_launches_run_the_kernel(target: str) -> None:
    (values,) = run(double, (1, 32), [np.arange(32, dtype=np.float32)], target)
    assert (values == 2 * np.arange(32)).all()


def test_cuda_waits_before_it_reads() -> None:
    text, log = hopper_code(double, np.zeros(1, np.float32))
    instructions = ("griddepcontrol.launch_dependents;", "griddepcontrol.wait;", "values[")
    start, wait, access = map(text.rindex, instructions)
    assert start < wait < access
    assert not log.strip("\0\n ")


# ---- dependent launches --------------------------------------------------------------------------

N, LAUNCHES = 1 << 16, 1000


@kernel(programmatic_stream_serialization=True)
def shift(out, values):
    """Add one to the neighbour's value, which another block may have written."""
    i = cuda.grid(1)
    griddepcontrol.launch_dependents()
    griddepcontrol.wait()
    out[i] = values[(i + 256) % len(values)] + 1


def shift_often(arrays: list[cuda.DeviceArray], count: int) -> None:
    for n in range(count):
        shift[N // 256, 256](arrays[(n + 1) % 2], arrays[n % 2])


def shifted(count: int) -> np.ndarray:
    return np.roll(np.arange(N), -256 * count) + count


def test_the_cpu_runs_one_kernel_after_the_other() -> None:
    on_cpu = type(shift)(shift.python, backend="cpu", options=shift.options)
    values, out = np.arange(N), np.zeros(N, int)
    on_cpu[N // 256, 256](out, values)
    assert (out == shifted(1)).all()


@pytest.mark.gpu
def test_a_kernel_waits_for_the_previous_one() -> None:
    arrays = [cuda.to_device(np.arange(N)) for _ in range(2)]
    shift_often(arrays, LAUNCHES)
    assert (arrays[0].copy_to_host() == shifted(LAUNCHES)).all()


@pytest.mark.gpu
def test_a_graph_has_programmatic_edges() -> None:
    arrays = [cuda.to_device(np.arange(N)) for _ in range(2)]
    with cuda.graph() as g:
        shift_often(arrays, LAUNCHES // 10)
    for _ in range(10):
        g.launch()
    assert (arrays[0].copy_to_host() == shifted(LAUNCHES)).all()


def test_the_option_requires_sm_90() -> None:
    message = "shift has programmatic_stream_serialization=True, which requires sm_90 or newer"
    with pytest.raises(ToolchainError, match=message):
        nvrtc.compile("", "shift", "sm_80", options=shift.options)


def test_the_option_is_a_flag() -> None:
    with pytest.raises(TypeError, match="programmatic_stream_serialization is True or False"):
        kernel(programmatic_stream_serialization=1)(shift.python)
