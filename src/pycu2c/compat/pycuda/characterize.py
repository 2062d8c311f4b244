"""Implement ``pycuda.characterize``: features of the device."""

from __future__ import annotations

import sys


def platform_bits() -> int:
    """Return the size of an address in bits."""
    return 64 if sys.maxsize > 2**32 else 32


def has_stack() -> bool:
    """Return whether recursive functions are supported: True."""
    return True


def has_double_support() -> bool:
    """Return whether doubles are supported: True."""
    return True
