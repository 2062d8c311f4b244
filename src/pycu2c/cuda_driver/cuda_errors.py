"""Exceptions for error codes of the CUDA driver, with the failed action and advice."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import ClassVar

from pycu2c.base.errors import Error
from pycu2c.native.extension import recent_kernels

_PREFIX = "CUDA_ERROR_"


class CudaError(Error, RuntimeError):
    """A call of the CUDA driver failed.

    Attributes
    ----------
    name : str
        The error code, such as "CUDA_ERROR_OUT_OF_MEMORY".
    text : str
        The driver's description of the code.
    doing : str
        The action that failed.
    advice : str
        How to fix the problem; may be empty.
    """

    codes: ClassVar[tuple[str, ...]] = ()  # prefixes of the class's error codes, without _PREFIX
    general_advice: ClassVar[str] = ""

    def __init__(self, name: str, text: str, doing: str, advice: str = "") -> None:
        self.name, self.text, self.doing, self.advice = name, text, doing, advice
        super().__init__(f"{doing}: {text} ({name})" + (f". {advice}" if advice else ""))


class NoDeviceError(CudaError):
    """There is no device that this process may use."""

    codes = ("NO_DEVICE", "INVALID_DEVICE", "DEVICE_UNAVAILABLE")


class DriverError(CudaError):
    """The version of the driver does not fit the code or the device."""

    codes = (
        "UNSUPPORTED_PTX_VERSION",
        "NO_BINARY_FOR_GPU",
        "SYSTEM_DRIVER_MISMATCH",
        "COMPAT_NOT_SUPPORTED",
        "CALL_REQUIRES_NEWER",
        "INSUFFICIENT_LOADER",
    )
    general_advice = "`pycu2c doctor` shows the versions that were found."


class OutOfMemoryError(CudaError, MemoryError):
    """The device does not have enough free memory."""

    codes = ("OUT_OF_MEMORY",)
    general_advice = (
        "Free arrays by dropping the last reference to them, or work on a part at a time."
    )


class LaunchResourcesError(CudaError):
    """A block requires more registers, shared memory or threads than the device has."""

    codes = ("LAUNCH_OUT_OF_RESOURCES",)
    general_advice = (
        "Use smaller blocks, or @kernel(max_registers=…); k.attributes() says what a kernel takes."
    )


class CaptureError(CudaError):
    """The action is not allowed while a stream is captured into a graph."""

    codes = ("STREAM_CAPTURE", "CAPTURED_EVENT")


class PeerAccessError(CudaError):
    """A device cannot access the memory of another device."""

    codes = ("PEER_ACCESS", "TOO_MANY_PEERS")


class KernelFault(CudaError):
    """A kernel failed while it ran. All later CUDA calls of the process fail."""

    codes: ClassVar[tuple[str, ...]] = (
        "LAUNCH_FAILED",
        "HARDWARE_STACK_ERROR",
        "ILLEGAL_INSTRUCTION",
        "INVALID_PC",
        "CONTAINED",
        "ECC_UNCORRECTABLE",
    )


class IllegalAddressError(KernelFault):
    """A kernel accessed an invalid address, most likely by an index out of bounds."""

    codes = ("ILLEGAL_ADDRESS", "INVALID_ADDRESS_SPACE")


class MisalignedAddressError(KernelFault):
    """A kernel accessed an address that is not aligned for its type."""

    codes = ("MISALIGNED_ADDRESS",)


class DeviceAssertError(KernelFault):
    """An ``assert`` of a kernel failed."""

    codes = ("ASSERT",)


class LaunchTimeoutError(KernelFault):
    """A kernel exceeded the time limit of a device with a display."""

    codes = ("LAUNCH_TIMEOUT",)
    general_advice = (
        "On a device with a display, the system stops a kernel after some seconds: launch less "
        "work at a time."
    )


def error_for(name: str, text: str, doing: str) -> CudaError:
    """Return the exception for an error code."""
    code = name.removeprefix(_PREFIX)
    for error in error_classes():
        if code.startswith(error.codes):
            advice = error.general_advice
            is_fault = issubclass(error, KernelFault)
            return error(name, text, doing, _fault_advice(advice) if is_fault else advice)
    return CudaError(name, text, doing)


def error_classes(base: type[CudaError] = CudaError) -> Iterator[type[CudaError]]:
    """Yield all subclasses of an error class."""
    for error in base.__subclasses__():
        yield error
        yield from error_classes(error)


# ---- kernel faults -----------------------------------------------------------------------------

# A later driver call reports a fault, and the driver does not know which kernel caused it.
_MAX_NAMES = 4
_recorded_launches: deque[str] = deque(maxlen=_MAX_NAMES)


def record_launch(kernel: str) -> None:
    """Record that a kernel or a graph was launched on a GPU."""
    _recorded_launches.append(kernel)


def _fault_advice(advice: str) -> str:
    """Add the names of the latest kernels, and how to find the line, to the advice."""
    names = list(dict.fromkeys(reversed([*_recorded_launches, *recent_kernels()])))[:_MAX_NAMES]
    launched = f"Launched last: {', '.join(names)}." if names else ""
    how_to_find = (
        "To find the line, run the program with PYCU2C_CHECK=1, which checks every index, or under "
        "compute-sanitizer with PYCU2C_LINEINFO=1."
    )
    end = "No later CUDA call of this process can succeed: restart it."
    return " ".join(filter(None, (launched, advice or how_to_find, end)))
