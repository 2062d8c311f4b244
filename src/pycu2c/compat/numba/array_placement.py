"""Copy arrays of any library to the device of a kernel, and results back."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.backends import default_backend
from pycu2c.cuda_driver import driver
from pycu2c.devices import array, interoperability
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.conversion_hints import conversion_hint, described, host_array
from pycu2c.runtime.cuda.memory import HOST

Backend: TypeAlias = str  # a value of the option ``backend`` of ``@kernel``

TARGETS = {"cuda": "auto", "cpu": "cpu", "parallel": "cpu"}  # numba's target -> back end


def backend_of(target: str) -> Backend:
    """Return the back end of a numba target."""
    if target not in TARGETS:
        raise ValueError(f"target is one of {', '.join(TARGETS)}, not {target!r}")
    default = default_backend()
    return TARGETS[target] if default == "auto" else default


def ordinal_for(backend: Backend) -> int:
    """Return the device ordinal for kernels of a back end; ``HOST`` for the CPU."""
    on_gpu = backend in ("auto", "cuda") and driver.available()
    return driver.current_ordinal() if on_gpu else HOST


def to_device_array(value: Any, ordinal: int, stream: object) -> DeviceArray:
    """Return a value as a device array.

    A host array is copied for a GPU, or if its bytes are swapped or misaligned.
    """
    if interoperability.is_on_device(value):
        return array.as_device_array(value)
    host = host_array(value)
    if not host.dtype.isnative or not host.flags.aligned:
        host = host.astype(host.dtype.newbyteorder("="))
    if ordinal == HOST:
        return array.wrap_numpy(host, HOST, None)
    return array.from_host(host, ordinal, stream)


def as_input(value: Any) -> Any:
    """Return an input as a number, a NumPy array or a device array."""
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return value
    return (
        array.as_device_array(value) if interoperability.is_on_device(value) else host_array(value)
    )


def as_output(out: Any) -> Any:
    """Return an output as a NumPy array or a device array, which shares its memory.

    Raises TypeError if it may have no memory of its own, so that the result would be lost.
    """
    if out is None:
        return None
    if interoperability.is_on_device(out):
        return array.as_device_array(out)
    if (
        isinstance(out, np.ndarray)
        or hasattr(out, "__array_interface__")
        or hasattr(out, "__dlpack__")
    ):
        return host_array(out)
    raise TypeError(
        f"the result is written to a numpy array or a device array, not to {described(out)}"
        f"{conversion_hint(out)}"
    )


def are_on_host(values: tuple[Any, ...]) -> bool:
    """Return whether no argument is a device array, so that results are NumPy arrays."""
    return not any(map(interoperability.is_on_device, values))


def finish_result(result: DeviceArray, out: Any, stream: object, *, on_host: bool) -> Any:
    """Return the result of a call: ``out``, a NumPy array for host arguments, or a device array.

    If the kernel wrote another array than ``out``, the result is copied to ``out``. A NumPy result
    without axes becomes a scalar.
    """
    if isinstance(out, DeviceArray):
        if out.address != result.address:
            out.setitem(..., result, stream)
        return out
    if out is not None:
        if result.device != HOST or out.ctypes.data != result.address:
            out[...] = result.copy_to_host(stream=stream)
        return out
    if not on_host:
        return result
    host = result.copy_to_host()
    return host if result.shape else host[()]
