"""Estimate the scaling of the heat example to many GPUs from measurements on some.

usage: python benchmarks/scaling_model.py [FOLDER]

FOLDER contains scaling.json and messages.json, which benchmarks/scaling.py writes. The plate is
divided into slabs of rows. A step takes the longer of

- the rows without neighbours, by the measured rate of one GPU, and the measured excess of all GPUs,
- a step of small slabs, and the bytes of a halo over the bandwidth.

Excess and small step are those of the greatest measured number of GPUs, whose inner slabs have two
neighbours. Within a machine of eight GPUs, the bandwidth is that of NCCL over NVLink on two GPUs.
Between machines, 50 GB/s for each GPU (400 Gbit/s) and 10 µs more are assumed. Noise of the
processors and of the network is not in the model. The script also compares the model of one and two
GPUs with measurements on more.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

NETWORK_BANDWIDTH, NETWORK_LATENCY = 50e9, 10e-6  # bytes/s and s, assumed
MACHINE = 8  # GPUs
ITEMSIZE, SIDE = 4, 1 << 14  # of the measured plate of one GPU
COUNTS = 1, 2, 4, 8, 64, 256, 1024


class Model:
    """The measured times, in seconds, of up to some number of GPUs."""

    def __init__(self, scaling: dict, messages: dict, greatest: int) -> None:
        weak, key = scaling["heat by NCCL, weak"], str(greatest)
        self.rate = SIDE * SIDE / (weak["1"] * 1e-3)  # elements/s of one GPU
        self.excess = weak[key] / weak["1"]
        self.small = scaling["heat by NCCL, small"][key] * 1e-3
        size = max(messages["exchange in a graph"], key=int)
        self.bandwidth = int(size) / (messages["exchange in a graph"][size] * 1e-6)

    def step(self, rows: float, columns: int, gpus: int) -> float:
        """Return the time of a step with a slab of some rows for each GPU."""
        inner = rows * columns / self.rate
        if gpus == 1:
            return inner
        latency, bandwidth = 0.0, self.bandwidth
        if gpus > MACHINE:  # the slowest pair of neighbours
            latency, bandwidth = NETWORK_LATENCY, min(bandwidth, NETWORK_BANDWIDTH)
        exchange = self.small + latency + columns * ITEMSIZE / bandwidth
        return max(inner * self.excess, exchange)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/benchmarks")
    scaling, messages = (
        json.loads((folder / f"{name}.json").read_text())["results"]
        for name in ("scaling", "messages")
    )
    measured = sorted(map(int, scaling["heat by NCCL, weak"]))
    model = Model(scaling, messages, measured[-1])
    print(f"{model.rate / 1e9:.0f}e9 elements/s, {model.bandwidth / 1e9:.0f} GB/s, ", end="")
    print(f"small step {model.small * 1e6:.0f} µs, all GPUs {model.excess:.3f} times as long")
    print(f"{'GPUs':>5} {'weak, 16384² each':>20} {'strong, 131072² in all':>24}")
    total = 8 * SIDE
    for gpus in COUNTS:
        weak = model.step(SIDE, SIDE, 1) / model.step(SIDE, SIDE, gpus)
        strong = model.step(total, total, 1) / gpus / model.step(total / gpus, total, gpus)
        print(f"{gpus:5} {weak:20.3f} {strong:24.3f}")
    print("\nfrom one and two GPUs, ms of a step, model and measured")
    model = Model(scaling, messages, 2)
    for gpus in measured[2:]:
        for case, rows, columns in ("weak", SIDE, SIDE), ("strong", 2 * SIDE // gpus, 2 * SIDE):
            estimate = model.step(rows, columns, gpus) * 1e3
            print(f"{gpus:5} {case:6} {estimate:.4f} {scaling[f'heat by NCCL, {case}'][str(gpus)]}")
        small = scaling["heat by NCCL, small"][str(gpus)]
        print(f"{gpus:5} small  {model.step(128, 1024, gpus) * 1e3:.4f} {small}")


if __name__ == "__main__":
    main()
