"""Arrays of any package where a kernel is to run: on the GPU, or in memory of the host."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from pycu2c.base.backends import usual_backend
from pycu2c.cuda_driver import driver
from pycu2c.devices import copies, interoperability
from pycu2c.devices.array import DeviceArray
from pycu2c.runtime.arguments.strides import Shape
from pycu2c.runtime.cuda.memory import HOST

Backend: TypeAlias = str  # as kernels name it

TARGETS = {"cuda": "auto", "cpu": "cpu", "parallel": "cpu"}  # numba's names


def backend_of(target: str) -> Backend:
    """Where kernels of one of numba's targets run."""
    if target not in TARGETS:
        raise ValueError(f"target is one of {', '.join(TARGETS)}, not {target!r}")
    said = usual_backend()
    return TARGETS[target] if said == "auto" else said


def ordinal_for(backend: Backend) -> int:
    """Where the arrays of a kernel with this backend lie."""
    on_gpu = backend in ("auto", "cuda") and driver.available()
    return driver.current_ordinal() if on_gpu else HOST


def placed(value: Any, ordinal: int, stream: object) -> DeviceArray:
    """A value as an array there: what lies on a device is as it is, an array of the host is copied
    to a GPU."""
    if interoperability.is_on_device(value):
        return interoperability.as_device_array(value)
    host = np.asarray(value)
    if not host.dtype.isnative or not host.flags.aligned:
        host = host.astype(host.dtype.newbyteorder("="))
    if ordinal == HOST:
        return interoperability.over_numpy(host, HOST, None)
    return copies.from_host(host, ordinal, stream)


def room(shape: Shape, dtype: np.dtype[Any], ordinal: int, stream: object) -> DeviceArray:
    """A new array for results."""
    return copies.new(shape, dtype, ordinal, stream=stream)


def are_on_host(values: tuple[Any, ...]) -> bool:
    """Whether no array of a call is on a device, so that what it gives is numpy's, too."""
    return not any(map(interoperability.is_on_device, values))


def handed_over(result: DeviceArray, out: Any, stream: object, *, on_host: bool) -> Any:
    """What a call gives: ``out`` with the result in it, or an array of the side that its arguments
    are of; of one element without axes that element."""
    if out is not None:
        if isinstance(out, np.ndarray) and result.device != HOST:
            out[...] = result.copy_to_host(stream=stream)
        return out
    if not on_host:
        return result
    found = result.copy_to_host()
    return found if result.shape else found[()]
