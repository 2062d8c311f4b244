"""What the parameters of a compiled kernel take: how many bytes, and of which kind. Knows no
values.

PTX tells it of what was compiled for a GPU, C++ itself of what was compiled for the CPU.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from pycu2c.base.records import dataclass


class ParameterKind(Enum):
    """What a parameter's bytes are."""

    INTEGER = "an integer or a pointer"
    FLOAT = "a floating-point number"
    BYTES = "a structure"
    ANY = "a value"  # not known


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """One parameter. ``name`` is empty where the text was not seen; ``is_read_only``: it is a pointer to
    what the kernel does not write."""

    kind: ParameterKind
    size: int
    alignment: int
    name: str = ""
    text: str = ""
    is_read_only: bool = False

    def __str__(self) -> str:
        shown = f"`{self.text}`, " if self.text else ""
        kind = (
            "an integer"
            if self.kind is ParameterKind.INTEGER and self.size < 8
            else self.kind.value
        )
        return f"{shown}{kind} of {self.size} bytes"


def from_layout(places: Sequence[tuple[int, int]]) -> tuple[KernelParameter, ...]:
    """Parameters of which no more is known than where they begin and how many bytes they take."""
    found, end = [], 0
    for offset, size in places:
        aligned = next(a for a in (1, 2, 4, 8, 16, 32, 64, 128) if -(-end // a) * a == offset)
        found.append(KernelParameter(ParameterKind.ANY, size, aligned))
        end = offset + size
    return tuple(found)


_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z]+)(\d+)\s[^,\[]*(?:\[(\d+)\])?")
_KINDS = {
    "u": ParameterKind.INTEGER,
    "s": ParameterKind.INTEGER,
    "f": ParameterKind.FLOAT,
    "b": ParameterKind.BYTES,
}


def entry_declarations(ptx: str) -> str:
    """The lines of PTX that ``entry_parameters`` reads."""
    return "\n".join(found[0] for found in _ENTRY.finditer(ptx))


def entry_parameters(ptx: str) -> dict[str, tuple[KernelParameter, ...]]:
    """The kernels of a PTX text, by their names, and what they take."""
    return {
        name: tuple(_parameter(*found) for found in _PARAMETER.findall(taken or ""))
        for name, taken in _ENTRY.findall(ptx)
    }


def _parameter(align: str, letter: str, bits: str, count: str) -> KernelParameter:
    size = int(bits) // 8 * int(count or 1)
    kind = _KINDS[letter] if not (letter == "b" and not count) else ParameterKind.INTEGER
    return KernelParameter(kind, size, int(align or size))
