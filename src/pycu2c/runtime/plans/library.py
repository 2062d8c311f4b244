"""Builds the C of this room and loads it, if it is right here.

numpy 2 promises its extensions that arrays lie in memory as they do; a Python or numpy that is
another is not asked at all. For each that is, the C is tried once (``trial.py``).
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Sequence

import numpy as np

from pycu2c.base import graph_capture
from pycu2c.cuda_driver import recent_launches
from pycu2c.runtime import c_sources
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.cpu.captured_launch import CapturedCpuLaunch
from pycu2c.runtime.plans import plan, trial
from pycu2c.toolchain import toolchain_errors
from pycu2c.toolchain.binary import Binary
from pycu2c.toolchain.cache import artifact_store
from pycu2c.toolchain.cc import cc

_FILES = ("python.c", "plan.c", "numbers.c", "arrays.c", "copies.c", "start.c", "doors.c")


def plans(parameters: CallSignature) -> plan.Plans | None:
    """No plans yet for a kernel with these parameters; None where the C cannot be used."""
    library = loaded()
    return None if library is None else _none_yet(library, parameters)


def _none_yet(library: ctypes.PyDLL, parameters: CallSignature) -> plan.Plans:
    make = library.pycu2c_plans
    make.restype, make.argtypes = ctypes.py_object, (*[ctypes.py_object] * 3, _INT64)
    names, defaults = parameters.names, dict(parameters.defaults)
    return plan.Plans(plan.Table(*make(parameters.kernel, names, defaults, parameters.positional)))


_INT64 = ctypes.c_int64


def in_a_row(launches: Sequence[CapturedCpuLaunch]) -> Callable[[], None] | None:
    """What does launches on the CPU one after the other, in one call of C; None where the C cannot
    be used."""
    library = loaded()
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


_OPENED: list[ctypes.PyDLL | None] = []  # once it is known whether the C can be used


def load() -> bool:
    """Load the C, if that was not done before; whether it was not."""
    if _OPENED:
        return False
    _OPENED.append(_opened() if _is_known_python() else None)
    return True


def loaded() -> ctypes.PyDLL | None:
    """The C; None where it cannot be used."""
    load()
    return _OPENED[0]


def _opened() -> ctypes.PyDLL | None:
    try:
        binary = cc.compile(plans_text(), "pycu2c_plans")
        path = binary.path or artifact_store.write_private_file("pycu2c_plans.so", binary.data)
        library = ctypes.PyDLL(path)
    except (toolchain_errors.ToolchainError, OSError):  # no compiler, or a disk that runs no code
        return None
    if not _begins(library) or not _is_right(library, binary):
        return None
    recent_launches.add_source(lambda: _recent(library))
    library.pycu2c_capturing(ctypes.c_void_p(graph_capture.capture_count_address()))
    return library


def _begins(library: ctypes.PyDLL) -> bool:
    return bool(library.pycu2c_begin(_INT64(tuple.__basicsize__)))


_RIGHT = b"it agrees with Python"


def _is_right(library: ctypes.PyDLL, binary: Binary) -> bool:
    """Whether it does what Python does: tried once for a Python, a numpy and what is compared."""
    versions = sys.version, np.__version__, *map(_stamp, (np.__file__, *_COMPARED))
    key = artifact_store.key_of(
        binary.path or binary.text, *versions
    )  # a path has the key of the text
    if artifact_store.load(key, ".txt"):
        return True
    right = trial.agrees(lambda parameters: _none_yet(library, parameters), library)
    if right:
        artifact_store.store(key, ".txt", _RIGHT)
    return right


_HERE = os.path.dirname(__file__)
_COMPARED = [os.path.join(_HERE, name) for name in ("guards.py", "plan.py", "trial.py")]
_COMPARED += [
    os.path.join(os.path.dirname(_HERE), name) for name in ("arguments.py", "packed_numbers.py")
]


def _stamp(path: str) -> str:
    """Which file this is; it may be in an archive, which is not edited in place."""
    try:
        status = os.stat(path)
    except OSError:
        return path
    return f"{path} {status.st_mtime_ns} {status.st_size}"


def plans_text() -> str:
    return c_sources.c_text(*(f"plans/{name}" for name in _FILES))


def _is_known_python() -> bool:
    """Whether objects and arrays lie in memory as the C takes them to."""
    return (
        sys.implementation.name == "cpython"
        and "t" not in getattr(sys, "abiflags", "")
        and object.__basicsize__ == 16
        and struct.calcsize("P") == 8
        and np.__version__.startswith("2.")
    )
