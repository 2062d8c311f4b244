"""What every backend makes of a kernel: something that takes launches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from pycu2c.runtime.arguments import Argument, Layout
from pycu2c.runtime.configuration import Launch


@dataclass(frozen=True, slots=True)
class Direct:
    """How C may start a kernel by itself: ``start(body, packed, blocks)``, both addresses, where
    ``packed`` is the head of the launch and the parameters after it. A code other than 0 is for
    ``finished``, with that head, which raises what it means."""

    layout: Layout
    start: int
    body: int
    finished: Callable[[int, bytes], None]


class Runner(Protocol):
    """A compiled kernel. ``direct`` is None where a launch takes more than a call."""

    @property
    def direct(self) -> Direct | None: ...

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None: ...
