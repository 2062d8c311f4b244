"""8-bit PNG files to numpy arrays and back, with zlib alone. Knows nothing of kernels.

Reads and writes gray, gray + alpha, RGB and RGBA; no palettes, no 16 bits, no interlacing.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SIGNATURE = b"\x89PNG\r\n\x1a\n"
CHANNELS = {0: 1, 4: 2, 2: 3, 6: 4}  # colour type of the header -> values per pixel
COLOUR_TYPES = {channels: colour for colour, channels in CHANNELS.items()}
NONE, SUB, UP, AVERAGE, PAETH = range(5)  # how a row is coded, in its first byte


def write(path: str | Path, image: np.ndarray) -> None:
    """Write uint8 pixels of shape (height, width) or (height, width, channels)."""
    if image.dtype != np.uint8 or image.ndim not in (2, 3):
        raise ValueError(f"pixels are uint8 in two or three dimensions, not {image.dtype}")
    height, width = image.shape[:2]
    rows = image.reshape(height, -1)
    channels = rows.shape[1] // width
    coded = np.empty((height, rows.shape[1] + 1), np.uint8)
    coded[:, 0] = UP
    coded[:, 1:] = np.diff(rows, axis=0, prepend=np.zeros_like(rows[:1]))
    header = struct.pack(">IIBBBBB", width, height, 8, COLOUR_TYPES[channels], 0, 0, 0)
    data = zlib.compress(coded.tobytes(), 6)
    chunks = _chunk(b"IHDR", header), _chunk(b"IDAT", data), _chunk(b"IEND", b"")
    Path(path).write_bytes(SIGNATURE + b"".join(chunks))


def read(path: str | Path) -> np.ndarray:
    """The pixels as uint8: (height, width) if there is one channel, else with a third axis."""
    content = Path(path).read_bytes()
    if not content.startswith(SIGNATURE):
        raise ValueError(f"{path} is not a PNG file")
    header, packed = b"", b""
    for kind, data in _chunks(content):
        if kind == b"IHDR":
            header = data
        elif kind == b"IDAT":
            packed += data
    width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    if bits != 8 or colour not in CHANNELS or interlaced:
        raise ValueError(f"{path} is not an 8-bit gray or RGB(A) PNG without interlacing")
    channels = CHANNELS[colour]
    coded = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, -1)
    rows = _decoded(coded, channels)
    return rows.reshape((height, width, channels) if channels > 1 else (height, width))


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def _chunks(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(SIGNATURE)
    while at < len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        data = content[at + 8 : at + 8 + length]
        (check,) = struct.unpack_from(">I", content, at + 8 + length)
        if check != zlib.crc32(kind + data):
            raise ValueError(f"the {kind.decode('ascii')} chunk is damaged")
        yield kind, data
        at += length + 12


def _decoded(coded: np.ndarray, channels: int) -> np.ndarray:
    """Undo each row's filter; a filter refers to the pixel before and to the row above."""
    rows = np.empty((coded.shape[0], coded.shape[1] - 1), np.uint8)
    above = np.zeros(rows.shape[1], np.uint8)
    for row, line in zip(rows, coded):
        row[:] = _decoded_row(line[0], line[1:], above, channels)
        above = row
    return rows


def _decoded_row(kind: np.uint8, line: np.ndarray, above: np.ndarray, channels: int) -> np.ndarray:
    if kind == NONE:
        return line
    if kind == SUB:
        return np.cumsum(line.reshape(-1, channels), axis=0, dtype=np.uint8).reshape(-1)
    if kind == UP:
        return line + above
    if kind not in (AVERAGE, PAETH):
        raise ValueError(f"there is no row filter {kind}")
    predicted = _average if kind == AVERAGE else _paeth
    out, up, source = bytearray(line.size), above.tobytes(), line.tobytes()
    for i, value in enumerate(source):
        left, corner = (out[i - channels], up[i - channels]) if i >= channels else (0, 0)
        out[i] = (value + predicted(left, up[i], corner)) & 255
    return np.frombuffer(out, np.uint8)


def _average(left: int, above: int, corner: int) -> int:
    return (left + above) // 2


def _paeth(left: int, above: int, corner: int) -> int:
    """Whichever neighbour is nearest to left + above - corner."""
    to_left, to_above = abs(above - corner), abs(left - corner)
    to_corner = abs(left + above - 2 * corner)
    if to_left <= to_above and to_left <= to_corner:
        return left
    return above if to_above <= to_corner else corner
