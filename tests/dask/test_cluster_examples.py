"""The programs in examples/cluster that run on Dask compare their results with one process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import pytest
from distributed import Client, WorkerPlugin

from pycu2c.dask import local_cluster

FOLDER = Path(__file__).parents[2] / "examples" / "cluster"
SMALL = {
    "heat": ("--size", "200", "--chunk", "100", "--steps", "50"),
    "k_means": ("--size", "20000", "--chunk", "2500", "--iterations", "5"),
    "sweep": ("--size", "30", "--batch", "30", "--steps", "300"),
}


def output(name: str, *options: str) -> str:
    """Return what an example prints. Its kernels are in ``__main__``, so they travel by value."""
    ran = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py", *SMALL[name], *options],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    timeout = dask.config.set({"distributed.comm.timeouts.connect": "3s"})  # to a dead worker
    with timeout, local_cluster(2, dashboard_address=":0") as cluster, Client(cluster) as client:
        yield client


class KillOneWorker(WorkerPlugin):
    """The first worker that has computed a number of tasks kills itself."""

    def __init__(self, count: int, killed: Path) -> None:
        self.count, self.killed = count, killed

    def transition(self, key: object, start: str, finish: str, **kwargs: Any) -> None:
        if (start, finish) != ("executing", "memory"):
            return
        self.count -= 1
        if self.count == 0 and not self.killed.exists():
            self.killed.write_text(str(key))
            os.kill(os.getpid(), signal.SIGKILL)


def test_the_command_of_a_laptop() -> None:
    assert "bit by bit" in output("heat", "--workers", "2")


@pytest.mark.parametrize("name", SMALL)
def test_a_worker_is_killed(name: str, client: Client, tmp_path: Path) -> None:
    """The results of two processes are right, although Dask repeats the tasks of one."""
    killed = tmp_path / "killed"
    client.register_plugin(KillOneWorker(10, killed), name=name)
    assert "bit by bit" in output(name, "--scheduler", client.scheduler.address)
    assert killed.read_text()
