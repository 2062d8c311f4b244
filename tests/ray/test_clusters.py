"""Kernels in the tasks and actors of Ray, and the example with checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray

from pycu2c import LaunchError, cuda, device, kernel
from pycu2c.cuda_driver import driver
from pycu2c.kernels.kernel import Backend
from pycu2c.runtime.cpu.thread_count import thread_count
from support.kernels_from_text import module_from_file

EXAMPLE = Path(__file__).parents[2] / "examples" / "cluster" / "monte_carlo.py"
BATCHES = 6


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two processes, each with a GPU; they run on the CPU where there is none."""
    ray.init(num_cpus=2, num_gpus=len(cuda.gpus) or 2, include_dashboard=False)
    yield
    ray.shutdown()


def scaled_by(factor: float, backend: Backend) -> Any:
    @device
    def times(x):
        return factor * x

    @kernel(backend=backend, block=32)
    def scale(a, out):
        i = cuda.grid(1)
        if i < len(out):
            out[i] = times(a[i])

    return scale


def test_a_task_reads_the_object_store() -> None:
    """A kernel of a closure reads an array in shared memory without a copy; it cannot write it."""

    def launch(scale: Any, a: np.ndarray) -> Any:
        out = np.empty_like(a)
        scale(a, out)  # compiles
        tracemalloc.start()
        scale(a, out)
        copied = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        with pytest.raises(LaunchError, match=r"\(out\) is written, and it is read-only: pass a c"):
            scale(out, a)
        return out, a.flags.writeable, copied < a.nbytes // 8

    a = np.random.default_rng(1).random(100_000)
    stored, task = ray.put(a), ray.remote(launch)
    for factor in (2.0, 3.0):
        out, *memory = ray.get(task.remote(scaled_by(factor, "cpu"), stored))
        assert np.array_equal(out, factor * a)
        assert memory == [False, True]


def test_an_actor_holds_a_kernel_and_a_device_array() -> None:
    class Holder:
        def __init__(self, scale: Any, a: np.ndarray) -> None:
            self.scale, self.a = scale, cuda.to_device(a)

        def step(self) -> None:
            self.scale(self.a, self.a)

        def result(self, on_device: bool) -> Any:
            return self.a if on_device else self.a.copy_to_host()

    holder = ray.remote(num_gpus=1)(Holder).remote(scaled_by(2.0, "auto"), np.arange(50.0))
    for _ in range(3):
        holder.step.remote()
    assert np.array_equal(ray.get(holder.result.remote(False)), np.arange(50.0) * 8)
    with pytest.raises(TypeError, match=r"pickle the result of copy_to_host\(\)"):
        ray.get(holder.result.remote(True))


def test_the_pool_has_the_cpus_of_the_task() -> None:
    counts = {}
    for cpus in (0.5, 1, 2):
        counts[cpus] = ray.get(ray.remote(num_cpus=cpus)(thread_count).remote())
    assert counts == {0.5: 1, 1: 1, 2: min(2, thread_count())}

    class Actor:
        def count(self) -> int:
            return thread_count()

    assert ray.get(ray.remote(Actor).remote().count.remote()) == 1


def test_a_gpu_for_each_task() -> None:
    """Ray sets CUDA_VISIBLE_DEVICES in a running process, where an argument must not use CUDA."""

    @kernel(block=32)
    def fill(a):
        i = cuda.grid(1)
        if i < len(a):
            a[i] = i

    def launch(fill: Any) -> Any:
        is_early = driver._probe.cache_info().currsize > 0
        a = np.zeros(100)
        fill(a)
        return is_early, os.environ["CUDA_VISIBLE_DEVICES"], a

    is_early, visible, a = ray.get(ray.remote(num_gpus=1)(launch).remote(fill))
    assert not is_early
    assert visible.isdigit()
    assert np.array_equal(a, np.arange(100))


@pytest.fixture(scope="module")
def expected() -> list[int]:
    """The counts of the example by one process."""
    monte_carlo = module_from_file(EXAMPLE)
    return sum(map(monte_carlo.count_fates, range(BATCHES))).tolist()


def test_a_killed_worker(tmp_path: Path, expected: list[int]) -> None:
    """It dies in a batch when two others are done; Ray repeats the batch in another process."""
    monte_carlo, killed = module_from_file(EXAMPLE), tmp_path / "killed"
    count_fates = monte_carlo.count_fates

    def dying(batch: int) -> np.ndarray:
        counts = count_fates(batch)
        if batch == 3 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return counts

    monte_carlo.count_fates = dying
    assert monte_carlo.simulated(BATCHES, tmp_path / "checkpoint.npz").tolist() == expected
    assert killed.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from support.kernels_from_text import module_from_file

monte_carlo = module_from_file(Path(sys.argv[1]))
save = monte_carlo.save

def save_twice(checkpoint, done, counts):
    save(checkpoint, done, counts)
    if len(done) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

monte_carlo.save = save_twice
monte_carlo.main(sys.argv[2:])
"""


def test_a_killed_program_continues(tmp_path: Path, expected: list[int]) -> None:
    """From the two batches of its checkpoint, on the same cluster."""
    address = ray.get_runtime_context().gcs_address
    environment = os.environ | {"RAY_ADDRESS": address, "PYTHONPATH": os.pathsep.join(sys.path)}
    options = ("--batches", str(BATCHES), "--checkpoint", str(tmp_path / "checkpoint.npz"))

    def run(*program: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *program, *options]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)

    killed = run("-c", KILLED, str(EXAMPLE))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    continued = run(str(EXAMPLE))
    assert continued.returncode == 0, continued.stderr
    assert continued.stdout.startswith("2 of 6 batches are in ")
    for fate, count in zip(("reflected", "transmitted", "absorbed"), expected):
        assert f"{fate}: {count} of {sum(expected)} photons" in continued.stdout
