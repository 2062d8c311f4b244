"""Methods of numbers that kernels can call.

A type has the methods of its numbers in Python or NumPy. The front end lowers them; the reference
calls them.
"""

from __future__ import annotations

from pycu2c.base.types import WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, Scalar

NUMBER_METHODS = frozenset(
    ["conjugate", "conj", "bit_count", "bit_length", "is_integer", "item", "astype", "view"]
)
_PYTHON_CLASSES = {WEAK_BOOL: bool, WEAK_INT: int, WEAK_FLOAT: float, WEAK_COMPLEX: complex}


def has_method(scalar: Scalar, name: str) -> bool:
    """Return whether numbers of a type have a method."""
    number_class: type = _PYTHON_CLASSES[scalar] if scalar.weak else scalar.dtype.numpy.type
    return name in NUMBER_METHODS and hasattr(number_class, name)
