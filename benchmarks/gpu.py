"""Time hand-written CUDA C and the same kernels in Python on CUDA device 0.

usage: python benchmarks/gpu.py [NAME …]

NVRTC compiles both with the same flags. CUDA events on the default stream time them alternately;
a time is the median of the repeats. The script prints the table last.
"""

from __future__ import annotations

import statistics
import struct
import sys
from collections.abc import Callable, Sequence

import numpy as np

from gpu_cases import CASES, Case
from gpu_timer import Timer
from problems import Problem
from pycu2c.cuda import DeviceArray, to_device
from pycu2c.cuda_driver import driver
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.toolchain.nvrtc import nvrtc
from results import save

REPEATS = 15
BATCH_MS = 20.0  # duration of a repeat
Launch = Callable[[], None]


def hand_written(case: Case, problem: Problem, arrays: Sequence[DeviceArray]) -> Launch:
    """Return a launch of the hand-written kernel with arguments that are packed once."""
    binary = nvrtc.compile(case.hand_written, case.name, driver.arch(), cache=False)
    kernel = CudaKernel(binary)
    addresses = (array.address for array in arrays)
    packed = struct.pack(f"@{case.packed}", *addresses, *problem.numbers, *problem.sizes)
    return lambda: kernel.launch(case.grid, case.block, 0, None, packed)


def python_kernel(case: Case, problem: Problem, arrays: Sequence[DeviceArray]) -> Launch:
    """Return a launch of the kernel in Python."""
    configured = case.kernel[case.grid, case.block]
    return lambda: configured(*arrays, *problem.numbers)


def measure(case: Case, timer: Timer) -> tuple[float, float]:
    """Return the milliseconds of the hand-written kernel and of pycu2c's, whose results agree."""
    problem = case.problem(case.size)
    # both use the same arrays, since the address of an array can change times by a few percent
    arrays = [to_device(array) for array in problem.arrays]
    launches = hand_written(case, problem, arrays), python_kernel(case, problem, arrays)
    results = []
    for launch in launches:
        fill_with_pattern(arrays[0])
        launch()
        results.append(arrays[0].copy_to_host())
    check_agreement(case, problem, *results)
    counts = [max(1, round(BATCH_MS / timer.milliseconds(launch, 3))) for launch in launches]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(REPEATS):
        for launch, count, samples in zip(launches, counts, times, strict=True):
            samples.append(timer.milliseconds(launch, count))
    return statistics.median(times[0]), statistics.median(times[1])


def fill_with_pattern(array: DeviceArray) -> None:
    """Fill an array with a pattern that no kernel writes, so that missing results are found."""
    driver.check(driver.api().cuMemsetD8(array.address, 0xA5, array.nbytes), "fill an array")


def check_agreement(case: Case, problem: Problem, expected: np.ndarray, got: np.ndarray) -> None:
    if not np.any(expected):
        raise SystemExit(f"{case.name}: the hand-written kernel wrote nothing")
    share = problem.share_of_close(got, expected)
    if share < problem.agreement:
        raise SystemExit(f"{case.name}: only {share:.2%} of the results agree")


def table(measured: Sequence[tuple[Case, float, float]]) -> str:
    lines = [f"{'kernel':<26}| {'hand-written ms':>15} | {'pycu2c ms':>9} | {'ratio':>6}"]
    for case, by_hand, own in measured:
        lines.append(f"{case.title:<26}| {by_hand:>15.4f} | {own:>9.4f} | {own / by_hand:>6.3f}")
    return "\n".join(lines)


def main(names: Sequence[str]) -> None:
    known = {case.name: case for case in CASES}
    if unknown := set(names) - set(known):
        raise SystemExit(f"no cases {sorted(unknown)}; there are {', '.join(known)}")
    if not driver.available():
        raise SystemExit(f"no GPU to measure: {driver.unavailable_reason()}")
    timer, measured = Timer(), []
    for case in [known[name] for name in names] or CASES:
        measured.append((case, *measure(case, timer)))
        print(f"measured {case.name}", flush=True)
    major, minor = nvrtc.version()
    print(f"\n{driver.device().name}, NVRTC {major}.{minor}")
    print(table(measured))
    save("gpu", {case.title: {"hand-written": h, "pycu2c": own} for case, h, own in measured})


if __name__ == "__main__":
    main(sys.argv[1:])
