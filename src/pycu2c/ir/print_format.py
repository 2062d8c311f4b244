"""The formats of ``print`` and ``raise`` in kernels: text with fields for values.

The device writes only the values to a log. The host formats them with Python
(``runtime/print_log.py``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pycu2c.base.dtypes import DType
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, ParameterType, Scalar, Type, leaf_types


@dataclass(frozen=True, slots=True)
class FormatField:
    """A replacement field for a value of type ``type``.

    ``conversion`` is that of an f-string, ``r`` in ``{x!r}``; ``print(x)`` has ``s``. ``spec`` is
    the format specification after the colon.
    """

    type: ParameterType
    conversion: str = ""
    spec: PrintFormat = ()


@dataclass(frozen=True, slots=True)
class RaisedException:
    """An exception that a kernel raises: its class or instance, source span and arguments.

    In the log, the indices of the block and of the thread precede the values of the arguments.
    """

    exception: type[BaseException] | BaseException
    span: Span
    arguments: tuple[PrintFormat, ...]

    def __str__(self) -> str:
        if isinstance(self.exception, BaseException):
            return f"raise {self.exception!r}"
        arguments = ", ".join(map(format_text, self.arguments))
        return f"raise {self.exception.__name__}({arguments})"


Piece: TypeAlias = str | FormatField | RaisedException
PrintFormat: TypeAlias = tuple[Piece, ...]

THREAD_COORDINATES = (FormatField(WEAK_INT),) * 6  # blockIdx and threadIdx, along x, y and z
LOG_NAME = "print_log"  # of the log in the generated C


def format_fields(text: PrintFormat) -> Iterator[FormatField]:
    """Yield the fields in order of evaluation: a value before the values of its own format."""
    for piece in text:
        if isinstance(piece, FormatField):
            yield piece
            yield from format_fields(piece.spec)
        elif isinstance(piece, RaisedException):
            yield from THREAD_COORDINATES
            for argument in piece.arguments:
                yield from format_fields(argument)


def scalar_types(text: PrintFormat) -> list[Scalar]:
    """Return the types of the scalars that the fields take, in order."""
    leaves = [
        leaf
        for replacement_field in format_fields(text)
        for leaf in leaf_types(replacement_field.type)
    ]
    return [leaf for leaf in leaves if isinstance(leaf, Scalar)]


def word_count(dtype: DType) -> int:
    """Return the size of a value in the log, in words of 64 bits."""
    return -(-dtype.size // 8)


def matches_format(expected: Sequence[Scalar], actual: Sequence[Type]) -> bool:
    """Return whether values have the types of the fields; an int may have fewer bits."""
    return len(expected) == len(actual) and all(
        e == a or (e == WEAK_INT and isinstance(a, Scalar) and a.weak and a.dtype.is_integer)
        for e, a in zip(expected, actual)
    )


def format_text(text: PrintFormat) -> str:
    """Return a format as text for readers: ``i = {int}, x = {float32:.2f}``."""
    return "".join(_piece_text(piece) for piece in text)


def _piece_text(piece: Piece) -> str:
    if isinstance(piece, str):
        return ascii(piece)[1:-1]
    if isinstance(piece, RaisedException):
        return str(piece)
    conversion = f"!{piece.conversion}" if piece.conversion not in ("", "s") else ""
    spec = f":{format_text(piece.spec)}" if piece.spec else ""
    return f"{{{piece.type}{conversion}{spec}}}"
