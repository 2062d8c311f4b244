"""How a texture is read: modes of addressing, filtering and reading, and which of them CUDA has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from pycu2c.base.dtypes import FLOAT32, INT8, INT16, UINT8, UINT16, VECTOR_OF, DType
from pycu2c.base.records import dataclass
from pycu2c.runtime.cuda.texture_objects import Sampling

MODES = ("wrap", "clamp", "mirror", "border")
MOST = {UINT8: 255, INT8: 127, UINT16: 65535, INT16: 32767}


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes of a texture, x first."""

    addresses: tuple[str, ...]
    filter: Literal["point", "linear"]
    is_normalized: bool
    as_float: bool
    border: tuple[float, ...]

    def for_device(self, element: DType) -> Sampling:
        """As the driver takes them: it is given the border of integers bit by bit."""
        number = number_of(element)
        whole = number.is_integer and not self.as_float
        border = self.border
        if whole:
            bits = np.array([int(n) for n in border], np.int64).astype(np.uint32)
            border = tuple(bits.view(np.float32).tolist())
        return Sampling(self.addresses, self.filter, self.is_normalized, whole, border)


def number_of(element: DType) -> DType:
    """The type of an element's numbers."""
    return element.fields[0].dtype if element.is_vector else element


def each_axis(given: str | Sequence[str], axes: int) -> tuple[str, ...]:
    """Modes of addressing, for all axes or for each of them. Raises ValueError."""
    modes = (given,) * axes if isinstance(given, str) else tuple(given)
    if len(modes) != axes:
        raise ValueError(f"{len(modes)} address modes are given for {axes} axes: {modes}")
    for mode in modes:
        _one_of("address_mode", mode, MODES)
    return modes


def each_channel(given: float | Sequence[float], channels: int) -> tuple[float, ...]:
    """Numbers of the border. Raises ValueError."""
    border = tuple(np.ravel(np.asarray(given)).tolist())
    if len(border) == 1:
        border *= channels
    if len(border) != channels:
        raise ValueError(f"the border has {len(border)} numbers, and an element has {channels}")
    return border


def _one_of(what: str, given: object, known: Sequence[str]) -> None:
    if given not in known:
        raise ValueError(f"{what} is one of {', '.join(map(repr, known))}, not {given!r}")


def modes(
    addresses: tuple[str, ...],
    filter_mode: Literal["point", "linear"],
    normalized: bool,
    read_mode: str,
    border: tuple[float, ...],
) -> Modes:
    """Modes that CUDA has. Raises ValueError."""
    _one_of("filter_mode", filter_mode, ("point", "linear"))
    _one_of("read_mode", read_mode, ("element", "normalized_float"))
    for mode in addresses:
        if mode in ("wrap", "mirror") and not normalized:
            raise ValueError(
                f"address_mode={mode!r} needs normalized=True: coordinates from 0 to 1 on each axis"
            )
    return Modes(addresses, filter_mode, normalized, read_mode == "normalized_float", border)


def read_as(element: DType, modes: Modes) -> DType:
    """What kernels read. Raises ValueError."""
    number = number_of(element)
    if number.is_float:
        wide = FLOAT32
    elif not modes.as_float:
        if modes.filter == "linear":
            raise ValueError(
                f"filter_mode='linear' gives floats, and the elements are {element}: add "
                "read_mode='normalized_float', or pass an array of float32"
            )
        return element
    elif number not in MOST:
        raise ValueError(
            f"read_mode='normalized_float' is for integers of 8 and 16 bits, and the elements are "
            f"{element}: pass an array of float32"
        )
    else:
        wide = FLOAT32
    return VECTOR_OF[wide, len(element.fields)] if element.is_vector else wide
