"""Check the modes of a texture: addressing, filtering, read mode and border."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pycu2c.base.dtypes import FLOAT32, INT8, INT16, UINT8, UINT16, VECTOR_OF, DType
from pycu2c.base.records import dataclass

ADDRESS_MODES = ("wrap", "clamp", "mirror", "border")
# the integers that read_mode="normalized_float" maps to 1.0
NORMALIZED_MAXIMA = {UINT8: 255, INT8: 127, UINT16: 65535, INT16: 32767}


@dataclass(frozen=True, slots=True)
class TextureModes:
    """The modes of a texture; tuples start with the x axis."""

    address_modes: tuple[str, ...]
    filter: Literal["point", "linear"]
    is_normalized: bool
    as_float: bool
    border: tuple[float, ...]

    def reads_integers(self, element: DType) -> bool:
        """Return whether kernels read integers from a texture of these elements."""
        return component_type(element).is_integer and not self.as_float

    def device_border(self, element: DType) -> tuple[float, ...]:
        """Return the border for the driver, which takes integers as the bits of floats."""
        if not self.reads_integers(element):
            return self.border
        bits = np.array([int(n) for n in self.border], np.int64).astype(np.uint32)
        return tuple(bits.view(np.float32).tolist())


def component_type(element: DType) -> DType:
    """Return the dtype of the components of an element."""
    return element.fields[0].dtype if element.is_vector else element


def modes_per_axis(mode_or_modes: str | Sequence[str], axes: int) -> tuple[str, ...]:
    """Return one address mode per axis. Raises ValueError."""
    modes = (mode_or_modes,) * axes if isinstance(mode_or_modes, str) else tuple(mode_or_modes)
    if len(modes) != axes:
        raise ValueError(f"{len(modes)} address modes are given for {axes} axes: {modes}")
    for mode in modes:
        _check_choice("address_mode", mode, ADDRESS_MODES)
    return modes


def border_values(value: float | Sequence[float], channels: int) -> tuple[float, ...]:
    """Return one border value per channel. Raises ValueError."""
    border = tuple(np.ravel(np.asarray(value)).tolist())
    if len(border) == 1:
        border *= channels
    if len(border) != channels:
        raise ValueError(f"the border has {len(border)} numbers, and an element has {channels}")
    return border


def _check_choice(parameter: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{parameter} is one of {', '.join(map(repr, choices))}, not {value!r}")


def checked_modes(
    address_modes: tuple[str, ...],
    filter_mode: Literal["point", "linear"],
    normalized: bool,
    read_mode: str,
    border: tuple[float, ...],
) -> TextureModes:
    """Return modes that CUDA supports. Raises ValueError."""
    _check_choice("filter_mode", filter_mode, ("point", "linear"))
    _check_choice("read_mode", read_mode, ("element", "normalized_float"))
    for mode in address_modes:
        if mode in ("wrap", "mirror") and not normalized:
            raise ValueError(
                f"address_mode={mode!r} needs normalized=True: coordinates from 0 to 1 on each axis"
            )
    return TextureModes(
        address_modes, filter_mode, normalized, read_mode == "normalized_float", border
    )


def sampled_type(element: DType, modes: TextureModes) -> DType:
    """Return the dtype that kernels read from the texture. Raises ValueError."""
    component = component_type(element)
    if component.is_float:
        sampled = FLOAT32
    elif not modes.as_float:
        if modes.filter == "linear":
            raise ValueError(
                f"filter_mode='linear' returns floats, but the elements are {element}: add "
                "read_mode='normalized_float', or pass an array of float32"
            )
        return element
    elif component not in NORMALIZED_MAXIMA:
        raise ValueError(
            f"read_mode='normalized_float' requires integers of 8 or 16 bits, but the elements "
            f"are {element}: pass an array of float32"
        )
    else:
        sampled = FLOAT32
    return VECTOR_OF[sampled, len(element.fields)] if element.is_vector else sampled
