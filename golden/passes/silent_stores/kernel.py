"""Many threads set one flag, which is stored only by those that find it unset."""

from __future__ import annotations

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1], int32[::1]"


@kernel
def spread(levels, changed):
    i = cuda.grid(1)
    if i < levels.size and levels[i] > 0:
        levels[i] -= 1
        changed[0] = 1
