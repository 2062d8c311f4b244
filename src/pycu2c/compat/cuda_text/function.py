"""Launch a kernel of a CUDA C text and read its attributes.

Launches that match an earlier one take the C fast path (``runtime/dispatch/``), as launches of
``@kernel`` functions do. This module implements the slow path, which raises all errors.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any, TypeAlias

from pycu2c.base import graph_capture
from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Signature
from pycu2c.compat.cuda_text import arguments
from pycu2c.compat.cuda_text.captured_launch import CapturedLaunch, resolved_launch
from pycu2c.compat.cuda_text.compiled import ArgumentPacking, KernelParameter
from pycu2c.compat.cuda_text.cpu_build import CpuCode
from pycu2c.compat.cuda_text.cuda_build import GpuCode
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition
from pycu2c.cuda_driver import driver
from pycu2c.kernels.launcher import ResolvedLaunch
from pycu2c.native.extension import LaunchConfiguration
from pycu2c.runtime.arguments.call_binding import CallSignature
from pycu2c.runtime.cuda import memory
from pycu2c.runtime.dispatch import guards, table
from pycu2c.runtime.launch_configuration import Launch, LaunchRequest, extent, shared_size
from pycu2c.runtime.runner import Runner

CompiledText: TypeAlias = CpuCode | GpuCode  # a text compiled for one device

_MAX_CONFIGURATIONS = 256


@dataclass(frozen=True, slots=True)
class PreparedTextLaunch:
    """A launch whose arguments are checked.

    ``writable`` contains the positions of arrays that the kernel may write. ``is_first`` is true
    for the first launch with these argument types.
    """

    launch: Launch
    bound_arguments: list[arguments.BoundArgument]
    writable: frozenset[int]
    runner: Runner
    is_first: bool


class TextFunction:
    """A kernel of a CUDA C text."""

    def __init__(self, module: Any, name: str) -> None:
        self.module, self.name = module, name
        self._runners: dict[tuple[object, ...], Runner] = {}
        self._configurations: dict[object, LaunchConfiguration] = {}
        self._dispatch_table: table.DispatchTable | None = None
        self._parameters: dict[int, tuple[KernelParameter, ...] | None] = {}

    def __repr__(self) -> str:
        return f"<CUDA C kernel {self.name} of {self.module.text.name}>"

    # ---- launches ----

    def launch(
        self,
        grid: object,
        block: object,
        values: Sequence[object],
        shared: int = 0,
        stream: object = None,
        cooperative: bool = False,
    ) -> None:
        """Launch the kernel. Raises LaunchError."""
        if self._dispatch_table is not None and not cooperative:
            try:
                configuration = self._configurations.get((grid, block, shared, stream))
            except TypeError:  # a list is not hashable
                configuration = None
            values = values if type(values) is tuple else tuple(values)
            if configuration is not None and self._dispatch_table.launch(configuration, values):
                return
        request = _launch_request(self.name, grid, block, shared, stream)
        self._launch(request, tuple(values), cooperative)
        if self._dispatch_table is not None:
            self._cache_configuration((grid, block, shared, stream), request)

    def _launch(
        self, request: LaunchRequest, values: tuple[object, ...], cooperative: bool
    ) -> None:
        capture = graph_capture.current()
        if capture is not None:
            resolve = functools.partial(self._resolve, cooperative)
            capture.launch(CapturedLaunch(self.name, resolve, self._leaf_names), request, values)
            return
        prepared = self.prepare(request, values, cooperative)
        prepared.runner.run(prepared.launch, arguments.leaves_of(prepared.bound_arguments))
        if prepared.is_first or cooperative:
            return
        if not any(map(arguments.is_packed_bytes, prepared.bound_arguments)):
            self._record(prepared, values)

    def _resolve(
        self, cooperative: bool, request: LaunchRequest, values: tuple[object, ...]
    ) -> ResolvedLaunch:
        """Prepare a launch of a captured graph. Raises LaunchError."""
        prepared = self.prepare(request, values, cooperative)
        return resolved_launch(
            prepared.launch,
            prepared.runner,
            values,
            arguments.leaves_of(prepared.bound_arguments),
            writable=frozenset(prepared.writable),
            backend=self.module.chosen_backend(),
            signature=Signature(tuple(each.type for each in prepared.bound_arguments)),
            is_first=prepared.is_first,
        )

    def _leaf_names(self, signature: Signature) -> tuple[str, ...]:
        return arguments.argument_names(self.name, self.parameters, signature.parameters)

    def prepare(
        self, request: LaunchRequest, values: tuple[object, ...], cooperative: bool
    ) -> PreparedTextLaunch:
        """Return a checked launch, ready to start. Raises LaunchError."""
        code, kernel_parameters = self.module.code(), self.parameters
        bound_arguments = arguments.bind_arguments(values, kernel_parameters, self.name)
        arguments.check_writeable(kernel_parameters, bound_arguments, self.name)
        runner, is_first = self._runner(code, bound_arguments, cooperative)
        assert request.grid is not None
        assert request.block is not None
        launch = Launch(request.grid, request.block, request.stream, request.shared_bytes)
        return PreparedTextLaunch(
            launch,
            bound_arguments,
            arguments.writable_arrays(kernel_parameters, bound_arguments),
            runner,
            is_first,
        )

    @property
    def parameters(self) -> tuple[KernelParameter, ...] | None:
        """Return the parameters, with the names in the source; None if they are unknown."""
        code = self.module.code()
        if id(code) not in self._parameters:
            entry = self._entry(code)
            self._parameters[id(code)] = _with_source_names(
                code.parameters(entry), self._definition()
            )
        return self._parameters[id(code)]

    def _definition(self) -> FunctionDefinition | None:
        qualified_name = self.name.partition("<")[0].strip().lstrip("&:")
        matches = [f for f in self.module.kernels if qualified_name in (f.path, f.name)]
        return matches[0] if len(matches) == 1 else None

    def _entry(self, code: CompiledText) -> str:
        entry = code.entry(self.name)
        assert entry is not None, f"{self.name} was found before"
        return entry

    def _runner(
        self,
        code: CompiledText,
        bound_arguments: Sequence[arguments.BoundArgument],
        cooperative: bool,
    ) -> tuple[Runner, bool]:
        """Return the runner for these argument types, and whether it is new."""
        key = (id(code), cooperative, *((t.type, t.size) for t in bound_arguments))
        runner = self._runners.get(key)
        if runner is not None:
            return runner, False
        kernel_parameters = self.parameters
        packing = ArgumentPacking(
            arguments.layout_for(bound_arguments, kernel_parameters),
            arguments.writable_arrays(kernel_parameters, bound_arguments),
            arguments.argument_names(self.name, kernel_parameters, bound_arguments),
            cooperative,
        )
        runner = self._runners[key] = code.runner(self._entry(code), packing)
        return runner, True

    def _record(self, prepared: PreparedTextLaunch, values: tuple[object, ...]) -> None:
        """Record a launch in the dispatch table."""
        if self._dispatch_table and not self._dispatch_table.should_record():
            return
        fast_path = prepared.runner.fast_path
        if fast_path is None:
            return
        names = tuple(f"_{i}" for i in range(len(values)))
        call_signature = CallSignature(self.name, names, len(names), None, {})
        dispatch_table = self._dispatch_table or table.DispatchTable(call_signature)
        types = tuple(argument.type for argument in prepared.bound_arguments)
        leaves = arguments.leaves_of(prepared.bound_arguments)
        launch = guards.RecordedLaunch(values, types, leaves, prepared.writable, {})
        guard = table.LaunchGuard(None, prepared.launch.shared_bytes)
        dispatch_table.record(launch, guard, fast_path, Signature(types))
        self._dispatch_table = dispatch_table

    def _cache_configuration(self, key: tuple[object, ...], request: LaunchRequest) -> None:
        """Cache the configuration for launches with the same grid, block, memory and stream."""
        ordered = memory.in_order_with_default(request.stream)
        configuration = request.configuration(driver.stream_of(request.stream), ordered)
        with contextlib.suppress(TypeError):  # a list is not hashable
            if len(self._configurations) >= _MAX_CONFIGURATIONS:
                self._configurations.clear()
            self._configurations[key] = configuration

    # ---- inspection and attributes ----

    def inspect(self, language: str = "cuda") -> str:
        """Return the source ("cuda") or generated code: "ptx", "sass" (GPU) or "c" (CPU)."""
        code: str = self.module.inspect(language)
        return code

    def attribute(self, name: str) -> int:
        """Return an attribute by its driver name without CU_FUNC_ATTRIBUTE_: ``NUM_REGS``."""
        code = self.module.code()
        value: int = code.attribute(self._entry(code), name)
        return value

    def set_attribute(self, name: str, value: int) -> None:
        code = self.module.code()
        code.set_attribute(self._entry(code), name, value)


def _launch_request(
    name: str, grid: object, block: object, shared: object, stream: object
) -> LaunchRequest:
    size = shared_size(shared, name)
    return LaunchRequest(extent(grid, "grid", name), extent(block, "block", name), stream, size)


def _with_source_names(
    kernel_parameters: tuple[KernelParameter, ...] | None, definition: FunctionDefinition | None
) -> tuple[KernelParameter, ...] | None:
    """Add the names in the source to parameters, if their number agrees."""
    if (
        kernel_parameters is None
        or definition is None
        or len(kernel_parameters) != len(definition.parameters)
    ):
        return kernel_parameters
    return tuple(
        replace(p, name=parsed.name, text=parsed.text, is_read_only=parsed.is_read_only)
        for p, parsed in zip(kernel_parameters, definition.parameters)
    )
