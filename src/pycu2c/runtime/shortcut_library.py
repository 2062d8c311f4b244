"""Builds ``shortcut.c``, loads it and tries it on arrays and numbers of every kind.

numpy 2 promises its extensions that arrays lie in memory as they do; a Python or numpy that is
another is not asked at all, and if a trial comes out wrong, the C is not used.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pycu2c import dtypes
from pycu2c.parameters import Parameter, Part
from pycu2c.runtime.arguments import describe, layout_of, pack
from pycu2c.runtime.configuration import HEAD
from pycu2c.runtime.runner import Direct
from pycu2c.runtime.shortcut import Place, Seen, Shortcuts
from pycu2c.toolchain import cache, cc
from pycu2c.toolchain.binary import ToolchainError
from pycu2c.types import Scalar, Signature
from pycu2c.values import scalar_of


def shortcuts() -> Shortcuts | None:
    """An empty table of plans; None where the C cannot be used."""
    library = _library()
    return None if library is None else _table(library)


def _table(library: ctypes.PyDLL) -> Shortcuts:
    made = library.pycu2c_shortcut
    made.restype = ctypes.py_object
    return Shortcuts(*made())


@functools.cache
def _library() -> ctypes.PyDLL | None:
    if not _is_known_python():
        return None
    try:
        binary = cc.compile(shortcut_text(), "pycu2c_shortcut")
        path = binary.path or cache.keep_until_exit("pycu2c_shortcut.so", binary.data)
        library = ctypes.PyDLL(os.fspath(path))
    except (ToolchainError, OSError):  # no compiler, or a disk that runs no code
        return None
    return library if _is_right(library) else None


def shortcut_text() -> str:
    return Path(__file__).with_name("shortcut.c").read_text(encoding="utf-8")


def _is_known_python() -> bool:
    """Whether objects and arrays lie in memory as the C takes them to."""
    return (
        sys.implementation.name == "cpython"
        and "t" not in getattr(sys, "abiflags", "")
        and object.__basicsize__ == 16
        and struct.calcsize("P") == 8
        and np.__version__.startswith("2.")
    )


# ---- the trial -----------------------------------------------------------------------------


_TRIED = Signature(())


def _trials() -> Iterator[object]:
    grid = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    yield from (grid, grid[::-1, :, 1:3], grid[0].T, grid[1, 2], grid[:, 1:2, ::-2])
    frozen = np.arange(5)
    frozen.flags.writeable = False
    yield from (frozen, frozen[1:2], np.zeros(3, [("x", "i4"), ("y", "f8")]))
    yield from (True, -7, 2.5, 1 - 2j)
    for row in dtypes.DTYPES:
        if row is not dtypes.BFLOAT16:
            yield row.numpy.type(1)


def _is_right(library: ctypes.PyDLL) -> bool:
    return all(_agrees(library, value) for value in _trials())


def _agrees(library: ctypes.PyDLL, value: object) -> bool:
    """Whether a launch with one argument is packed by the C as it is by Python."""
    parameters = tuple(_flat(value))
    layout = layout_of(parameters)
    array = describe(value)
    leaf = array or value
    packed = bytes(HEAD.size) + pack(layout, [leaf], [array.address if array else 0])  # type: ignore[list-item]
    kept = ctypes.create_string_buffer(len(packed))
    start = ctypes.cast(library.pycu2c_shortcut_keep, ctypes.c_void_p).value or 0
    direct = Direct(layout, start, ctypes.addressof(kept), _ignore)
    table = _table(library)
    types = (array.type if array else scalar_of(value),)
    seen = Seen((value,), types, (leaf,), (), ())  # type: ignore[arg-type]
    head = HEAD.pack(len(packed), 1, 1, 1, 1, 1, 0)
    learnt = table.learn(seen, Place(None, 0), direct, _TRIED)
    ran = table.run(head, (value,)) is _TRIED and table.run(head, (None,)) is None
    return learnt and ran and kept.raw == head + packed[HEAD.size :]


def _flat(value: object) -> Iterator[Parameter]:
    array = describe(value)
    if array is None:
        scalar = scalar_of(value)
        assert isinstance(scalar, Scalar)
        yield Parameter("x", scalar, 0)
        return
    yield Parameter("x", array.type, 0, Part.DATA)
    for axis in range(len(array.shape)):
        yield Parameter("n", Scalar(dtypes.INT64, weak=True), 0, Part.SHAPE, axis)
        yield Parameter("s", Scalar(dtypes.INT64, weak=True), 0, Part.STRIDE, axis)


def _ignore(code: int, head: bytes) -> None:
    """The kernel of a trial gives no code."""
