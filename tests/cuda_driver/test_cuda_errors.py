"""Errors of the driver: exception classes, messages and hints."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pycu2c
from pycu2c.cuda_driver import cuda_errors
from pycu2c.cuda_driver.cuda_errors import (
    CudaError,
    DeviceAssertError,
    IllegalAddressError,
    KernelFault,
    LaunchTimeoutError,
    OutOfMemoryError,
    error_for,
)


@pytest.fixture(autouse=True)
def nothing_launched(monkeypatch):
    monkeypatch.setattr(
        cuda_errors, "_recorded_launches", type(cuda_errors._recorded_launches)(maxlen=4)
    )
    monkeypatch.setattr(cuda_errors, "recent_kernels", list)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("CUDA_ERROR_ILLEGAL_ADDRESS", IllegalAddressError),
        ("CUDA_ERROR_INVALID_ADDRESS_SPACE", IllegalAddressError),
        ("CUDA_ERROR_ASSERT", DeviceAssertError),
        ("CUDA_ERROR_LAUNCH_TIMEOUT", LaunchTimeoutError),
        ("CUDA_ERROR_ILLEGAL_INSTRUCTION", KernelFault),
        ("CUDA_ERROR_OUT_OF_MEMORY", MemoryError),
        ("CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", cuda_errors.CaptureError),
        ("CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", cuda_errors.PeerAccessError),
        ("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", cuda_errors.LaunchResourcesError),
        ("CUDA_ERROR_UNSUPPORTED_PTX_VERSION", cuda_errors.DriverError),
    ],
)
def test_kinds(name, kind):
    error = error_for(name, "as the driver says", "do it")
    assert isinstance(error, kind)
    assert isinstance(error, CudaError)
    assert str(error).startswith(f"do it: as the driver says ({name})")
    assert error.name == name


def test_a_code_without_advice():
    error = error_for("CUDA_ERROR_INVALID_HANDLE", "invalid", "wait")
    assert type(error) is CudaError
    assert str(error) == "wait: invalid (CUDA_ERROR_INVALID_HANDLE)"


def test_the_codes_of_each_class_exist():
    pytest.importorskip("cuda.bindings", minversion="13.4")  # older ones lack some of them
    codes = [c.name for c in pytest.importorskip("cuda.bindings.driver").CUresult]
    for error in cuda_errors.error_classes():
        for code in error.codes:
            assert any(name.startswith(f"CUDA_ERROR_{code}") for name in codes), code


def test_a_fault_names_the_kernels_that_were_launched_last():
    for kernel in ("first", "a", "b", "a", "c"):
        cuda_errors.record_launch(kernel)
    said = str(error_for("CUDA_ERROR_ILLEGAL_ADDRESS", "illegal", "wait for the stream"))
    assert "Launched last: c, a, b." in said
    assert "PYCU2C_LINEINFO=1" in said
    assert "restart it" in said


def test_a_fault_names_kernels_that_the_dispatch_table_started(monkeypatch):
    monkeypatch.setattr(cuda_errors, "recent_kernels", lambda: ["quick"])
    assert "Launched last: quick." in str(error_for("CUDA_ERROR_LAUNCH_FAILED", "failed", "wait"))


def test_before_any_launch_no_kernel_is_named():
    assert "Launched last" not in str(error_for("CUDA_ERROR_LAUNCH_FAILED", "failed", "wait"))


def test_users_catch_them_by_name():
    assert pycu2c.CudaError is CudaError
    assert pycu2c.OutOfMemoryError is OutOfMemoryError


_FAULTY = """
import numpy as np
from pycu2c import cuda, kernel, CudaError
@kernel
def scattered(x, where):
    x[where] = 1
x = cuda.to_device(np.zeros(4, np.float32))
scattered[1, 1](x, 0)
try:
    scattered[1, 1](x, 2**60)
    cuda.synchronize()
except CudaError as error:
    print(type(error).__name__, error)
try:
    cuda.to_device(np.zeros(4))
except CudaError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.gpu
@pytest.mark.faulty
def test_an_illegal_address_names_the_kernel(tmp_path):
    program = tmp_path / "faulty.py"  # in a process of its own: nothing works in one after it
    program.write_text(_FAULTY)
    done = subprocess.run([sys.executable, program], capture_output=True, text=True)
    first, second = done.stdout.splitlines()
    for line in (first, second):
        assert line.startswith("IllegalAddressError")
        assert "Launched last: scattered." in line
        assert "restart it" in line


@pytest.mark.gpu
def test_out_of_memory_states_the_free_memory():
    with pytest.raises(OutOfMemoryError, match=r"allocate \d+ bytes .*: \d+ of the device's \d+"):
        pycu2c.cuda.device_array(2**44, "u1")
