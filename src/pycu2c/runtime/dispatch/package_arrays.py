"""Attributes of other packages' arrays that say what ``__cuda_array_interface__`` does, faster."""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any, TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver

_Path: TypeAlias = tuple[str | None, ...]  # from attribute to attribute; None: a call


@dataclass(frozen=True, slots=True)
class AttributePaths:
    """How the dispatch table reads an array: ``paths`` as ``attributes_match`` in array_guards.c
    takes them, and what gives the package's current stream, or None."""

    paths: tuple[object, ...]
    stream_source: object


@dataclass(frozen=True, slots=True)
class Package:
    """The attributes of the arrays of a package. ``same``: paths to objects that must be those of
    the array that was seen. ``device``: such a path, where there are several devices. ``stream``:
    the module and function that give the current stream, and the path from it to a handle."""

    address: _Path
    shape: _Path
    contiguous: _Path
    same: tuple[_Path, ...]
    device: _Path = ()
    stream: tuple[str, str, _Path] | None = None

    def read(self, value: object, address: int) -> AttributePaths | None:
        """Return how to read arrays like this one; None if it lacks these attributes."""
        try:
            if followed(value, self.contiguous) is not True:
                return None
            paths = (
                self.contiguous,
                *self.same,
                *([self.device] if driver.has_multiple_devices() else ()),
            )
            same = [(path, followed(value, path)) for path in paths]
            module, function, path = self.stream or ("", "", ())
            source = getattr(sys.modules[module], function) if module else None
            numbers = [followed(value, self.address), followed(source, path) if module else 0]
        except (AttributeError, KeyError, TypeError):  # another version of the package
            return None
        if numbers[0] != address or any(type(number) is not int for number in numbers):
            return None
        return AttributePaths((self.address, self.shape, path, *chain.from_iterable(same)), source)


def followed(value: Any, path: _Path) -> Any:
    """Return what a path leads to."""
    for step in path:
        value = value() if step is None else getattr(value, step)
    return value


PACKAGES = {
    "cupy.ndarray": Package(
        ("data", "ptr"),
        ("shape",),
        ("_c_contiguous",),
        (("dtype",),),
        ("device", "id"),
        ("cupy.cuda", "get_current_stream", (None, "ptr")),
    ),
    "torch.Tensor": Package(
        ("data_ptr", None),
        ("shape",),
        ("is_contiguous", None),
        (("dtype",), ("requires_grad",), ("get_device", None)),
        ("get_device", None),
    ),
}
