"""Launch CUDA kernels with Python arguments."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import SupportsIndex

from pycu2c.base.index_bounds import WrittenArray, writes_every_element
from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver, libcuda
from pycu2c.runtime.arguments.arguments import Layout, pack
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.cuda import memory, staging, transfers
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel, NodeParameters
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import FastPathLaunch, Runner


@dataclass(frozen=True, slots=True)
class CudaRunner(Runner):
    """A kernel on the GPU, and how its arguments are passed."""

    name: str
    written: frozenset[int]  # positions of arrays that the kernel may write
    layout: Layout
    kernel: CudaKernel
    overwritten: tuple[WrittenArray, ...] = ()

    @property
    def fast_path(self) -> FastPathLaunch:
        """How C can launch the kernel in the current context."""
        flags = self.kernel.flags
        start = libcuda.address_of(
            "cuLaunchKernelEx" if flags else "cuLaunchKernel", takes_stream=True
        )
        context = libcuda.address_of("cuCtxGetCurrent"), driver.current_context()
        address = self.kernel.address
        return FastPathLaunch(
            self.layout, start, address, self._raise_for_code, context, staging.staging_buffer,
            flags=sum(1 << flag for flag in flags),
        )  # fmt: skip

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        driver.make_current()  # the calling thread may have no context yet
        stream = driver.working_stream(launch.stream)
        is_ordered = memory.in_order_with_default(launch.stream)
        if launch.stream is not None:
            transfers.record_use(arguments, launch.stream)
        overwritten = self._overwritten_arguments(launch, arguments)
        with transfers.stage_arguments(
            arguments, self.written, stream, self.name, overwritten, is_ordered
        ) as addresses:
            packed = pack(self.layout, arguments, addresses)
            self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, stream, packed)

    def _raise_for_code(self, code: int, header: bytes) -> None:
        """Raise the error of a launch that C has synchronized with."""
        driver.check((driver.api().CUresult(code),), f"run {self.name}")

    def as_node(self, launch: Launch, arguments: Sequence[Argument]) -> NodeParameters:
        """Return the graph node of a launch, whose arrays are on the device."""
        addresses = [transfers.address_in_place(argument) for argument in arguments]
        packed = pack(self.layout, arguments, addresses)
        return self.kernel.as_node(launch.grid, launch.block, launch.shared_bytes, packed)

    def _overwritten_arguments(
        self, launch: Launch, arguments: Sequence[Argument]
    ) -> frozenset[int]:
        """Return the positions of arrays that the launch fully overwrites and does not read."""
        if not self.overwritten:
            return frozenset()
        shapes = [a.shape if isinstance(a, ArrayArgument) else () for a in arguments]
        numbers = [operator.index(a) if isinstance(a, SupportsIndex) else 0 for a in arguments]
        threads = [g * b for g, b in zip(launch.grid, launch.block)]
        return frozenset(
            array.argument
            for array in self.overwritten
            if writes_every_element(array, shapes, numbers, threads)
        )
