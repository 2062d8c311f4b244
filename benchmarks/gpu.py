"""Times of hand-written CUDA C and of the same kernels in Python, on CUDA device 0.

usage: python benchmarks/gpu.py [NAME …]

Both are compiled by the same NVRTC with the same flags and timed by CUDA events on the default
stream, in turns; a time is the median of the repeats. The table comes last.
"""

from __future__ import annotations

import statistics
import struct
import sys
from collections.abc import Callable, Sequence

import numpy as np

from figures import keep
from gpu_rows import ROWS, Row
from problems import Problem
from pycu2c.cuda import DeviceArray, to_device
from pycu2c.cuda_driver import driver
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.toolchain.nvrtc import nvrtc

REPEATS = 15
BATCH_MS = 20.0  # a repeat launches as often as fits
Launch = Callable[[], None]


class Timer:
    """Two events around a batch of launches."""

    def __init__(self) -> None:
        driver.make_current()
        api = driver.api()
        self.start, self.stop = (
            driver.check(api.cuEventCreate(0), "make an event") for _ in range(2)
        )

    def milliseconds(self, launch: Launch, count: int) -> float:
        """The time of one launch."""
        api = driver.api()
        driver.check(api.cuEventRecord(self.start, 0), "record an event")
        for _ in range(count):
            launch()
        driver.check(api.cuEventRecord(self.stop, 0), "record an event")
        driver.check(api.cuEventSynchronize(self.stop), "wait for an event")
        return driver.check(api.cuEventElapsedTime(self.start, self.stop), "read a time") / count


def hand(row: Row, problem: Problem, arrays: Sequence[DeviceArray]) -> Launch:
    """The launch of the hand-written kernel, its arguments packed once."""
    binary = nvrtc.compile(row.hand, row.name, driver.arch(), cache=False)
    kernel = CudaKernel(binary)
    addresses = (array.address for array in arrays)
    packed = struct.pack(f"@{row.packed}", *addresses, *problem.numbers, *problem.sizes)
    return lambda: kernel.launch(row.grid, row.block, 0, None, packed)


def ours(row: Row, problem: Problem, arrays: Sequence[DeviceArray]) -> Launch:
    """The launch of the kernel in Python."""
    configured = row.ours[row.grid, row.block]
    return lambda: configured(*arrays, *problem.numbers)


def measure(row: Row, timer: Timer) -> tuple[float, float]:
    """Milliseconds of the hand-written kernel and of ours, once their results agree."""
    problem = row.problem(row.size)
    # one set of arrays for both: where an array lies in memory can cost a few percent
    arrays = [to_device(array) for array in problem.arrays]
    launches = hand(row, problem, arrays), ours(row, problem, arrays)
    results = []
    for launch in launches:
        erase(arrays[0])
        launch()
        results.append(arrays[0].copy_to_host())
    agree(row, problem, *results)
    counts = [max(1, round(BATCH_MS / timer.milliseconds(launch, 3))) for launch in launches]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        for launch, count, found in zip(launches, counts, times, strict=True):
            found.append(timer.milliseconds(launch, count))
    return statistics.median(times[0]), statistics.median(times[1])


def erase(array: DeviceArray) -> None:
    """Fill with a pattern that no kernel writes: what is not computed does not agree."""
    driver.check(driver.api().cuMemsetD8(array.address, 0xA5, array.nbytes), "erase an array")


def agree(row: Row, problem: Problem, expected: np.ndarray, got: np.ndarray) -> None:
    if not np.any(expected):
        raise SystemExit(f"{row.name}: the hand-written kernel wrote nothing")
    share = problem.share_of_close(got, expected)
    if share < problem.agreement:
        raise SystemExit(f"{row.name}: only {share:.2%} of the results agree")


def table(measured: Sequence[tuple[Row, float, float]]) -> str:
    lines = [f"{'kernel':<26}| {'hand ms':>9} | {'pycu2c ms':>9} | {'ratio':>6}"]
    for row, by_hand, own in measured:
        lines.append(f"{row.title:<26}| {by_hand:>9.4f} | {own:>9.4f} | {own / by_hand:>6.3f}")
    return "\n".join(lines)


def main(names: Sequence[str]) -> None:
    known = {row.name: row for row in ROWS}
    if unknown := set(names) - set(known):
        raise SystemExit(f"no rows {sorted(unknown)}; there are {', '.join(known)}")
    if not driver.available():
        raise SystemExit(f"no GPU to measure: {driver.unavailable_reason()}")
    timer, measured = Timer(), []
    for row in [known[name] for name in names] or ROWS:
        measured.append((row, *measure(row, timer)))
        print(f"measured {row.name}", flush=True)
    major, minor = nvrtc.version()
    print(f"\n{driver.device().name}, NVRTC {major}.{minor}")
    print(table(measured))
    keep("gpu", {row.title: {"hand": h, "pycu2c": own} for row, h, own in measured})


if __name__ == "__main__":
    main(sys.argv[1:])
