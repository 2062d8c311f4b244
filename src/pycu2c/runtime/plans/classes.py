"""Classes of kernels and configurations that C is called by, where there are plans."""

from __future__ import annotations

import ctypes
import functools

from pycu2c.runtime.plans import guards
from pycu2c.runtime.plans.library import loaded

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
    return _over(called[above], above, own)


@functools.cache
def _called_by_c(configured: type, kernel: type, launches: type) -> tuple[type, type]:
    """The classes that C has the calls of, for a configuration and for a kernel."""
    library = loaded()
    assert library is not None, "there are plans"
    owners = {"configured": configured, "kernel": kernel, "launches": launches}
    places = [guards.place_of(owners[owner], slot) for owner, slot in _PLACES]
    assert all(places), "they are slots"
    make = library.pycu2c_classes
    make.restype = ctypes.py_object
    made: tuple[type, type] = make((ctypes.c_int64 * len(places))(*places))
    return made


def _over(called: type, above: type, own: type) -> type:
    """A class with the calls of one, unless its own are others than those of the class above, and
    all else of its own; objects may change into it."""
    names = {"__slots__": (), "__module__": own.__module__, "__qualname__": own.__qualname__}
    call = next(vars(c)["__call__"] for c in own.__mro__ if "__call__" in vars(c))
    if call is not vars(above)["__call__"]:
        names["__call__"] = call
    return type(own.__name__, (called, own), {**names, "__doc__": own.__doc__})
