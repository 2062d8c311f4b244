"""How C may start a compiled kernel by itself."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.records import Protocol, dataclass
from pycu2c.runtime.arguments.arguments import Layout


class Room(Protocol):
    """Memory for copies of a launch's arrays; ``address``: where C finds what it is."""

    @property
    def address(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Direct:
    """How C may start a kernel by itself: ``start(body, packed, blocks)``, both addresses, where
    ``packed`` is the head of the launch and the parameters after it. A code other than 0 is for
    ``finished``, with that head, which raises what it means.

    With a ``context``, ``start`` is cuLaunchKernel and ``body`` the kernel's handle: it is the
    address of cuCtxGetCurrent, and the context in which alone the kernel may be started so. What
    is refused goes the ordinary way, and ``finished`` is not asked. ``room`` gives the memory for
    copies of arrays of the host, if there is some: such a launch is waited for, and may give a
    code."""

    layout: Layout
    start: int
    body: int
    finished: Callable[[int, bytes], None]
    context: tuple[int, int] | None = None
    room: Callable[[], Room | None] | None = None
