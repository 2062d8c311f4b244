"""What a ``print`` of a kernel writes: text, with slots for values that are known when it runs.

The device notes the values only; the host makes the text of them, as Python does
(``runtime/printing.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pycu2c.dtypes import DType
from pycu2c.records import dataclass
from pycu2c.types import WEAK_INT, ParameterType, Scalar, Type, leaf_types


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a value of type ``kind``. ``conversion`` is that of an f-string's ``{x!r}``;
    ``print(x)`` is as ``{x!s}``. ``spec`` is what stands after the colon."""

    kind: ParameterType
    conversion: str = ""
    spec: Text = ()


Piece: TypeAlias = str | Slot
Text: TypeAlias = tuple[Piece, ...]

LOG = "print_log"  # the log's name in the generated text


def slots(text: Text) -> Iterator[Slot]:
    """The slots in order of evaluation: a value before the values in its own format."""
    for piece in text:
        if isinstance(piece, Slot):
            yield piece
            yield from slots(piece.spec)


def numbers(text: Text) -> list[Scalar]:
    """The types of the numbers that the slots are filled with, in order."""
    leaves = [leaf for slot in slots(text) for leaf in leaf_types(slot.kind)]
    return [leaf for leaf in leaves if isinstance(leaf, Scalar)]


def words(dtype: DType) -> int:
    """How many words of 64 bits a value takes in the log."""
    return -(-dtype.size // 8)


def fills(wanted: Sequence[Scalar], given: Sequence[Type]) -> bool:
    """Whether values have the types of the slots; an int may be one of fewer bits."""
    return len(wanted) == len(given) and all(
        w == g or (w == WEAK_INT and isinstance(g, Scalar) and g.weak and g.dtype.is_integer)
        for w, g in zip(wanted, given)
    )


def shown(text: Text) -> str:
    """For a reader: ``i = {int}, x = {float32:.2f}`` and a line end as ``\\n``."""
    return "".join(_shown(piece) for piece in text)


def _shown(piece: Piece) -> str:
    if isinstance(piece, str):
        return ascii(piece)[1:-1]
    conversion = f"!{piece.conversion}" if piece.conversion not in ("", "s") else ""
    spec = f":{shown(piece.spec)}" if piece.spec else ""
    return f"{{{piece.kind}{conversion}{spec}}}"
