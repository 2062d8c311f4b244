"""Which methods of numbers kernels can call: those of Python's numbers and of numpy's.

A type has those that its numbers have in Python. The frontend says what they become; the reference
calls them.
"""

from __future__ import annotations

from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar

NUMBER_METHODS = frozenset(
    ["conjugate", "conj", "bit_count", "bit_length", "is_integer", "item", "astype", "view"]
)
_PYTHONS = {WEAK_BOOL: bool, WEAK_INT: int, WEAK_FLOAT: float, WEAK_COMPLEX: complex}


def has_method(scalar: Scalar, name: str) -> bool:
    """Whether numbers of a type have such a method."""
    kind: type = _PYTHONS[scalar] if scalar.weak else scalar.dtype.numpy.type
    return name in NUMBER_METHODS and hasattr(kind, name)
