"""Kernels of the language constructs: text, arguments, results in plain Python."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from pycu2c import cuda
from support.language_constructs import HEADER, Construct

N = 8
IMPORTS = "from pycu2c import cuda, device, kernel\n"
KERNEL = "\n@kernel\ndef k(a, b, m, n, x, out):\n    i = cuda.grid(1)\n"


def text_of(row: Construct) -> str:
    return HEADER + KERNEL + textwrap.indent(row.body, "    ") + "\n"


def arguments() -> list[Any]:
    a = (np.arange(N) * 0.75 + 0.5).astype(np.float32)
    b = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)
    m = np.arange(N * 3, dtype=np.float64).reshape(N, 3) / 2
    return [a, b, m, 5, 2.5, np.zeros(N)]


class Vector(SimpleNamespace):
    """A vector of float32 that plain Python can change."""

    def __iter__(self) -> Iterator[Any]:
        return iter(vars(self).values())

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, name, value)


def vector(*inputs: Any) -> Vector:
    parts = [p for value in inputs for p in (value if isinstance(value, Vector) else (value,))]
    return Vector(**dict(zip("xyzw", map(np.float32, parts))))


class Atomics:
    """``cuda.atomic`` of one thread."""

    @staticmethod
    def add(array: Any, index: Any, value: Any) -> Any:
        return updated(array, index, array[index] + value)

    @staticmethod
    def max(array: Any, index: Any, value: Any) -> Any:
        return updated(array, index, max(array[index], value))

    @staticmethod
    def xor(array: Any, index: Any, value: Any) -> Any:
        return updated(array, index, array[index] ^ value)

    @staticmethod
    def cas(array: Any, index: Any, old: Any, value: Any) -> Any:
        return updated(array, index, value if array[index] == old else array[index])


def updated(array: Any, index: Any, new: Any) -> Any:
    old, array[index] = array[index], new
    return old


class Machine:
    """Replaces ``cuda`` when a kernel runs as a plain function."""

    atomic = Atomics
    random = cuda.random
    float2 = float3 = float4 = staticmethod(vector)
    i = 0

    @staticmethod
    def c_function(*_: Any, **__: Any) -> Any:
        return lambda function: function

    def grid(self, _: int) -> int:
        return self.i


class Ended(Exception):
    pass


def run_in_python(row: Construct) -> np.ndarray[Any, Any]:
    """Return ``out`` after the kernel has run as a plain function, thread by thread."""
    machine = Machine()
    plain = {"cuda": machine, "kernel": lambda f: f, "device": lambda f: f}
    text = text_of(row).replace("raise ValueError", "raise Ended")
    scope: dict[str, Any] = {**plain, "Ended": Ended}
    exec(compile(text, "plain.py", "exec"), scope)
    inputs = arguments()
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for machine.i in range(N):
            try:
                scope["k"](*inputs)
            except Ended:
                continue
    return inputs[-1]
