"""Measure launches in a process of their own, which a faulty kernel may crash or block.

The process answers requests, which are pickled: ``load`` a compiled kernel, ``run`` it, ``check``
its results. A watchdog ends the process if a request takes too long.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.base.records import dataclass
from pycu2c.cuda_driver import driver
from pycu2c.devices.streams import Event
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument
from pycu2c.runtime.arguments.strides import bytes_at
from pycu2c.runtime.cuda.memory import ALIGNMENT, DeviceMemory, HostMemory
from pycu2c.runtime.cuda.transfers import ByteExtent, StagedExtent, extent_of, merge_extents
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Runner

_FLUSHED_BYTES = (64 << 20, 256 << 20)  # on the CPU, and on a GPU


@dataclass(frozen=True, slots=True, eq=False)
class ArgumentImage:
    """The arguments of a launch, for another process.

    extents, contents: the memory of the arrays and its bytes; overlapping arrays share an extent.
    device: the ordinal of the GPU; None for the CPU.
    """

    leaves: tuple[Argument, ...]
    extents: tuple[ByteExtent, ...]
    contents: tuple[np.ndarray[Any, Any], ...]
    device: int | None


def image_of(leaves: Sequence[Argument], device: int | None) -> ArgumentImage:
    """Copy the arguments of a launch."""
    arrays = [leaf for leaf in leaves if isinstance(leaf, ArrayArgument)]
    extents: list[ByteExtent] = []
    contents = []
    for location in ("host", "device"):
        here = merge_extents(extent_of(a) for a in arrays if a.location == location)
        for extent in here:
            extents.append(extent)
            contents.append(np.empty(extent.size, np.uint8))
            _copy(contents[-1].ctypes.data, extent.start, extent.size, location)
    moved = tuple(
        leaf._replace(owner=None, stream=None) if isinstance(leaf, ArrayArgument) else leaf
        for leaf in leaves
    )
    return ArgumentImage(moved, tuple(extents), tuple(contents), device)


def _copy(to: int, address: int, size: int, location: str) -> None:
    if location == "device":
        driver.make_current()
        driver.synchronize_device()
        driver.copy_out(to, address, size)
        driver.synchronize()
    else:
        bytes_at(to, size)[:] = bytes_at(address, size)


class MeasuringSession:
    """Copies of the arguments, and the kernel that is measured."""

    def __init__(self, image: ArgumentImage, timeout: float, cold_cache: bool) -> None:
        self._timeout, self._cold = timeout, cold_cache
        self._null_file = os.open(os.devnull, os.O_WRONLY)  # for the traceback of the watchdog
        self._on_gpu = image.device is not None
        if image.device is not None:
            driver.set_device(image.device)
        self._copies = [self._new_copy(extent) for extent in image.extents]
        self._originals = [self._new_copy(extent) for extent in image.extents]
        for copy, content in zip(self._originals, image.contents):
            target = copy.address_of(copy.extent.start)
            if self._on_gpu:
                driver.copy_in(target, content.ctypes.data, content.size)
                driver.synchronize()
            else:
                bytes_at(target, content.size)[:] = content
        self._cache = self._new_copy(ByteExtent(0, _FLUSHED_BYTES[self._on_gpu]))
        self._leaves = tuple(map(self._moved, image.leaves))
        self._runner: Runner
        self._launch: Launch

    def _new_copy(self, extent: ByteExtent) -> StagedExtent:
        size = extent.size + extent.start % ALIGNMENT
        return StagedExtent(extent, DeviceMemory(size) if self._on_gpu else HostMemory(size))

    def _moved(self, leaf: Argument) -> Argument:
        if not isinstance(leaf, ArrayArgument):
            return leaf
        found = [c for c in self._copies if c.extent.start <= leaf.address < c.extent.stop]
        address = found[0].address_of(leaf.address) if found else 0
        location: Any = "device" if self._on_gpu else "host"
        return leaf._replace(address=address, location=location, location_is_explicit=False)

    def load(self, runner: Runner, launch: Launch) -> None:
        """Select the kernel of the next runs."""
        self._runner, self._launch = runner, launch

    def run(self) -> float:
        """Run the kernel with the original arguments; return the seconds that it takes."""
        for copy, original in zip(self._copies, self._originals):
            self._copy_within(copy, original)
        if self._cold:
            self._flush_cache()
        faulthandler.dump_traceback_later(self._timeout, exit=True, file=self._null_file)
        try:
            return self._timed_on_gpu() if self._on_gpu else self._timed_on_cpu()
        finally:
            faulthandler.cancel_dump_traceback_later()

    def _timed_on_cpu(self) -> float:
        start = time.perf_counter()
        self._runner.run(self._launch, self._leaves)
        return time.perf_counter() - start

    def _timed_on_gpu(self) -> float:
        before, after = Event(), Event()
        before.record()
        self._runner.run(self._launch, self._leaves)
        after.record()
        after.synchronize()
        return before.elapsed_time(after) / 1e3

    def _copy_within(self, copy: StagedExtent, source: StagedExtent) -> None:
        start, size = copy.extent.start, copy.extent.size
        if self._on_gpu:
            driver.copy_within(copy.address_of(start), source.address_of(start), size)
        else:
            bytes_at(copy.address_of(start), size)[:] = bytes_at(source.address_of(start), size)

    def _flush_cache(self) -> None:
        address, size = self._cache.allocation.address, self._cache.extent.size
        if self._on_gpu:
            driver.fill(address, bytes(4), size // 4)
        else:
            bytes_at(address, size).fill(1)

    def check(self, written: Sequence[int], path: str, tolerance: float | None) -> str:
        """Compare the results of the last run with those in a file; return how they differ.

        The first results are stored in the file.
        """
        results = []
        for position in written:
            leaf = self._leaves[position]
            assert isinstance(leaf, ArrayArgument)
            results.append(self._fetched(leaf))
        if not os.path.exists(path):
            with open(path, "wb") as file:
                pickle.dump(results, file)
            return ""
        with open(path, "rb") as file:
            expected = pickle.load(file)
        for position, new, old in zip(written, results, expected):
            difference = _difference(new, old, tolerance)
            if difference:
                return f"wrong result in argument {position + 1}: {difference}"
        return ""

    def _fetched(self, leaf: ArrayArgument) -> np.ndarray[Any, Any]:
        extent = extent_of(leaf)
        buffer = np.empty(extent.size, np.uint8)
        if extent.size:
            _copy(buffer.ctypes.data, extent.start, extent.size, leaf.location)
        offset = leaf.address - extent.start
        return np.ndarray(leaf.shape, leaf.dtype.numpy, buffer, offset, leaf.strides).copy()


def _difference(new: Any, old: Any, tolerance: float | None) -> str:
    """Describe how results differ from the expected ones; empty if they are as close as allowed."""
    if new.dtype.names:
        found = (_difference(new[n], old[n], tolerance) for n in new.dtype.names)
        return next(filter(None, found), "")
    if new.dtype.kind in "fc":
        allowed = float(np.finfo(new.dtype).eps) ** 0.5 if tolerance is None else tolerance
        finite = np.abs(old[np.isfinite(old)])
        scale = float(finite.max()) if finite.size else 0.0
        wrong = ~np.isclose(new, old, rtol=allowed, atol=allowed * scale, equal_nan=True)
    else:
        wrong = new != old
    if not np.any(wrong):
        return ""
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    return f"element {index} is {new[index]}, not {old[index]} ({np.count_nonzero(wrong)} differ)"


def main(path: str, timeout: float, cold_cache: bool) -> None:
    """Answer the requests on stdin until it is closed."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # kernels may print
    with open(path, "rb") as file:
        session = MeasuringSession(pickle.load(file), timeout, cold_cache)
    while True:
        try:
            name, *arguments = pickle.load(requests)
        except EOFError:
            return
        answer: tuple[str, Any]
        try:
            answer = "done", getattr(session, name)(*arguments)
        except Exception as error:
            answer = "failed", f"{type(error).__name__}: {error}"
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), sys.argv[3] == "cold")
