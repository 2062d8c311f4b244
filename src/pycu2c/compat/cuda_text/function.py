"""A kernel of a CUDA C text: its launches and what is known of it.

A launch like one before is checked, packed and started by C, as those of kernels in Python are
(``runtime/plans/``); this file sees the others.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from pycu2c.base import graph_capture
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Signature
from pycu2c.compat.cuda_text import arguments, captured_launch, inspection, parameters
from pycu2c.compat.cuda_text.compiled import CompiledText, ArgumentPacking
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.cuda_driver import driver
from pycu2c.runtime.arguments.call_binding import Parameters
from pycu2c.runtime.cuda import memory
from pycu2c.runtime.launch_configuration import Launch, Wanted, extent, shared_size
from pycu2c.runtime.plans import guards, library, plan
from pycu2c.runtime.runner import Runner

_MAX_CACHED_CALLS = 256  # shapes of launches that are kept in C's words


@dataclass(frozen=True, slots=True)
class PreparedTextLaunch:
    """A launch whose arguments are checked. ``writable``: arrays that it may write, by their
    places; ``is_first``: with arguments of these types."""

    launch: Launch
    taken: list[arguments.BoundArgument]
    writable: frozenset[int]
    runner: Runner
    is_first: bool


class TextFunction:
    """A kernel. ``launch`` runs it; what it takes and gives is the user's business."""

    def __init__(self, module: Any, name: str) -> None:
        self.module, self.name = module, name
        self._runners: dict[tuple[object, ...], Runner] = {}
        self._calls: dict[object, bytes] = {}
        self._plans: plan.Plans | None = None
        self._parameters: dict[int, tuple[parameters.KernelParameter, ...] | None] = {}

    def __repr__(self) -> str:
        return f"<CUDA C kernel {self.name} of {self.module.text.name}>"

    # ---- launches ----

    def launch(
        self,
        grid: object,
        block: object,
        given: Sequence[object],
        shared: int = 0,
        stream: object = None,
        cooperative: bool = False,
    ) -> None:
        """Run it on a grid of blocks. Raises LaunchError."""
        if self._plans is not None and not cooperative:
            try:
                call = self._calls.get((grid, block, shared, stream))
            except TypeError:  # a list
                call = None
            values = given if type(given) is tuple else tuple(given)
            if call is not None and self._plans.run(call, stream, values):
                return
        wanted = _launch_request(self.name, grid, block, shared, stream)
        self._launch(wanted, tuple(given), cooperative)
        if self._plans is not None:
            self._cache_call((grid, block, shared, stream), wanted)

    def _launch(self, wanted: Wanted, values: tuple[object, ...], cooperative: bool) -> None:
        capture = graph_capture.current()
        if capture is not None:
            capture.launch(captured_launch.CapturedTextLaunch(self, cooperative), wanted, values)
            return
        found = self.prepared(wanted, values, cooperative)
        found.runner.run(found.launch, arguments.leaves_of(found.taken))
        if (
            not found.is_first
            and not cooperative
            and not any(map(arguments.is_packed_bytes, found.taken))
        ):
            self._record_plan(found, values)

    def prepared(
        self, wanted: Wanted, values: tuple[object, ...], cooperative: bool
    ) -> PreparedTextLaunch:
        """A launch up to its start. Raises LaunchError."""
        code, known = self.module.code(), self.parameters
        taken = arguments.bind_arguments(values, known, self.name)
        arguments.check_writeable(known, taken, self.name)
        runner, is_first = self._runner(code, taken, cooperative)
        assert wanted.grid is not None
        assert wanted.block is not None
        launch = Launch(wanted.grid, wanted.block, wanted.stream, wanted.shared_bytes)
        return PreparedTextLaunch(
            launch, taken, arguments.writable_arrays(known, taken), runner, is_first
        )

    @property
    def parameters(self) -> tuple[parameters.KernelParameter, ...] | None:
        """What it takes, with the names that the text has; None if that is not known."""
        code = self.module.code()
        if id(code) not in self._parameters:
            entry = self._entry(code)
            self._parameters[id(code)] = _with_source_names(
                code.parameters(entry), self._definition()
            )
        return self._parameters[id(code)]

    def _definition(self) -> FunctionDefinition | None:
        path = self.name.partition("<")[0].strip().lstrip("&:")
        found = [f for f in self.module.kernels if path in (f.path, f.name)]
        return found[0] if len(found) == 1 else None

    def _entry(self, code: CompiledText) -> str:
        entry = code.entry(self.name)
        assert entry is not None, f"{self.name} was found before"
        return entry

    def _runner(
        self, code: CompiledText, taken: Sequence[arguments.BoundArgument], cooperative: bool
    ) -> tuple[Runner, bool]:
        """What runs a launch with arguments of these types; whether it is new."""
        key = (id(code), cooperative, *((t.type, t.size) for t in taken))
        runner = self._runners.get(key)
        if runner is not None:
            return runner, False
        known = self.parameters
        layout, writable = (
            arguments.layout_for(taken, known),
            arguments.writable_arrays(known, taken),
        )
        form = ArgumentPacking(
            layout, writable, arguments.argument_names(self.name, known, taken), cooperative
        )
        runner = self._runners[key] = code.runner(self._entry(code), form)
        return runner, True

    def _record_plan(self, found: PreparedTextLaunch, values: tuple[object, ...]) -> None:
        """Let launches like this one take the short way."""
        if self._plans and not self._plans.is_time():
            return
        direct = found.runner.direct
        if direct is None:
            return
        if library.load():
            return  # one thing at a time, so that no launch takes long
        names = tuple(f"_{i}" for i in range(len(values)))
        plans = self._plans or library.plans(Parameters(self.name, names, len(names), None, {}))
        if plans is None:
            return
        types = tuple(argument.type for argument in found.taken)
        seen = guards.Seen(values, types, arguments.leaves_of(found.taken), found.writable, {})
        place = plan.Place(None, found.launch.shared_bytes)
        plans.learn(seen, place, direct, Signature(types))
        self._plans = plans

    def _cache_call(self, key: tuple[object, ...], wanted: Wanted) -> None:
        """Have C's words for launches of this shape."""
        in_order = memory.in_order_with_default(wanted.stream)
        call = wanted.call(driver.stream_of(wanted.stream), in_order)
        with contextlib.suppress(TypeError):  # a list, which may change
            if len(self._calls) >= _MAX_CACHED_CALLS:
                self._calls.clear()
            self._calls[key] = call

    # ---- what is known of it ----

    def inspect(self, language: str = "cuda") -> str:
        """The text; or what is made of it: "ptx" and "sass" for GPUs, "c" for the CPU."""
        return inspection.inspect_module(self.module, language)

    def attribute(self, name: str) -> int:
        """What is known of it, by the driver's name without CU_FUNC_ATTRIBUTE_: ``NUM_REGS``."""
        code = self.module.code()
        found: int = code.attribute(self._entry(code), name)
        return found

    def set_attribute(self, name: str, value: int) -> None:
        code = self.module.code()
        code.set_attribute(self._entry(code), name, value)

    @property
    def registers(self) -> int:
        """Of a thread."""
        return self.attribute("NUM_REGS")

    @property
    def shared_bytes(self) -> int:
        """Static shared memory of a block."""
        return self.attribute("SHARED_SIZE_BYTES")

    @property
    def local_bytes(self) -> int:
        return self.attribute("LOCAL_SIZE_BYTES")

    @property
    def const_bytes(self) -> int:
        return self.attribute("CONST_SIZE_BYTES")

    @property
    def max_threads(self) -> int:
        """The most threads of a block."""
        return self.attribute("MAX_THREADS_PER_BLOCK")

    @property
    def max_dynamic_shared_bytes(self) -> int:
        """What a launch may ask for. It need not be set: a launch that asks for more sees to
        it."""
        return self.attribute("MAX_DYNAMIC_SHARED_SIZE_BYTES")

    @max_dynamic_shared_bytes.setter
    def max_dynamic_shared_bytes(self, size: int) -> None:
        self.set_attribute("MAX_DYNAMIC_SHARED_SIZE_BYTES", shared_size(size, self.name))

    @property
    def preferred_carveout(self) -> int:
        """How much of the cache on the chip is to be shared memory, in per cent; -1: no wish."""
        return self.attribute("PREFERRED_SHARED_MEMORY_CARVEOUT")

    @preferred_carveout.setter
    def preferred_carveout(self, share: int) -> None:
        self.set_attribute("PREFERRED_SHARED_MEMORY_CARVEOUT", share)


def _launch_request(
    name: str, grid: object, block: object, shared: object, stream: object
) -> Wanted:
    size = shared_size(shared, name)
    return Wanted(extent(grid, "grid", name), extent(block, "block", name), stream, size)


def _with_source_names(
    known: tuple[parameters.KernelParameter, ...] | None, writable: FunctionDefinition | None
) -> tuple[parameters.KernelParameter, ...] | None:
    """Parameters with what the text calls them, if it has as many."""
    if known is None or writable is None or len(known) != len(writable.parameters):
        return known
    return tuple(
        replace(p, name=w.name, text=w.text, is_read_only=w.is_read_only)
        for p, w in zip(known, writable.parameters)
    )
