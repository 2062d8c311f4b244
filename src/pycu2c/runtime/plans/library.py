"""Builds the C of this room, loads it and tries it on arrays and numbers of every kind.

numpy 2 promises its extensions that arrays lie in memory as they do; a Python or numpy that is
another is not asked at all, and if a trial comes out wrong, the C is not used.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pycu2c import dtypes
from pycu2c.parameters import Parameter, Part
from pycu2c.runtime import capturing, cuda_errors
from pycu2c.runtime.arguments import describe, layout_of, pack
from pycu2c.runtime.c_files import c_text
from pycu2c.runtime.calling import Parameters
from pycu2c.runtime.configuration import CALL, HEAD
from pycu2c.runtime.cpu_runner import Noted
from pycu2c.runtime.plans.guards import Seen, place_of
from pycu2c.runtime.plans.plan import Place, Plans, Table
from pycu2c.runtime.runner import Direct
from pycu2c.toolchain import cache, cc
from pycu2c.toolchain.binary import ToolchainError
from pycu2c.types import Scalar, Signature
from pycu2c.values import scalar_of

_FILES = ("python.c", "plan.c", "numbers.c", "arrays.c", "start.c", "doors.c")


def plans(parameters: Parameters) -> Plans | None:
    """No plans yet for a kernel with these parameters; None where the C cannot be used."""
    library = _library()
    return None if library is None else _none_yet(library, parameters)


def _none_yet(library: ctypes.PyDLL, parameters: Parameters) -> Plans:
    make = library.pycu2c_plans
    make.restype, make.argtypes = ctypes.py_object, (*[ctypes.py_object] * 3, _INT64)
    names, defaults = parameters.names, dict(parameters.defaults)
    return Plans(Table(*make(parameters.kernel, names, defaults, parameters.positional)))


_INT64 = ctypes.c_int64


def in_a_row(launches: Sequence[Noted]) -> Callable[[], None] | None:
    """What does launches on the CPU one after the other, in one call of C; None where the C cannot
    be used."""
    library = _library()
    if library is None:
        return None
    run, code = library.pycu2c_in_a_row, _INT64()
    run.restype, run.argtypes = _INT64, (ctypes.c_void_p, _INT64, ctypes.c_void_p)
    words = [word for launch in launches for word in launch.words]
    rows = (_INT64 * len(words))(*words)
    call = ctypes.addressof(rows), len(launches), ctypes.addressof(code)

    def all_of_them(rows: object = rows) -> None:
        done = run(*call)
        if done < len(launches):
            launches[done].finished(code.value)

    return all_of_them


def _recent(library: ctypes.PyDLL) -> tuple[str, ...]:
    """The kernels that C has started on a device last."""
    read = library.pycu2c_recent
    read.restype = ctypes.py_object
    return tuple(name for name in read() if name)


@functools.cache
def _library() -> ctypes.PyDLL | None:
    if not _is_known_python():
        return None
    try:
        binary = cc.compile(plans_text(), "pycu2c_plans")
        path = binary.path or cache.keep_until_exit("pycu2c_plans.so", binary.data)
        library = ctypes.PyDLL(path)
    except (ToolchainError, OSError):  # no compiler, or a disk that runs no code
        return None
    if not _is_right(library):
        return None
    cuda_errors.ask_too(lambda: _recent(library))
    library.pycu2c_capturing(ctypes.c_void_p(capturing.address()))
    return library


def plans_text() -> str:
    return c_text(*(f"plans/{name}" for name in _FILES))


def _is_known_python() -> bool:
    """Whether objects and arrays lie in memory as the C takes them to."""
    return (
        sys.implementation.name == "cpython"
        and "t" not in getattr(sys, "abiflags", "")
        and object.__basicsize__ == 16
        and struct.calcsize("P") == 8
        and np.__version__.startswith("2.")
    )


# ---- classes that C calls ------------------------------------------------------------------

_PLACES = (  # of slots: as in doors.c
    ("configured", "_launches"),
    ("configured", "_call"),
    ("configured", "_stream"),
    ("launches", "plans"),
    ("kernel", "_own"),
    ("kernel", "_configured"),
    ("kernel", "_last_key"),
    ("kernel", "_last"),
)


@functools.cache
def planned_class(own: type, configured: type, kernel: type, launches: type) -> type:
    """What a configuration or a kernel of a class becomes once there are plans: the same, but
    called by C."""
    called = dict(zip((configured, kernel), _called_by_c(configured, kernel, launches)))
    above = next((base for base in own.__mro__ if base in called), None)
    if above is None or issubclass(own, called[above]):
        return own
    return _over(called[above], own)


@functools.cache
def _called_by_c(configured: type, kernel: type, launches: type) -> tuple[type, type]:
    """The classes that C has the calls of, for a configuration and for a kernel."""
    library = _library()
    assert library is not None, "there are plans"
    owners = {"configured": configured, "kernel": kernel, "launches": launches}
    places = [place_of(owners[owner], slot) for owner, slot in _PLACES]
    assert all(places), "they are slots"
    make = library.pycu2c_classes
    make.restype = ctypes.py_object
    made: tuple[type, type] = make((ctypes.c_int64 * len(places))(*places))
    return made


def _over(called: type, own: type) -> type:
    """A class with the calls of one and all else of the other; objects may change into it."""
    names = {"__slots__": (), "__module__": own.__module__, "__qualname__": own.__qualname__}
    return type(own.__name__, (called, own), {**names, "__doc__": own.__doc__})


# ---- the trial -----------------------------------------------------------------------------


_TRIED = Signature(())
_OF_ONE = Parameters("trial", ("x",), 1, None, {})


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


def _is_right(library: ctypes.PyDLL) -> bool:
    begun = bool(library.pycu2c_begin(_INT64(tuple.__basicsize__)))
    return begun and all(_agrees(library, value) for value in _trials())


def _agrees(library: ctypes.PyDLL, value: object) -> bool:
    """Whether a launch with one argument is packed by the C as it is by Python."""
    parameters = tuple(_flat(value))
    layout = layout_of(parameters)
    array = describe(value)
    leaf = array or value
    packed = bytes(HEAD.size) + pack(layout, [leaf], [array.address if array else 0])  # type: ignore[list-item]
    kept = ctypes.create_string_buffer(len(packed))
    start = ctypes.cast(library.pycu2c_plans_keep, ctypes.c_void_p).value or 0
    direct = Direct(layout, start, ctypes.addressof(kept), _ignore)
    tried = _none_yet(library, _OF_ONE)
    types = (array.type if array else scalar_of(value),)
    seen = Seen((value,), types, (leaf,), (), ())  # type: ignore[arg-type]
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
    yield Parameter("x", array.type, 0, Part.DATA)
    for axis in range(len(array.shape)):
        yield Parameter("n", Scalar(dtypes.INT64, weak=True), 0, Part.SHAPE, axis)
        yield Parameter("s", Scalar(dtypes.INT64, weak=True), 0, Part.STRIDE, axis)


def _ignore(code: int, head: bytes) -> None:
    """The kernel of a trial gives no code."""
