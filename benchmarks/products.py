"""Time matrix products and attention beside PyTorch's libraries and Triton, on CUDA device 0.

usage: python benchmarks/products.py [--cpu] [MODULE …]

The modules are matrix_products, float32_products and attention. The results are compared before
they are timed. CUDA events time batches of all in turns; a time is the median of the rounds. Triton
is timed if it is installed. --cpu compares small cases on the CPU with NumPy, without timing them.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from gpu_timer import Timer
from results import Results, save

MODULES = "matrix_products", "float32_products", "attention"
ROUNDS = 7
BATCH_MS = 20.0


@dataclass(frozen=True)
class Case:
    """A kernel and functions of libraries, by name, on the same arrays.

    compare: raises an error if the results differ.
    """

    name: str
    ours: Callable[[], object]
    libraries: dict[str, Callable[[], object]]
    operations: float
    compare: Callable[[], object]


def measure(case: Case) -> dict[str, float]:
    """Return the milliseconds of all."""
    timer, launches = Timer(), {"pycu2c": case.ours, **case.libraries}
    for launch in launches.values():
        launch()
    case.compare()
    count = max(2, round(BATCH_MS / timer.milliseconds(case.ours, 2)))
    rounds = [[timer.milliseconds(f, count) for f in launches.values()] for _ in range(ROUNDS)]
    times = dict(zip(launches, map(statistics.median, zip(*rounds))))
    ours = times["pycu2c"]
    ratios = [f"{times[name] / ours:5.3f} of {name}" for name in case.libraries]
    speed = f"{case.operations / ours * 1e-9:7.1f} TFLOP/s"
    print(f"{case.name:26} {ours:8.3f} ms {speed}, {', '.join(ratios)}", flush=True)
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("modules", nargs="*", metavar="MODULE", default=MODULES)
    options = parser.parse_args()
    results: Results = {}
    for module in map(importlib.import_module, options.modules):
        if options.cpu:
            module.check_on_cpu()
            continue
        for case in module.cases():
            results[case.name] = measure(case)
    if results:
        save("products", results)


if __name__ == "__main__":
    main()
