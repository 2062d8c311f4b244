"""Write an uncompressed fatbin with a cubin and PTX."""

from __future__ import annotations

import re
import struct

from pycu2c.base.records import NamedTuple

_HEADER = struct.Struct("<IHHQ")  # magic, version, size of the header, size of the rest
_MARK, _VERSION = 0xBA55ED50, 1
# kind, version, size of this header, size of the code, compressed size, options; version of the
# code, minor and major; architecture; offset and size of the name; flags; 0; uncompressed size
_PART = struct.Struct("<HHIQIIHHIIIQQQ")
_KINDS = {"ptx": 1, "cubin": 2}
_FATBIN_FORMAT, _FLAGS = 0x0101, 0x11  # 64 bits, Linux


class FatbinEntry(NamedTuple):
    """Code for an architecture: ``kind`` is "ptx" or "cubin", ``arch`` is 90 for ``sm_90``."""

    kind: str
    arch: int
    data: bytes


def packed(parts: list[FatbinEntry]) -> bytes:
    """Return the contents of a fatbin."""
    body = b"".join(_packed(part) for part in parts)
    return _HEADER.pack(_MARK, _VERSION, _HEADER.size, len(body)) + body


def _packed(part: FatbinEntry) -> bytes:
    data = part.data + b"\0" if part.kind == "ptx" else part.data
    data += bytes(-len(data) % 8)
    own = (_KINDS[part.kind], _FATBIN_FORMAT, _PART.size, len(data), 0, 0)
    return _PART.pack(*own, *_version(part), part.arch, 0, 0, _FLAGS, 0, 0) + data


def _version(part: FatbinEntry) -> tuple[int, int]:
    """Return the code version, minor first: of PTX its declared one, of a cubin its format."""
    found = re.search(rb"^\.version\s+(\d+)\.(\d+)", part.data, re.MULTILINE)
    return (int(found[2]), int(found[1])) if found and part.kind == "ptx" else (8, 1)
