"""What a shared object says of its own variables: ELF's table of dynamic symbols."""

from __future__ import annotations

import struct

_OBJECT, _DYNSYM = 1, 11
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")


def sizes(data: bytes) -> dict[str, int]:
    """The variables that it has for others, and how many bytes each takes; none of what is no ELF
    of 64 bits."""
    if data[:5] != b"\x7fELF\x02":
        return {}
    (start,) = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3A)
    sections = [_SECTION.unpack_from(data, start + i * size) for i in range(count)]
    found: dict[str, int] = {}
    for section in sections:
        if section[1] == _DYNSYM:
            names = sections[section[6]]
            for place in range(section[4], section[4] + section[5], _SYMBOL.size):
                name, info, _, where, _, length = _SYMBOL.unpack_from(data, place)
                if info & 15 == _OBJECT and where:
                    begin = names[4] + name
                    found[data[begin : data.index(b"\0", begin)].decode()] = length
    return found
