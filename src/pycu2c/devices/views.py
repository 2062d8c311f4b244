"""Views of memory by numpy's own rules, for memory that numpy must not touch.

A shadow is a numpy array that lies where a device array does. It is cut, turned and reshaped as
any numpy array is, which reads nothing, and is never read. Of memory of the host it is the real
thing.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pycu2c.runtime.strides import Shape, array_over

Shadow: TypeAlias = NDArray[Any]


def address_of(seen: Shadow) -> int:
    """Where the first element lies; 0 of an array that has none."""
    return int(seen.__array_interface__["data"][0]) if seen.size else 0


def part(seen: Shadow, key: object) -> Shadow:
    """``seen[key]`` as a view, for ints, slices, an ellipsis and None."""
    keys = key if isinstance(key, tuple) else (key,)
    for each in keys:
        if isinstance(each, bool) or not (
            each is None
            or each is Ellipsis
            or isinstance(each, slice)
            or hasattr(each, "__index__")
        ):
            raise IndexError(
                "a device array is indexed by whole numbers, slices, ... and None, not by "
                f"{type(each).__name__}: copy_to_host() gives an array that numpy indexes"
            )
    found: Shadow = seen[keys if any(each is Ellipsis for each in keys) else (*keys, Ellipsis)]
    return found


def reshaped(seen: Shadow, shape: Shape, order: str) -> Shadow | None:
    """A view with another shape; None if there is none. Raises ValueError for another size."""
    counted = _filled_in(seen.size, shape)
    if not seen.size:
        return array_over(0, (counted, (0,) * len(counted), seen.dtype))
    turned = seen.T if order == "F" else seen  # a view in Fortran's order is one of the transpose
    wanted = counted[::-1] if order == "F" else counted
    steps = _steps_of(turned.shape, turned.strides, wanted)
    if steps is None:
        return None
    view = np.lib.stride_tricks.as_strided(
        turned, wanted, steps, writeable=seen.flags.writeable, subok=False
    )
    return view.T if order == "F" else view


def _filled_in(size: int, shape: Shape) -> Shape:
    """A shape whose -1 is what remains."""
    known = 1
    for extent in shape:
        known *= extent if extent >= 0 else 1
    unknown = sum(extent < 0 for extent in shape)
    if unknown > 1 or (unknown and (not known or size % known)) or (not unknown and known != size):
        raise ValueError(f"{size} elements have no shape {shape}")
    return tuple(extent if extent >= 0 else size // known for extent in shape)


def _steps_of(shape: Shape, strides: Shape, wanted: Shape) -> Shape | None:
    """The strides that show the elements in the same order with another shape, if any do."""
    groups = joined(shape, (strides,))
    steps: list[int] = []
    rest = [(extent, group[0]) for extent, group in groups][::-1]
    left, step = rest.pop(0) if rest else (1, 0)
    for extent in reversed(wanted):
        if extent == 1:
            steps.append(step)
            continue
        if left == 1 and rest:
            left, step = rest.pop(0)
        if left % extent:
            return None
        steps.append(step)
        left, step = left // extent, step * extent
    return tuple(reversed(steps))


def joined(shape: Shape, strides: tuple[Shape, ...]) -> list[tuple[int, Shape]]:
    """Axes as few as they can be: neighbours that are one axis for each of some strides are
    joined, and those of length 1 dropped. Gives for each its length and its strides."""
    out: list[tuple[int, Shape]] = []
    for axis, extent in enumerate(shape):
        steps = tuple(s[axis] for s in strides)
        if extent == 1:
            continue
        if out and all(outer == extent * inner for outer, inner in zip(out[-1][1], steps)):
            out[-1] = out[-1][0] * extent, steps
        else:
            out.append((extent, steps))
    return out
