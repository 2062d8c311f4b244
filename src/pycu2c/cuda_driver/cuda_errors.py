"""What the CUDA driver can answer, as exceptions that say what was asked, and what helps."""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import recent_launches

_PREFIX = "CUDA_ERROR_"


class CudaError(RuntimeError):
    """The driver refused or failed. ``name`` is its code, ``text`` what it says of it, ``doing``
    what was asked of it; ``advice`` is what helps, if that is known."""

    def __init__(self, name: str, text: str, doing: str, advice: str = "") -> None:
        self.name, self.text, self.doing, self.advice = name, text, doing, advice
        super().__init__(f"{doing}: {text} ({name})" + (f". {advice}" if advice else ""))


class NoDeviceError(CudaError):
    """There is no device, or none that this process may use."""


class DriverError(CudaError):
    """The driver's version does not fit."""


class OutOfMemoryError(CudaError, MemoryError):
    """There is not as much memory on the device as was asked for."""


class LaunchResourcesError(CudaError):
    """A block takes more registers, memory or threads than there are."""


class CaptureError(CudaError):
    """What cannot be done while a stream is captured into a graph."""


class PeerAccessError(CudaError):
    """A device cannot use the memory of another."""


class KernelFault(CudaError):
    """A kernel failed while it ran. No later CUDA call of the process can succeed."""


class IllegalAddressError(KernelFault):
    """A kernel used memory that is not there: an index outside of an array, most likely."""


class MisalignedAddressError(KernelFault):
    """A kernel used memory at an address that is no multiple of what its type needs."""


class DeviceAssertError(KernelFault):
    """An ``assert`` of a kernel failed."""


class LaunchTimeoutError(KernelFault):
    """A kernel ran for longer than the system lets one run on a device with a screen."""


# ---- which code is which -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    error: type[CudaError]
    codes: tuple[str, ...]  # how their names begin, without CUDA_ERROR_
    advice: str = ""


_ROWS = (
    _Row(IllegalAddressError, ("ILLEGAL_ADDRESS", "INVALID_ADDRESS_SPACE")),
    _Row(MisalignedAddressError, ("MISALIGNED_ADDRESS",)),
    _Row(DeviceAssertError, ("ASSERT",)),
    _Row(
        LaunchTimeoutError,
        ("LAUNCH_TIMEOUT",),
        "The system ends kernels on a device with a screen after some seconds: launch less work "
        "at a time.",
    ),
    _Row(
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
    _Row(
        OutOfMemoryError,
        ("OUT_OF_MEMORY",),
        "Free arrays by dropping the last reference to them, or work on a part at a time.",
    ),
    _Row(
        LaunchResourcesError,
        ("LAUNCH_OUT_OF_RESOURCES",),
        "Use smaller blocks, or @kernel(max_registers=…); k.attributes() says what a kernel takes.",
    ),
    _Row(NoDeviceError, ("NO_DEVICE", "INVALID_DEVICE", "DEVICE_UNAVAILABLE")),
    _Row(
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
    _Row(CaptureError, ("STREAM_CAPTURE", "CAPTURED_EVENT")),
    _Row(PeerAccessError, ("PEER_ACCESS", "TOO_MANY_PEERS")),
)


def error_for(name: str, text: str, doing: str) -> CudaError:
    """The exception for a code of the driver."""
    code = name.removeprefix(_PREFIX)
    for row in _ROWS:
        if code.startswith(row.codes):
            advice = _of_fault(row.advice) if issubclass(row.error, KernelFault) else row.advice
            return row.error(name, text, doing, advice)
    return CudaError(name, text, doing)


# ---- kernels that may have failed --------------------------------------------------------------


def _of_fault(advice: str) -> str:
    names = recent_launches.names()
    said = f"Launched last: {', '.join(names)}." if names else ""
    found = (
        "To find the line, run the program under compute-sanitizer with PYCU2C_LINEINFO=1, or the "
        "kernel with backend='python', which checks every index."
    )
    end = "No later CUDA call of this process can succeed: restart it."
    return " ".join(filter(None, (said, advice or found, end)))
