"""Estimate the scaling of the heat example to many GPUs from measurements on two.

usage: python benchmarks/scaling_model.py [FOLDER]

FOLDER contains scaling.json and messages.json, which benchmarks/scaling.py writes. The plate is
divided into slabs of rows. A step takes the longer of

- the rows without neighbors: their elements over the measured rate of one GPU,
- the exchange, latency + bytes / bandwidth, and the edge rows after it,
- the calls of the host,

and a fixed time for the order of the two streams, which is measured, too. Within a machine of
eight GPUs, latency and bandwidth are those of NCCL over NVLink on two GPUs. Between machines, they
are assumed: 50 GB/s for each GPU (400 Gbit/s), and 10 µs more. Noise of the processors and of the
network is not in the model.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

NETWORK_BANDWIDTH, NETWORK_LATENCY = 50e9, 10e-6  # bytes/s and s, assumed
MACHINE = 8  # GPUs
ITEMSIZE, SIDE = 4, 1 << 14  # of the measured plate of one GPU
COUNTS = 1, 2, 8, 64, 256, 1024


class Model:
    """The measured times, in seconds."""

    def __init__(self, scaling: dict, messages: dict) -> None:
        weak = scaling["heat by NCCL, weak"]
        self.rate = SIDE * SIDE / (weak["1"] * 1e-3)  # elements/s of one GPU
        self.order = max(0.0, weak["2"] - weak["1"]) * 1e-3
        self.host = messages["exchange"]["65536"] * 1e-6
        exchange = {
            int(size): time * 1e-6 for size, time in messages["exchange in a graph"].items()
        }
        largest = max(exchange)
        self.latency = min(exchange.values())
        self.bandwidth = largest / exchange[largest]

    def step(self, rows: float, columns: int, gpus: int) -> float:
        """Return the time of a step with a slab of some rows for each GPU."""
        inner = rows * columns / self.rate
        if gpus == 1:
            return inner
        latency, bandwidth = self.latency, self.bandwidth
        if gpus > MACHINE:  # the slowest pair of neighbors
            latency, bandwidth = latency + NETWORK_LATENCY, min(bandwidth, NETWORK_BANDWIDTH)
        exchange = latency + columns * ITEMSIZE / bandwidth
        return max(inner, exchange + 2 * columns / self.rate, self.host) + self.order


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/benchmarks")
    scaling, messages = (
        json.loads((folder / f"{name}.json").read_text())["results"]
        for name in ("scaling", "messages")
    )
    model = Model(scaling, messages)
    print(
        f"rate {model.rate / 1e9:.0f}e9 elements/s, exchange {model.latency * 1e6:.0f} µs + bytes"
    )
    print(f"/ {model.bandwidth / 1e9:.0f} GB/s, host {model.host * 1e6:.0f} µs")
    print(f"{'GPUs':>5} {'weak, 16384² each':>20} {'strong, 131072² in all':>24}")
    total = 8 * SIDE
    for gpus in COUNTS:
        weak = model.step(SIDE, SIDE, 1) / model.step(SIDE, SIDE, gpus)
        strong = model.step(total, total, 1) / gpus / model.step(total / gpus, total, gpus)
        print(f"{gpus:5} {weak:20.3f} {strong:24.3f}")


if __name__ == "__main__":
    main()
