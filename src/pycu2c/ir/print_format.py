"""What a ``print`` of a kernel writes: text, with slots for values that are known when it runs; and
what a ``raise`` tells, which is an exception and its arguments.

The device notes the values only; the host makes the text of them, as Python does
(``runtime/print_log.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.base.types import WEAK_INT, ParameterType, Scalar, Type, leaf_types


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a value of type ``kind``. ``conversion`` is that of an f-string's ``{x!r}``;
    ``print(x)`` is as ``{x!s}``. ``spec`` is what stands after the colon."""

    kind: ParameterType
    conversion: str = ""
    spec: Text = ()


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: its class, or one that there is already; ``where`` it is raised, as file and
    line; and its arguments. Before their values the thread tells who it is: the block's index and
    its own."""

    kind: type[BaseException] | BaseException
    where: str
    arguments: tuple[Text, ...]

    def __str__(self) -> str:
        if isinstance(self.kind, BaseException):
            return f"raise {self.kind!r}"
        told = ", ".join(map(shown, self.arguments))
        return f"raise {self.kind.__name__}({told})"


Piece: TypeAlias = str | Slot | Raised
Text: TypeAlias = tuple[Piece, ...]

WHO = (Slot(WEAK_INT),) * 6  # blockIdx and threadIdx, along x, y and z
LOG = "print_log"  # the log's name in the generated text


def slots(text: Text) -> Iterator[Slot]:
    """The slots in order of evaluation: a value before the values in its own format."""
    for piece in text:
        if isinstance(piece, Slot):
            yield piece
            yield from slots(piece.spec)
        elif isinstance(piece, Raised):
            yield from WHO
            for argument in piece.arguments:
                yield from slots(argument)


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
    if isinstance(piece, Raised):
        return str(piece)
    conversion = f"!{piece.conversion}" if piece.conversion not in ("", "s") else ""
    spec = f":{shown(piece.spec)}" if piece.spec else ""
    return f"{{{piece.kind}{conversion}{spec}}}"
