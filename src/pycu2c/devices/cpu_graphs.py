"""Graphs on the CPU: lists of host functions and of checked, packed launches."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pycu2c.base import graph_capture
from pycu2c.base.diagnostics import LaunchError
from pycu2c.devices.graph_nodes import CapturedGraph, Node
from pycu2c.kernels.launcher import Launcher, ResolvedLaunch
from pycu2c.native.extension import UNAVAILABLE, LaunchSequence
from pycu2c.runtime.cpu.cpu_runner import CapturedCpuLaunch, CpuRunner
from pycu2c.runtime.launch_configuration import LaunchRequest


class CpuGraph:
    """A list of actions, which a launch of the graph executes in order."""

    handle = 0

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._actions: list[Callable[[], object]] = []
        self._positions: list[int] = []  # of the nodes' actions
        self._merged: list[Callable[[], object]] | None = None  # the actions, launches merged
        self._kept_alive: list[object] = []

    def capturing(self) -> contextlib.AbstractContextManager[None]:
        return graph_capture.capturing(self)

    def launch(
        self, launcher: Launcher, request: LaunchRequest, values: tuple[object, ...]
    ) -> None:
        resolved_launch = launcher.resolve(request, values)
        action = _action_of(resolved_launch)
        if graph_capture.records_nodes():
            self.nodes.append(Node(self, launcher, request, resolved_launch))
            self._positions.append(len(self._actions))
        else:
            self._kept_alive.append(resolved_launch)
        self._actions.append(action)

    def do(self, action: Callable[[], object]) -> None:
        self._actions.append(action)

    def use(self, memory: object) -> None:
        if memory not in self._kept_alive:
            self._kept_alive.append(memory)

    def check_can_join(self, stream: int) -> None:
        """Do nothing: actions are executed in the order of their capture."""

    def on_device(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def instantiate(self, previous: CapturedGraph | None) -> None:
        """Do nothing: the first launch merges the actions."""

    def update_node(self, index: int, resolved_launch: ResolvedLaunch) -> None:
        self._actions[self._positions[index]] = _action_of(resolved_launch)
        self._merged = None

    def start(self, stream: object) -> None:
        if self._merged is None:
            self._merged = list(_merge_adjacent_launches(self._actions))
        graph_capture.run_on_host(partial(_run_all, self._merged))  # another graph copies the list


def _run_all(actions: Sequence[Callable[[], object]]) -> None:
    for action in actions:
        action()


def _action_of(resolved_launch: ResolvedLaunch) -> Callable[[], None]:
    """Return a function that executes a checked launch."""
    runner = resolved_launch.runner
    if isinstance(runner, CpuRunner):
        return runner.capture(resolved_launch.launch, resolved_launch.leaves)
    if resolved_launch.key.backend == "cuda":
        raise LaunchError(
            "a graph on the CPU cannot contain a launch on a GPU: create the graph without "
            "device='cpu'"
        )
    return partial(runner.run, resolved_launch.launch, resolved_launch.leaves)


def _merge_adjacent_launches(
    actions: Sequence[Callable[[], object]],
) -> Iterator[Callable[[], object]]:
    """Yield the actions, with adjacent launches merged into one."""
    for _, group in itertools.groupby(actions, lambda a: isinstance(a, CapturedCpuLaunch)):
        members = list(group)
        launches = [action for action in members if isinstance(action, CapturedCpuLaunch)]
        if len(launches) > 1:
            yield merge_launches(launches)
        else:
            yield from members


def merge_launches(launches: Sequence[CapturedCpuLaunch]) -> Callable[[], None]:
    """Return a function that runs launches in order; the C extension needs a single call."""
    if UNAVAILABLE:
        return partial(_run_all, launches)
    sequence = LaunchSequence(tuple(launch.step for launch in launches))

    def run() -> None:
        failure = sequence.run()
        if failure is not None:
            index, code = failure
            launches[index].raise_for_code(code)

    return run
