"""Describe the parameters of the kernels of a compiled CUDA C text, and the packing of arguments.

PTX declares the parameters of kernels of GPU code. On the CPU, C++ templates in
``headers/vectors.h`` compute them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from pycu2c.base.records import dataclass
from pycu2c.runtime.arguments.arguments import Layout


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
        declaration = f"`{self.text}`, " if self.text else ""
        is_small_integer = self.kind is ParameterKind.INTEGER and self.size != 8
        kind = "an integer" if is_small_integer else self.kind.value
        return f"{declaration}{kind} of {self.size} bytes"


@dataclass(frozen=True, slots=True)
class ArgumentPacking:
    """How a launch packs its arguments.

    ``writable`` contains the positions of arrays that the kernel may write; ``names`` are the
    argument names in error messages.
    """

    layout: Layout
    writable: frozenset[int]
    names: tuple[str, ...]
    cooperative: bool = False  # all blocks are resident at the same time


def parameters_of_layout(layout: Sequence[tuple[int, int]]) -> tuple[KernelParameter, ...]:
    """Return parameters of unknown kind from pairs (offset, size)."""
    parameters, end = [], 0
    for offset, size in layout:
        alignment = next(a for a in (1, 2, 4, 8, 16, 32, 64, 128) if -(-end // a) * a == offset)
        parameters.append(KernelParameter(ParameterKind.ANY, size, alignment))
        end = offset + size
    return tuple(parameters)


_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*(?:\(([^)]*)\))?")
_PARAMETER = re.compile(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([a-z]+)(\d+)\s[^,\[]*(?:\[(\d+)\])?")
_KINDS = {  # by the first letter of the PTX type
    "u": ParameterKind.INTEGER,
    "s": ParameterKind.INTEGER,
    "f": ParameterKind.FLOAT,
    "b": ParameterKind.BYTES,
}


def entry_declarations(ptx: str) -> str:
    """Return the ``.entry`` declarations of a PTX text, which ``entry_parameters`` parses."""
    return "\n".join(match[0] for match in _ENTRY.finditer(ptx))


def entry_parameters(ptx: str) -> dict[str, tuple[KernelParameter, ...]]:
    """Return the parameters of each kernel of a PTX text, by kernel name."""
    return {
        name: tuple(_parameter(*groups) for groups in _PARAMETER.findall(declared or ""))
        for name, declared in _ENTRY.findall(ptx)
    }


def _parameter(align: str, letter: str, bits: str, count: str) -> KernelParameter:
    size = int(bits) // 8 * int(count or 1)
    is_scalar = letter == "b" and not count  # structures are arrays of .b8
    kind = ParameterKind.INTEGER if is_scalar else _KINDS[letter]
    return KernelParameter(kind, size, int(align or size))
