"""A kernel on a GPU with the layout of its arguments. Knows no compiler."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from pycu2c.base.index_bounds import Overwritten, is_whole
from pycu2c.base.records import dataclass
from pycu2c.base.values import Number
from pycu2c.cuda_driver import driver, libcuda
from pycu2c.runtime.arguments.arguments import Layout, pack
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.cuda import small_copies, transfers
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel, NodeParameters
from pycu2c.runtime.direct_launch import Direct
from pycu2c.runtime.launch_configuration import Launch

_OBJECTS = (ArrayArgument, HandleArgument)


@dataclass(frozen=True, slots=True)
class CudaRunner:
    name: str
    written: frozenset[int]  # positions of arrays that it may write
    layout: Layout
    kernel: CudaKernel
    overwritten: tuple[Overwritten, ...] = ()

    @property
    def direct(self) -> Direct | None:
        """In the context that is current now."""
        if self.kernel.together:
            return None
        start = libcuda.address_of("cuLaunchKernel", of_stream=True)
        context = libcuda.address_of("cuCtxGetCurrent"), driver.current_context()
        address, room = self.kernel.address, small_copies.here
        return Direct(self.layout, start, address, self._failed, context, room)

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        driver.make_current()  # a thread of the program's may be on no device so far
        stream = driver.working_stream(launch.stream)
        if launch.stream is not None:
            transfers.note_use(arguments, launch.stream)
        fresh = self._fresh(launch, arguments)
        with transfers.staged(arguments, self.written, stream, self.name, fresh) as addresses:
            packed = pack(self.layout, arguments, addresses)
            self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, stream, packed)

    def _failed(self, code: int, head: bytes) -> None:
        """Raise what a launch has ended with that C has waited for."""
        driver.check((driver.api().CUresult(code),), f"run {self.name}")

    def as_node(self, launch: Launch, arguments: Sequence[Argument]) -> NodeParameters:
        """A launch on arrays that the device uses where they lie, for a node of a graph."""
        addresses = [transfers.address_in_place(argument) for argument in arguments]
        packed = pack(self.layout, arguments, addresses)
        return self.kernel.as_node(launch.grid, launch.block, launch.shared_bytes, packed)

    def _fresh(self, launch: Launch, arguments: Sequence[Argument]) -> frozenset[int]:
        """The arrays of which a launch writes every element, and reads none."""
        if not self.overwritten:
            return frozenset()
        shapes = [a.shape if isinstance(a, ArrayArgument) else () for a in arguments]
        numbers = [0 if isinstance(a, _OBJECTS) else _as_int(a) for a in arguments]
        threads = [g * b for g, b in zip(launch.grid, launch.block)]
        found = (o for o in self.overwritten if is_whole(o, shapes, numbers, threads))
        return frozenset(o.argument for o in found)


def _as_int(number: Number) -> int:
    try:
        return operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        return 0
