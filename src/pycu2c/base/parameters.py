"""The flat parameters of generated code: what each carries of an argument."""

from __future__ import annotations

from pycu2c.base.records import Enum, dataclass
from pycu2c.base.types import Array, Scalar


class ArgumentPart(Enum):
    """Which part of a Python argument a flat parameter carries."""

    VALUE = "value"
    DATA = "data"
    SHAPE = "shape"
    STRIDE = "stride"


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    """A parameter. Built: one per Python argument (``part`` is VALUE). Flat: a number, or a
    pointer if ``part`` is DATA; ``argument`` and ``axis`` say what to pass."""

    name: str
    type: Scalar | Array
    argument: int
    part: ArgumentPart = ArgumentPart.VALUE
    axis: int = 0
