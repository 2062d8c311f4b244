"""Read the sizes of exported variables from the dynamic symbol table of a shared object."""

from __future__ import annotations

import struct

_OBJECT, _DYNSYM = 1, 11
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def object_symbol_sizes(data: bytes) -> dict[str, int]:
    """Return the exported variables and their sizes in bytes; empty if it is no 64-bit ELF."""
    if data[:5] != b"\x7fELF\x02":
        return {}
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [_SECTION.unpack_from(data, start + i * size) for i in range(count)]
    found: dict[str, int] = {}
    for section in sections:
        if section[1] == _DYNSYM:
            names = sections[section[6]]
            for offset in range(section[4], section[4] + section[5], _SYMBOL.size):
                name, info, _, where, _, length = _SYMBOL.unpack_from(data, offset)
                if info & 15 == _OBJECT and where:
                    begin = names[4] + name
                    found[data[begin : data.index(b"\0", begin)].decode()] = length
    return found
