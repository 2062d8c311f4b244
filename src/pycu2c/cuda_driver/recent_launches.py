"""Record the kernels that were launched last on a GPU.

A later driver call reports a fault, and the driver does not know which kernel caused it.
"""

from __future__ import annotations

from collections import deque

from pycu2c.native.extension import recent_kernels

_MAX_NAMES = 4
_recorded: deque[str] = deque(maxlen=_MAX_NAMES)


def record(kernel: str) -> None:
    """Record a launch."""
    _recorded.append(kernel)


def names() -> list[str]:
    """Return the names of the last kernels, the latest first."""
    return list(dict.fromkeys(reversed([*_recorded, *recent_kernels()])))[:_MAX_NAMES]
