"""Map error codes of the CUDA driver to exceptions with the failed action and advice."""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import recent_launches

_PREFIX = "CUDA_ERROR_"


class CudaError(RuntimeError):
    """A call of the CUDA driver failed.

    name: the error code, such as ``CUDA_ERROR_OUT_OF_MEMORY``.
    text: the driver's description of the code.
    doing: the action that failed.
    advice: how to fix the problem; may be empty.
    """

    def __init__(self, name: str, text: str, doing: str, advice: str = "") -> None:
        self.name, self.text, self.doing, self.advice = name, text, doing, advice
        super().__init__(f"{doing}: {text} ({name})" + (f". {advice}" if advice else ""))


class NoDeviceError(CudaError):
    """There is no device that this process may use."""


class DriverError(CudaError):
    """The version of the driver does not fit the code or the device."""


class OutOfMemoryError(CudaError, MemoryError):
    """The device does not have enough free memory."""


class LaunchResourcesError(CudaError):
    """A block requires more registers, shared memory or threads than the device has."""


class CaptureError(CudaError):
    """The action is not allowed while a stream is captured into a graph."""


class PeerAccessError(CudaError):
    """A device cannot access the memory of another device."""


class KernelFault(CudaError):
    """A kernel failed while it ran. All later CUDA calls of the process fail."""


class IllegalAddressError(KernelFault):
    """A kernel accessed an invalid address, most likely by an index out of bounds."""


class MisalignedAddressError(KernelFault):
    """A kernel accessed an address that is not aligned for its type."""


class DeviceAssertError(KernelFault):
    """An ``assert`` of a kernel failed."""


class LaunchTimeoutError(KernelFault):
    """A kernel exceeded the time limit of a device with a display."""


# ---- error codes -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _ErrorCodes:
    error: type[CudaError]
    codes: tuple[str, ...]  # prefixes of their names, without CUDA_ERROR_
    advice: str = ""


_ERRORS = (
    _ErrorCodes(IllegalAddressError, ("ILLEGAL_ADDRESS", "INVALID_ADDRESS_SPACE")),
    _ErrorCodes(MisalignedAddressError, ("MISALIGNED_ADDRESS",)),
    _ErrorCodes(DeviceAssertError, ("ASSERT",)),
    _ErrorCodes(
        LaunchTimeoutError,
        ("LAUNCH_TIMEOUT",),
        "The system ends kernels on a device with a screen after some seconds: launch less work "
        "at a time.",
    ),
    _ErrorCodes(
        KernelFault,
        (
            "LAUNCH_FAILED",
            "HARDWARE_STACK_ERROR",
            "ILLEGAL_INSTRUCTION",
            "INVALID_PC",
            "CONTAINED",
            "ECC_UNCORRECTABLE",
        ),
    ),
    _ErrorCodes(
        OutOfMemoryError,
        ("OUT_OF_MEMORY",),
        "Free arrays by dropping the last reference to them, or work on a part at a time.",
    ),
    _ErrorCodes(
        LaunchResourcesError,
        ("LAUNCH_OUT_OF_RESOURCES",),
        "Use smaller blocks, or @kernel(max_registers=…); k.attributes() says what a kernel takes.",
    ),
    _ErrorCodes(NoDeviceError, ("NO_DEVICE", "INVALID_DEVICE", "DEVICE_UNAVAILABLE")),
    _ErrorCodes(
        DriverError,
        (
            "UNSUPPORTED_PTX_VERSION",
            "NO_BINARY_FOR_GPU",
            "SYSTEM_DRIVER_MISMATCH",
            "COMPAT_NOT_SUPPORTED",
            "CALL_REQUIRES_NEWER",
            "INSUFFICIENT_LOADER",
        ),
        "`pycu2c doctor` shows the versions that were found.",
    ),
    _ErrorCodes(CaptureError, ("STREAM_CAPTURE", "CAPTURED_EVENT")),
    _ErrorCodes(PeerAccessError, ("PEER_ACCESS", "TOO_MANY_PEERS")),
)


def error_for(name: str, text: str, doing: str) -> CudaError:
    """Return the exception for an error code."""
    code = name.removeprefix(_PREFIX)
    for row in _ERRORS:
        if code.startswith(row.codes):
            advice = _fault_advice(row.advice) if issubclass(row.error, KernelFault) else row.advice
            return row.error(name, text, doing, advice)
    return CudaError(name, text, doing)


# ---- kernel faults -----------------------------------------------------------------------------


def _fault_advice(advice: str) -> str:
    names = recent_launches.names()
    launched = f"Launched last: {', '.join(names)}." if names else ""
    how_to_find = (
        "To find the line, run the program under compute-sanitizer with PYCU2C_LINEINFO=1, or the "
        "kernel with backend='python', which checks every index."
    )
    end = "No later CUDA call of this process can succeed: restart it."
    return " ".join(filter(None, (launched, advice or how_to_find, end)))
