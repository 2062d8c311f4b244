"""How C may start a compiled kernel by itself."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.base.records import dataclass
from pycu2c.native.extension import StagingBuffer
from pycu2c.runtime.arguments.arguments import Layout


@dataclass(frozen=True, slots=True)
class Direct:
    """How C may start a kernel by itself: ``start(body, packed, blocks)``, both addresses, where
    ``packed`` is the head of the launch and the parameters after it. A code other than 0 is for
    ``finished``, with that head, which raises what it means.

    With a ``context``, ``start`` is cuLaunchKernel and ``body`` the kernel's handle: it is the
    address of cuCtxGetCurrent, and the context in which alone the kernel may be started so. What
    is refused takes the slow path, and ``finished`` is not called. ``staging`` gives the memory for
    copies of arrays of the host, if there is some: such a launch is waited for, and may give a
    code."""

    layout: Layout
    start: int
    body: int
    finished: Callable[[int, bytes], None]
    context: tuple[int, int] | None = None
    staging: Callable[[], StagingBuffer | None] | None = None
