"""Read the sizes of exported variables from the dynamic symbol table of a shared object."""

from __future__ import annotations

import struct

_STT_OBJECT, _SHT_DYNSYM = 1, 11
_SECTION_HEADER = struct.Struct("<IIQQQQIIQQ")  # Elf64_Shdr
_SYMBOL = struct.Struct("<IBBHQQ")  # Elf64_Sym


def object_symbol_sizes(data: bytes) -> dict[str, int]:
    """Return the exported variables and their sizes in bytes; empty if it is no 64-bit ELF."""
    if data[:5] != b"\x7fELF\x02":
        return {}
    (start,) = struct.unpack_from("<Q", data, 0x28)  # e_shoff
    size, count = struct.unpack_from("<HH", data, 0x3A)  # e_shentsize, e_shnum
    sections = [_SECTION_HEADER.unpack_from(data, start + i * size) for i in range(count)]
    sizes: dict[str, int] = {}
    for _, section_type, _, _, section_start, section_size, linked_section, *_ in sections:
        if section_type != _SHT_DYNSYM:
            continue
        names_start = sections[linked_section][4]
        for offset in range(section_start, section_start + section_size, _SYMBOL.size):
            name, info, _, section, _, symbol_size = _SYMBOL.unpack_from(data, offset)
            if info & 15 == _STT_OBJECT and section:  # 0 is the section of undefined symbols
                begin = names_start + name
                sizes[data[begin : data.index(b"\0", begin)].decode()] = symbol_size
    return sizes
