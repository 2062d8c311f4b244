"""How the code of a target computes indices."""

from __future__ import annotations

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class IndexRules:
    """Launch assumptions, with the option and the property of the target that concern indices.

    ``wraparound``: an index that is not a constant may be negative (an option of the kernel).
    ``narrow_ints``: the target computes in 32 bits where they suffice.
    """

    assumptions: LaunchAssumptions
    wraparound: bool = True
    narrow_ints: bool = True

    @property
    def index32(self) -> bool:
        """Whether lengths and indices are 32-bit."""
        return self.assumptions.index32_safe and self.narrow_ints

    @property
    def most_elements(self) -> int:
        return self.assumptions.most_elements
