"""Parameters of generated functions, and which part of an argument each carries."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, Scalar


class ArgumentPart(Enum):
    """The part of a Python argument that a flat parameter carries."""

    VALUE = "value"
    DATA = "data"
    SHAPE = "shape"
    STRIDE = "stride"


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter of a function.

    After the front end there is one for each Python argument (``part`` is VALUE). A flat parameter
    is a scalar, or a pointer if ``part`` is DATA; ``argument`` and ``axis`` say what to pass. The
    memory of an ``unaliased`` pointer is accessed by no other pointer, unless it is only read.
    """

    name: str
    type: Scalar | Array
    argument: int
    part: ArgumentPart = ArgumentPart.VALUE
    axis: int = 0
    unaliased: bool = False


class OverlapRule(NamedTuple):
    """Which overlap of two array parameters a function supports.

    A slice operation writes elements of the parameter at position ``written``, and reads elements
    of the one at ``read``. Either they share no memory, or, if ``may_be_same``, they are exactly
    the same array.
    """

    written: int
    read: int
    may_be_same: bool
