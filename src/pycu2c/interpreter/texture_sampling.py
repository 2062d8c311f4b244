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
_TEXTURE_STRUCT = struct.Struct("@P3q3i4iid4d")
_SURFACE_STRUCT = struct.Struct("@P3q")
_UNIT = 1 << 21  # fixed-point coordinates have a unit of 2**-21 elements
_HALF_UNIT = _UNIT >> 1


def sampler(
    elements: NDArray[Any], number_type: DType, element: DType, modes: TextureModes
) -> Sampler:
    """Return the sampler of a texture that returns ``element``."""
    normalized_max = (
        NORMALIZED_MAXIMA[number_type] if modes.as_float and number_type in NORMALIZED_MAXIMA else 0
    )
    border = modes.border
    if normalized_max:
        minimum = -1.0 if number_type.is_signed else 0.0
        border = tuple(float(np.rint(min(max(n, minimum), 1.0) * normalized_max)) for n in border)
    return Sampler(
        elements,
        number_type,
        element,
        tuple(map(ADDRESS_MODES.index, modes.address_modes)),
        modes.filter == "linear",
        modes.is_normalized,
        normalized_max,
        border,
    )


def packed_surface(elements: NDArray[Any]) -> NDArray[np.uint8]:
    """Return ``struct surface_data``; the array must outlive it."""
    extents = (*elements.shape[-2::-1], 1, 1)[:3]
    return np.frombuffer(_SURFACE_STRUCT.pack(elements.ctypes.data, *extents), np.uint8)


