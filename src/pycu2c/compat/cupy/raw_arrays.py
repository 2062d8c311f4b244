"""Pass ``raw`` arrays to a kernel: the user's text indexes them itself, as a ``CArray``.

The kernel receives a pointer, then the lengths and strides of all axes.
"""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.base import dtypes
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.types import Scalar


def shape_parameters(name: str, axes: int, position: int) -> Iterator[Parameter]:
    """Yield the parameters for the lengths and strides of a raw array."""
    extent_type = Scalar(dtypes.INT64)
    for part, letter in ((ArgumentPart.SHAPE, "n"), (ArgumentPart.STRIDE, "s")):
        for axis in range(axes):
            yield Parameter(f"_{name}_{letter}{axis}", extent_type, position, part, axis)


def array_view(name: str, element: str, pointer: str, axes: int, is_contiguous: bool) -> str:
    """Return the declaration of a raw array under the name that the user's text uses."""
    ctype = f"CArray<{element}, {axes}{', true' if is_contiguous else ''}>"
    shape, strides = (
        ", ".join(f"_{name}_{letter}{axis}" for axis in range(axes)) for letter in "ns"
    )
    return f"const {ctype} {name} = {{{pointer}, {{{shape}}}, {{{strides}}}}};"
