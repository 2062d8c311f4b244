"""Run a kernel as a plain Python function, index by index, to get the expected results."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.kernels.kernel import DeviceFunction, Kernel

N = 40  # indices


class Machine:
    """Replaces ``cuda`` when a kernel runs as a plain function."""

    def __init__(self) -> None:
        self.i = 0
        self.local = self
        self.threadIdx = self.blockIdx = self.blockDim = self

    @property
    def x(self) -> int:
        return 0

    def grid(self, _: int) -> int:
        return self.i

    def array(self, shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
        return np.zeros(shape, dtype.dtype.numpy)


def run_in_python(kernel: Kernel, arguments: list[Any], count: int = N) -> list[Any]:
    """Return copies of the arguments after the undecorated function has run for each index.

    ``ThreadEndsError`` ends a thread.
    """
    machine = Machine()
    inputs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    scope: dict[str, Any] = {}
    for name, value in kernel.python.__globals__.items():
        if value is cuda:
            value = machine
        elif value is cuda.grid:
            value = machine.grid
        elif isinstance(value, DeviceFunction):
            value = _in(scope, value.python)
        scope[name] = value
    function = _in(scope, kernel.python)
    with np.errstate(all="ignore"):
        for machine.i in range(count):
            try:
                function(*inputs)
            except ThreadEndsError:
                continue
    return inputs


class ThreadEndsError(Exception):
    """Kernels of tests raise this to end a thread."""


def _in(scope: dict[str, Any], function: FunctionType) -> FunctionType:
    return FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, function.__closure__
    )