@dataclass(frozen=True, slots=True)
class Sampler:
    """The elements of a texture, with channels on the last axis, and the modes of reading.

    ``address_modes`` are their indices in ADDRESS_MODES along x, y, z. ``normalized_max`` is the
    integer that reads as 1.0; 0 if integers are not normalized. ``border`` has a number for each
    channel.
    """

    elements: NDArray[Any]
    number_type: DType
    element: DType
    address_modes: tuple[int, ...]
    is_linear: bool
    is_normalized: bool
    normalized_max: int
    border: tuple[float, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        """Return the extents along x, y, z."""
        return self.elements.shape[-2::-1]

    def packed(self) -> NDArray[np.uint8]:
        """Return ``struct texture_data``; the array must outlive it."""
        axes, channels = len(self.extents), self.elements.shape[-1]
        format_code = (
            self.number_type.size + 16 * self.number_type.is_signed + 32 * self.number_type.is_float
        )
        packed = _TEXTURE_STRUCT.pack(
            self.elements.ctypes.data,
            *(*self.extents, 1, 1)[:3],
            *(*self.address_modes, _CLAMP, _CLAMP)[:3],
            *(axes, channels, self.is_linear, self.is_normalized),
            format_code,
            self.normalized_max,
            *(*self.border, 0, 0, 0)[:4],
        )
        return np.frombuffer(packed, np.uint8)

    def at(self, coordinates: Sequence[float]) -> Any:
        """Return the value at coordinates."""
        positions = [self._fixed_point(axis, float(x)) for axis, x in enumerate(coordinates)]
        numbers = self._interpolate(positions) if self.is_linear else self._read_nearest(positions)
        return _element_value(self.element, numbers)

    def _fixed_point(self, axis: int, x: float) -> int:
        """Return a coordinate along an axis as a fixed-point position."""
        mode, extent = self.address_modes[axis], self.extents[axis]
        repeats = mode in (_WRAP, _MIRROR)
        limit = 1 << 30 if repeats else 2 if self.is_normalized else extent + 2
        if math.isnan(x) or (repeats and abs(x) > limit):
            x = 0.0
        fixed = math.floor(min(max(x, -limit), limit) * _UNIT)
        if repeats:
            fixed %= _UNIT if mode == _WRAP else 2 * _UNIT
        return fixed * extent if self.is_normalized else fixed

    def _read_element(self, indices: Sequence[int]) -> list[float]:
        """Return the numbers of an element, or of the border."""
        clamped = []
        for axis, i in enumerate(indices):
            mode, extent = self.address_modes[axis], self.extents[axis]
            if mode == _BORDER and not 0 <= i < extent:
                return list(self.border)
            if mode == _WRAP:
                i %= extent
            elif mode == _MIRROR:
                i %= 2 * extent
                i = min(i, 2 * extent - 1 - i)
            clamped.append(min(max(i, 0), extent - 1))
        numbers: list[float] = self.elements[tuple(clamped[::-1])].tolist()
        return numbers

    def _read_nearest(self, coordinates: Sequence[int]) -> list[float]:
        numbers = self._read_element([coordinate // _UNIT for coordinate in coordinates])
        if self.normalized_max:
            return [max(n / self.normalized_max, -1.0) for n in numbers]
        return numbers

    def _interpolate(self, coordinates: Sequence[int]) -> list[float]:
        indices, fractions = [], []
        for axis, coordinate in enumerate(coordinates):
            if self.address_modes[axis] == _CLAMP:
                coordinate = min(
                    max(coordinate, _HALF_UNIT), self.extents[axis] * _UNIT - _HALF_UNIT
                )
            fixed = (coordinate - _HALF_UNIT + (_UNIT >> 9)) // (_UNIT >> 8)
            indices.append(fixed >> 8)
            fractions.append(fixed & 255)
        sums = [0.0] * self.elements.shape[-1]
        for corner in itertools.product((0, 1), repeat=len(coordinates)):
            offsets = corner[::-1]  # x fastest
            numbers = self._read_element([i + k for i, k in zip(indices, offsets)])
            weight = _weight(fractions, offsets)
            sums = [total + weight * n for total, n in zip(sums, numbers)]
        return [self._round_sum(total) for total in sums]

    def _round_sum(self, total: float) -> float:
        """Return a weighted sum (in units of 1/256) as a value."""
        if self.normalized_max:
            max_16_bits = 32767 if self.number_type.is_signed else 65535
            return _round_to_bits(max(self._to_16_bits(total) / max_16_bits, -1.0), 24)
        if self.number_type is FLOAT16:
            return _to_float16(total / 256)
        return _round_to_bits(total / 256, 24)

    def _to_16_bits(self, total: float) -> float:
        """Return a weighted sum of integers as a 16-bit integer.

        The correction of 8-bit integers ignores the last bits of the sum, as measured on GPUs.
        """
        if self.number_type.size == 2:
            return math.floor(total / 256 + 0.5)
        return total + math.floor(
            math.floor(total / 16) * 16 * 255 / (256 * self.normalized_max) + 0.5
        )


def _round_to_bits(x: float, bits: int) -> float:
    """Round to a float with this number of significant bits, ties away from 0."""
    unit = 1 << (53 - bits)
    (bits_of_x,) = struct.unpack("=Q", struct.pack("=d", x))
    (result,) = struct.unpack("=d", struct.pack("=Q", (bits_of_x + unit // 2) & ~(unit - 1)))
    return float(result)


def _to_float16(x: float) -> float:
    """Round to float16, with its subnormal numbers."""
    min_subnormal = 2.0**-24
    if abs(x) < 1024 * min_subnormal:
        return math.copysign(math.floor(abs(x) / min_subnormal + 0.5) * min_subnormal, x)
    return _round_to_bits(x, 11)


def _weight(fractions: Sequence[int], offsets: Sequence[int]) -> int:
    """Return the weight of a corner in 1/256; with three axes, x and z are paired first.

    The rounding of halves follows measurements on GPUs.
    """
    if len(fractions) == 1:
        return fractions[0] if offsets[0] else 256 - fractions[0]
    x, last = fractions[0], fractions[-1]
    product = (x * last + 128) >> 8
    x_only = (x * (256 - last) + 128) >> 8 if len(fractions) == 3 else x - product
    pair = ((256 - last - x_only, last - product), (x_only, product))[offsets[0]][offsets[-1]]
    if len(fractions) == 2:
        return pair
    upper = (pair * fractions[1] + 127 + offsets[0]) >> 8
    return upper if offsets[1] else pair - upper


def _element_value(element: DType, numbers: Sequence[float]) -> Any:
    if element.is_vector:
        pairs = zip(numbers, element.fields)
        return vector(element, [convert(n, Scalar(f.dtype)) for n, f in pairs])
    return convert(numbers[0], Scalar(element))
