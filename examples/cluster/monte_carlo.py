"""Light through fog: photons that scatter in a slab, in batches that Ray distributes.

Ray runs the batches on the cores or GPUs of a cluster, and repeats that of a process that dies.
The random numbers of a photon are a function of its number, and the results are counts. So they
are equal, bit by bit, in all processes and in each order of the batches. After each batch, the
counts are written to a checkpoint, from which a killed program continues.

    python examples/cluster/monte_carlo.py --workers 2
"""

from __future__ import annotations

import argparse
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import ray
from ray.util import ActorPool

from pycu2c import cuda, kernel
from pycu2c.cuda.random import philox_uniform_float32x4

THICKNESS = 2.0  # of the slab, in mean free paths
ALBEDO = 0.9  # the share of collisions that scatter; the others absorb
ASYMMETRY = 0.75  # the mean cosine of the angle by which light scatters
EXACT = {"reflected": 0.09739, "transmitted": 0.66096}  # van de Hulst, Multiple Light Scattering
FATES = ("reflected", "transmitted", "absorbed")
BATCH = 1 << 20  # photons
SEED = 2024


@kernel(block=128, weak_float="float32")
def trace(first, count, counts):
    """Follow a photon from collision to collision (Henyey–Greenstein scattering)."""
    i = cuda.grid(1)
    if i >= count:
        return
    depth, cosine = 0.0, 1.0  # the photon enters at right angles
    fate, collisions = -1, 0
    while fate < 0:
        path, survives, turn, azimuth = philox_uniform_float32x4(SEED, first + i, collisions)
        depth -= cosine * math.log(1 - path)
        if depth < 0:
            fate = 0
        elif depth > THICKNESS:
            fate = 1
        elif survives >= ALBEDO:
            fate = 2
        ratio = (1 - ASYMMETRY**2) / (1 - ASYMMETRY + 2 * ASYMMETRY * turn)
        scattered = (1 + ASYMMETRY**2 - ratio**2) / (2 * ASYMMETRY)
        sines = math.sqrt(max(0.0, (1 - cosine**2) * (1 - scattered**2)))
        cosine = cosine * scattered + sines * math.cos(2 * math.pi * azimuth)
        collisions += 1
    cuda.atomic.add(counts, fate, 1)


def count_fates(batch: int) -> np.ndarray:
    """Return how many photons of a batch are reflected, transmitted and absorbed."""
    counts = np.zeros(len(FATES), np.int64)
    trace.forall(BATCH)(batch * BATCH, BATCH, counts)
    return counts


def load(checkpoint: Path) -> tuple[list[int], np.ndarray]:
    """Return the batches that are done, and their counts."""
    if not checkpoint.exists():
        return [], np.zeros(len(FATES), np.int64)
    with np.load(checkpoint) as saved:
        return saved["done"].tolist(), saved["counts"]


def save(checkpoint: Path, done: list[int], counts: np.ndarray) -> None:
    """Replace the checkpoint in one step, so that a killed program leaves a complete one."""
    checkpoint.parent.mkdir(parents=True, exist_ok=True)
    following = checkpoint.with_suffix(".new.npz")
    np.savez(following, done=done, counts=counts)
    os.replace(following, checkpoint)


class Worker:
    """An actor. If its process dies, Ray starts another and repeats the batch."""

    def count(self, batch: int) -> tuple[int, np.ndarray]:
        return batch, count_fates(batch)


def simulated(batches: int, checkpoint: Path) -> np.ndarray:
    """Return the counts of all batches; the cluster runs those that are not in the checkpoint."""
    done, counts = load(checkpoint)
    print(f"{len(done)} of {batches} batches are in {checkpoint}")
    missing = [batch for batch in range(batches) if batch not in done]

    resources = ray.cluster_resources()
    kind = "GPU" if "GPU" in resources else "CPU"
    actor: Any = ray.remote(max_restarts=-1, max_task_retries=3)(Worker)
    actor = actor.options(num_cpus=1, num_gpus=int(kind == "GPU"))
    pool = ActorPool([actor.remote() for _ in range(int(resources[kind]))])
    for batch, counted in pool.map_unordered(lambda worker, b: worker.count.remote(b), missing):
        done.append(batch)
        counts += counted
        save(checkpoint, done, counts)
    return counts


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--workers", type=int, help="CPUs of a new cluster; default: all")
    options.add_argument("--batches", type=int, default=32, help="of 2**20 photons; default: 32")
    default = Path("out/monte_carlo.npz")
    options.add_argument("--checkpoint", type=Path, default=default, help=f"default: {default}")
    given = options.parse_args(arguments)
    if given.workers and "RAY_ADDRESS" in os.environ:
        options.error("--workers is for a new cluster, and RAY_ADDRESS names one")
    ray.init(num_cpus=given.workers)  # joins the cluster of RAY_ADDRESS, if that is set
    counts = simulated(given.batches, given.checkpoint)

    photons = counts.sum()
    for fate, count in zip(FATES, counts):
        print(f"{fate}: {count} of {photons} photons")
    for fate, exact in EXACT.items():
        difference = abs(counts[FATES.index(fate)] / photons - exact)
        allowed = 5 * math.sqrt(exact * (1 - exact) / photons) + 5e-6  # that of a rounded figure
        if difference > allowed:
            raise SystemExit(f"FAILED: {fate}: {difference:.3g} off, {allowed:.3g} allowed")
        print(f"checked: {fate}: {difference:.3g} off, {allowed:.3g} allowed")
    given.checkpoint.unlink()


if __name__ == "__main__":
    main()
