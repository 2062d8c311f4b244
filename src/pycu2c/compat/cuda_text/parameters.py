"""Describe the parameters of a compiled kernel: size, alignment and kind.

PTX declares them for GPU code. On the CPU, C++ templates in ``headers/vectors.h`` compute them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from pycu2c.base.records import dataclass


class ParameterKind(Enum):
    """The kind of value that a parameter holds."""

    INTEGER = "an integer or a pointer"
    FLOAT = "a floating-point number"
    BYTES = "a structure"
    ANY = "a value"  # unknown


@dataclass(frozen=True, slots=True)
class KernelParameter:
    """One parameter.

    ``name`` is empty if the source is unavailable. ``is_read_only`` is true for a pointer to const.
    """

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


def from_layout(layout: Sequence[tuple[int, int]]) -> tuple[KernelParameter, ...]:
    """Return parameters of unknown kind from pairs (offset, size)."""
    found, end = [], 0
    for offset, size in layout:
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
    """Return the ``.entry`` declarations of a PTX text, which ``entry_parameters`` parses."""
    return "\n".join(found[0] for found in _ENTRY.finditer(ptx))


def entry_parameters(ptx: str) -> dict[str, tuple[KernelParameter, ...]]:
    """Return the parameters of each kernel of a PTX text, by kernel name."""
    return {
        name: tuple(_parameter(*found) for found in _PARAMETER.findall(declared or ""))
        for name, declared in _ENTRY.findall(ptx)
    }


def _parameter(align: str, letter: str, bits: str, count: str) -> KernelParameter:
    size = int(bits) // 8 * int(count or 1)
    kind = _KINDS[letter] if not (letter == "b" and not count) else ParameterKind.INTEGER
    return KernelParameter(kind, size, int(align or size))
