"""Graphs on the CPU: lists of what is to be done."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from functools import partial

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.devices.graph_nodes import Captured, Node
from pycu2c.kernels.launcher import Launcher, Ready
from pycu2c.runtime import nvtx_ranges
from pycu2c.runtime.cpu.captured_launch import CapturedCpuLaunch
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.dispatch.sequence import in_sequence
from pycu2c.runtime.launch_configuration import LaunchRequest


class HostGraph:
    """What is to be done, in order."""

    handle = 0

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._actions: list[Callable[[], object]] = []
        self._places: list[int] = []  # of the nodes' actions
        self._joined: list[Callable[[], object]] | None = None  # what is run
        self._kept: list[object] = []

    def going_on(self) -> contextlib.AbstractContextManager[None]:
        return graph_capture.capturing(self)

    def launch(self, launcher: Launcher, wanted: LaunchRequest, values: tuple[object, ...]) -> None:
        ready = launcher.ready(wanted, values)
        action = _action(ready)
        if graph_capture.records_nodes():
            self.nodes.append(Node(self, launcher, wanted, ready))
            self._places.append(len(self._actions))
        else:
            self._kept.append(ready)
        self._actions.append(action)

    def do(self, action: Callable[[], object]) -> None:
        self._actions.append(action)

    def use(self, memory: object) -> None:
        if memory not in self._kept:
            self._kept.append(memory)

    def join(self, stream: int) -> None:
        """All that is captured is in one order."""

    def there(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def make(self, before: Captured | None) -> None:
        """There is nothing to make."""

    def change(self, place: int, ready: Ready) -> None:
        self._actions[self._places[place]] = _action(ready)
        self._joined = None

    def start(self, stream: object) -> None:
        if self._joined is None:
            self._joined = list(_joined(self._actions))
        graph_capture.run_on_host(
            partial(_run, self._joined)
        )  # of another graph a part that does not change


def _run(actions: list[Callable[[], object]]) -> None:
    for action in actions:
        action()


def _joined(actions: list[Callable[[], object]]) -> Iterator[Callable[[], object]]:
    """The same actions, with launches one after the other as one."""
    for is_noted, group in itertools.groupby(actions, lambda a: isinstance(a, CapturedCpuLaunch)):
        some = list(group)
        launches = [action for action in some if isinstance(action, CapturedCpuLaunch)]
        if is_noted and len(launches) > 1:
            yield in_sequence(launches)
        else:
            yield from some


def _action(ready: Ready) -> Callable[[], None]:
    """A launch, to be done later."""
    runner, launch, leaves = (
        nvtx_ranges.without_nvtx_ranges(ready.runner),
        ready.launch,
        ready.taken.leaves,
    )
    if isinstance(runner, CpuRunner):
        return runner.capture(launch, leaves)
    if ready.key.backend == "cuda":
        raise LaunchError(
            "a launch on a GPU is no part of a graph on the CPU: leave the graph's device='cpu' out"
        )
    return partial(runner.run, launch, leaves)
