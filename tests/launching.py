"""Running a kernel on a chosen backend, on copies of its arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pycu2c.kernel import Kernel
from pycu2c.passes.narrow import narrow
from pycu2c.targets import TARGETS

_CPU = TARGETS["cpu"]
# what CUDA's code computes in 32 bits, computed so where no GPU is needed
NARROWED = replace(_CPU, passes=(("narrow", narrow), *_CPU.passes), narrows=True)


def copied(argument: Any) -> Any:
    """A copy that keeps strides: of the whole base, seen the same way."""
    if not isinstance(argument, np.ndarray):
        return argument
    base = argument
    while isinstance(base.base, np.ndarray):
        base = base.base
    new = base.copy(order="K")
    offset = argument.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    flat = new.ravel(order="K").view(np.uint8)  # bfloat16 has no buffer of its own
    return np.ndarray(argument.shape, argument.dtype, flat.data, offset, argument.strides)


def run(kernel: Kernel, configuration: tuple[Any, ...], arguments: Any, target: str) -> list[Any]:
    """The arguments after a launch on ``target``; those given are left alone."""
    fresh = Kernel(
        kernel.python, backend=target, signature=kernel.signature, options=kernel.options
    )
    given = [copied(a) for a in arguments]
    fresh[configuration](*given)
    return given
