"""What every backend makes of a kernel: something that takes launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pycu2c.runtime.arguments import Argument
from pycu2c.runtime.configuration import Launch


class Runner(Protocol):
    """A compiled kernel."""

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None: ...
