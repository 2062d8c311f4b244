"""Launch kernels with tensor maps on a target."""

from __future__ import annotations

from typing import Any

import numpy as np

from pycu2c import cuda
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.arguments.flattened_arguments import flatten_arguments
from pycu2c.toolchain.nvrtc import nvrtc


def launch(
    kernel: Kernel, configuration: tuple[Any, ...], target: str, *arguments: Any
) -> list[np.ndarray[Any, Any]]:
    """Return the arrays after a launch. An argument ``(array, box)`` is passed as a tensor map."""
    on_target = type(kernel)(kernel.python, backend=target, options=kernel.options)
    arrays, passed = [], []
    for argument in arguments:
        array, *box = argument if isinstance(argument, tuple) else (argument,)
        if isinstance(array, np.ndarray):
            array = cuda.to_device(array) if target == "cuda" else array.copy()
            arrays.append(array)
        passed.append(cuda.TensorMap(array, *box) if box else array)
    on_target[configuration](*passed)
    return [a.copy_to_host() if target == "cuda" else a for a in arrays]


def types_of(*arguments: Any) -> tuple[Any, ...]:
    """Return the types of arguments in a signature."""
    return flatten_arguments(arguments, [str(n) for n in range(len(arguments))]).types


def hopper_code(kernel: Kernel, *arguments: Any) -> tuple[str, str]:
    """Return the CUDA C of a kernel, and the log of its compilation for sm_90a."""
    text = kernel.inspect("cuda", types_of(*arguments))
    return text, nvrtc.compile(text, kernel.python.__name__, "sm_90a", kind="cubin").log
