"""Tries the C on arrays and numbers of every kind: whether it packs a launch as Python does."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from pycu2c.base import dtypes
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.types import Scalar, Signature
from pycu2c.base.values import scalar_of
from pycu2c.runtime.arguments.arguments import describe, layout_of, pack
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.direct_launch import Direct
from pycu2c.runtime.launch_configuration import CALL, HEAD
from pycu2c.runtime.plans.guards import Seen
from pycu2c.runtime.plans.plan import Place, Plans

Make: TypeAlias = Callable[[CallSignature], Plans]  # no plans yet for a kernel

_TRIED = Signature(())
_OF_ONE = CallSignature("trial", ("x",), 1, None, {})


class _Own:
    """As an array of this package's lies in memory, on the host."""

    __slots__ = ("_words", "array", "dtype")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array, self.dtype = array, array.dtype
        flags = array.flags.c_contiguous | 2 * array.flags.writeable
        head = (array.__array_interface__["data"][0], -1, flags, array.ndim)
        self._words = struct.pack(f"@{4 + 2 * array.ndim}q", *head, *array.shape, *array.strides)

    @property
    def __array_interface__(self) -> object:
        return self.array.__array_interface__


def _trials() -> Iterator[object]:
    grid = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    arrays = (grid, grid[::-1, :, 1:3], grid[0].T, grid[1, 2], grid[:, 1:2, ::-2])
    yield from arrays
    yield from map(_Own, arrays)
    frozen = np.arange(5)
    frozen.flags.writeable = False
    yield from (frozen, frozen[1:2], np.zeros(3, [("x", "i4"), ("y", "f8")]))
    yield from (True, -7, 2.5, 1 - 2j)
    for row in dtypes.DTYPES:
        if row is not dtypes.BFLOAT16:
            yield row.numpy.type(1)


def agrees(make: Make, library: ctypes.PyDLL) -> bool:
    """Whether the plans that are made of a library do what Python does."""
    start = ctypes.cast(library.pycu2c_plans_keep, ctypes.c_void_p).value or 0
    return all(_agrees(make, start, value) for value in _trials())


def _agrees(make: Make, start: int, value: object) -> bool:
    """Whether a launch with one argument is packed by the C as it is by Python."""
    parameters = tuple(_flat(value))
    layout = layout_of(parameters)
    array = describe(value)
    leaf = array or value
    packed = bytes(HEAD.size) + pack(layout, [leaf], [array.address if array else 0])  # type: ignore[list-item]
    kept = ctypes.create_string_buffer(len(packed))
    direct = Direct(layout, start, ctypes.addressof(kept), _ignore)
    tried = make(_OF_ONE)
    types = (array.type if array else scalar_of(value),)
    seen = Seen((value,), types, (leaf,), (), {})  # type: ignore[arg-type]
    numbers = (len(packed), 1, 1, 1, 1, 1, 0)
    call = CALL.pack(*numbers, 0, True), None
    learnt = tried.learn(seen, Place(None, 0), direct, _TRIED)
    ran = tried.run(*call, (value,)) and not tried.run(*call, (None,))
    ran = ran and tried.latest() is _TRIED
    return learnt and ran and kept.raw == HEAD.pack(*numbers) + packed[HEAD.size :]


def _flat(value: object) -> Iterator[Parameter]:
    array = describe(value)
    if array is None:
        scalar = scalar_of(value)
        assert isinstance(scalar, Scalar)
        yield Parameter("x", scalar, 0)
        return
    yield Parameter("x", array.type, 0, ArgumentPart.DATA)
    for axis in range(len(array.shape)):
        yield Parameter("n", Scalar(dtypes.INT64, weak=True), 0, ArgumentPart.SHAPE, axis)
        yield Parameter("s", Scalar(dtypes.INT64, weak=True), 0, ArgumentPart.STRIDE, axis)


def _ignore(code: int, head: bytes) -> None:
    """The kernel of a trial gives no code."""
