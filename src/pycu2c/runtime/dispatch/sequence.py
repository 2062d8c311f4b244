"""Launches on the CPU that run one after the other, as a graph has them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycu2c.native.extension import UNAVAILABLE, LaunchSequence
from pycu2c.runtime.cpu.captured_launch import CapturedCpuLaunch


def in_sequence(launches: Sequence[CapturedCpuLaunch]) -> Callable[[], None]:
    """Return a function that runs the launches in order, with the extension in one call of C."""
    if UNAVAILABLE:
        return lambda: _run_each(launches)
    sequence = LaunchSequence(tuple(launch.step for launch in launches))

    def run() -> None:
        ended = sequence.run()
        if ended is not None:
            index, code = ended
            launches[index].finished(code)

    return run


def _run_each(launches: Sequence[CapturedCpuLaunch]) -> None:
    for launch in launches:
        launch()
