"""Graphs on the CPU: lists of what is to be done."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from pycu2c.devices.graph_nodes import Captured, Node
from pycu2c.diagnostics import LaunchError
from pycu2c.launching import Launcher, Ready
from pycu2c.runtime import capturing
from pycu2c.runtime.configuration import Wanted
from pycu2c.runtime.cpu_runner import CpuRunner


class HostGraph:
    """What is to be done, in order."""

    handle = 0

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._actions: list[Callable[[], object]] = []
        self._places: list[int] = []  # of the nodes' actions
        self._kept: list[object] = []

    def going_on(self) -> contextlib.AbstractContextManager[None]:
        return capturing.into(self)

    def launch(self, launcher: Launcher, wanted: Wanted, values: tuple[object, ...]) -> None:
        ready = launcher.ready(wanted, values)
        action = _action(ready)
        if capturing.lists():
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

    def there(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def make(self, before: Captured | None) -> None:
        """There is nothing to make."""

    def change(self, place: int, ready: Ready) -> None:
        self._actions[self._places[place]] = _action(ready)

    def start(self, stream: object) -> None:
        if capturing.current() is None:
            _run(self._actions)
        else:  # as a part of another graph, which does not change with this one
            capturing.do(partial(_run, [*self._actions]))


def _run(actions: list[Callable[[], object]]) -> None:
    for action in actions:
        action()


def _action(ready: Ready) -> Callable[[], None]:
    """A launch, to be done later."""
    runner, launch, leaves = ready.runner, ready.launch, ready.taken.leaves
    if isinstance(runner, CpuRunner):
        return runner.as_action(launch, leaves)
    if ready.variant.backend == "cuda":
        raise LaunchError(
            "a launch on a GPU is no part of a graph on the CPU: leave the graph's device='cpu' out"
        )
    return partial(runner.run, launch, leaves)
