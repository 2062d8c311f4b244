"""Read arrays of other packages by attributes, faster than ``__cuda_array_interface__``."""

from __future__ import annotations

import sys
from itertools import chain
from typing import Any, TypeAlias

from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver

_Path: TypeAlias = tuple[str | None, ...]  # from attribute to attribute; None: a call


@dataclass(frozen=True, slots=True)
class AttributePaths:
    """How the dispatch table reads an array.

    paths: the argument of ``attributes_match`` in array_guards.c.
    stream_source: the function that returns the current stream of the package, or None.
    """

    paths: tuple[object, ...]
    stream_source: object


@dataclass(frozen=True, slots=True)
class Package:
    """The attribute paths of the arrays of a package.

    invariant: paths to objects that all arrays of an entry have in common.
    device: another such path, for machines with several devices.
    stream: the module and the function that returns the current stream, and the path from this
        function to the handle.
    """

    address: _Path
    shape: _Path
    contiguous: _Path
    invariant: tuple[_Path, ...]
    device: _Path = ()
    stream: tuple[str, str, _Path] | None = None

    def attribute_paths(self, value: object, address: int) -> AttributePaths | None:
        """Return the paths for arrays like ``value``; None if it lacks one of these attributes."""
        try:
            if follow_path(value, self.contiguous) is not True:
                return None
            paths = (
                self.contiguous,
                *self.invariant,
                *([self.device] if driver.has_multiple_devices() else ()),
            )
            objects = [(path, follow_path(value, path)) for path in paths]
            module, function, path = self.stream or ("", "", ())
            source = getattr(sys.modules[module], function) if module else None
            integers = [
                follow_path(value, self.address),
                follow_path(source, path) if module else 0,
            ]
        except (AttributeError, KeyError, TypeError):  # another version of the package
            return None
        if integers[0] != address or any(type(number) is not int for number in integers):
            return None
        return AttributePaths(
            (self.address, self.shape, path, *chain.from_iterable(objects)), source
        )


def follow_path(value: Any, path: _Path) -> Any:
    """Return the object at the end of a path."""
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
}
