"""Texture sampling in Python, as ``codegen/helpers/texture_helpers.py`` implements it in C.

The elements are in host memory; numbers are computed in double precision. ``packed`` returns the
struct that the C code reads.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pycu2c.base.dtypes import FLOAT16, DType
from pycu2c.base.records import dataclass
from pycu2c.base.types import Scalar
from pycu2c.base.values import convert
from pycu2c.base.vectors import vector
from pycu2c.runtime.texture_modes import ADDRESS_MODES, NORMALIZED_MAXIMA, TextureModes

_WRAP, _CLAMP, _MIRROR, _BORDER = range(len(ADDRESS_MODES))
_STRUCT = struct.Struct("@P3q3i4iid4d")
_SURFACE = struct.Struct("@P3q")
_ONE = 1 << 21  # fixed-point coordinates have a unit of 2**-21 elements
_HALF = _ONE >> 1


def sampler(elements: NDArray[Any], number: DType, element: DType, modes: TextureModes) -> Sampler:
    """Return the sampler of a texture that returns ``element``."""
    most = NORMALIZED_MAXIMA[number] if modes.as_float and number in NORMALIZED_MAXIMA else 0
    border = modes.border
    if most:
        least = -1.0 if number.is_signed else 0.0
        border = tuple(float(np.rint(min(max(n, least), 1.0) * most)) for n in border)
    return Sampler(
        elements,
        number,
        element,
        tuple(map(ADDRESS_MODES.index, modes.address_modes)),
        modes.filter == "linear",
        modes.is_normalized,
        most,
        border,
    )


def packed_surface(elements: NDArray[Any]) -> NDArray[np.uint8]:
    """Return ``struct surface_data``; the array must outlive it."""
    extents = (*elements.shape[-2::-1], 1, 1)[:3]
    return np.frombuffer(_SURFACE.pack(elements.ctypes.data, *extents), np.uint8)


@dataclass(frozen=True, slots=True)
class Sampler:
    """The elements of a texture, with channels on the last axis, and the modes of reading.

    ``modes`` are the indices of the address modes along x, y, z. ``most`` is the integer that reads
    as 1.0; 0 if integers are not normalized. ``border`` has a number for each channel.
    """

    elements: NDArray[Any]
    number: DType
    element: DType
    modes: tuple[int, ...]
    is_linear: bool
    is_normalized: bool
    most: int
    border: tuple[float, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the extents along x, y, z."""
        return self.elements.shape[-2::-1]

    def packed(self) -> NDArray[np.uint8]:
        """Return ``struct texture_data``; the array must outlive it."""
        axes, channels = len(self.extents), self.elements.shape[-1]
        form = self.number.size + 16 * self.number.is_signed + 32 * self.number.is_float
        packed = _STRUCT.pack(
            self.elements.ctypes.data,
            *(*self.extents, 1, 1)[:3],
            *(*self.modes, _CLAMP, _CLAMP)[:3],
            *(axes, channels, self.is_linear, self.is_normalized),
            form,
            self.most,
            *(*self.border, 0, 0, 0)[:4],
        )
        return np.frombuffer(packed, np.uint8)

    def at(self, coordinates: Sequence[float]) -> Any:
        """Return the value at coordinates."""
        positions = [self._fixed_point(axis, float(x)) for axis, x in enumerate(coordinates)]
        numbers = self._blended(positions) if self.is_linear else self._nearest(positions)
        return _value(self.element, numbers)

    def _fixed_point(self, axis: int, x: float) -> int:
        """Return a coordinate along an axis as a fixed-point position."""
        mode, extent = self.modes[axis], self.extents[axis]
        repeats = mode in (_WRAP, _MIRROR)
        far = 1 << 30 if repeats else 2 if self.is_normalized else extent + 2
        if math.isnan(x) or (repeats and abs(x) > far):
            x = 0.0
        fixed = math.floor(min(max(x, -far), far) * _ONE)
        if repeats:
            fixed %= _ONE if mode == _WRAP else 2 * _ONE
        return fixed * extent if self.is_normalized else fixed

    def _numbers(self, indices: Sequence[int]) -> list[float]:
        """Return the numbers of an element, or of the border."""
        inside = []
        for axis, i in enumerate(indices):
            mode, extent = self.modes[axis], self.extents[axis]
            if mode == _BORDER and not 0 <= i < extent:
                return list(self.border)
            if mode == _WRAP:
                i %= extent
            elif mode == _MIRROR:
                i %= 2 * extent
                i = min(i, 2 * extent - 1 - i)
            inside.append(min(max(i, 0), extent - 1))
        found: list[float] = self.elements[tuple(inside[::-1])].tolist()
        return found

    def _nearest(self, coordinates: Sequence[int]) -> list[float]:
        numbers = self._numbers([coordinate // _ONE for coordinate in coordinates])
        return [max(n / self.most, -1.0) for n in numbers] if self.most else numbers

    def _blended(self, coordinates: Sequence[int]) -> list[float]:
        first, parts = [], []
        for axis, coordinate in enumerate(coordinates):
            if self.modes[axis] == _CLAMP:
                coordinate = min(max(coordinate, _HALF), self.extents[axis] * _ONE - _HALF)
            fixed = (coordinate - _HALF + (_ONE >> 9)) // (_ONE >> 8)
            first.append(fixed >> 8)
            parts.append(fixed & 255)
        sums = [0.0] * self.elements.shape[-1]
        for corner in itertools.product((0, 1), repeat=len(coordinates)):
            step = corner[::-1]  # x fastest
            numbers = self._numbers([i + k for i, k in zip(first, step)])
            weight = _weight(parts, step)
            sums = [total + weight * n for total, n in zip(sums, numbers)]
        return [self._rounded(total) for total in sums]

    def _rounded(self, total: float) -> float:
        """Return a weighted sum (in units of 1/256) as a value."""
        if self.most:
            full = 32767 if self.number.is_signed else 65535
            return _rounded_to(max(self._scaled(total) / full, -1.0), 24)
        return _half(total / 256) if self.number is FLOAT16 else _rounded_to(total / 256, 24)

    def _scaled(self, total: float) -> float:
        """Return a weighted sum of integers as a 16-bit integer.

        The correction of 8-bit integers ignores the last bits of the sum, as measured on GPUs.
        """
        if self.number.size == 2:
            return math.floor(total / 256 + 0.5)
        return total + math.floor(math.floor(total / 16) * 16 * 255 / (256 * self.most) + 0.5)


def _rounded_to(x: float, bits: int) -> float:
    """Round to a float with this number of significant bits, ties away from 0."""
    one = 1 << (53 - bits)
    (number,) = struct.unpack("=Q", struct.pack("=d", x))
    (rounded,) = struct.unpack("=d", struct.pack("=Q", (number + one // 2) & ~(one - 1)))
    return float(rounded)


def _half(x: float) -> float:
    """Round to float16, with its subnormal numbers."""
    least = 2.0**-24
    if abs(x) < 1024 * least:
        return math.copysign(math.floor(abs(x) / least + 0.5) * least, x)
    return _rounded_to(x, 11)


def _weight(parts: Sequence[int], step: Sequence[int]) -> int:
    """Return the weight of a corner in 1/256; with three axes, x and z are paired first.

    The rounding of halves follows measurements on GPUs.
    """
    if len(parts) == 1:
        return parts[0] if step[0] else 256 - parts[0]
    x, other = parts[0], parts[-1]
    both = (x * other + 128) >> 8
    before = (x * (256 - other) + 128) >> 8 if len(parts) == 3 else x - both
    pair = ((256 - other - before, other - both), (before, both))[step[0]][step[-1]]
    if len(parts) == 2:
        return pair
    following = (pair * parts[1] + 127 + step[0]) >> 8
    return following if step[1] else pair - following


def _value(element: DType, numbers: Sequence[float]) -> Any:
    if element.is_vector:
        parts = zip(numbers, element.fields)
        return vector(element, [convert(n, Scalar(f.dtype)) for n, f in parts])
    return convert(numbers[0], Scalar(element))
