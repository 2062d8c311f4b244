"""The number of OS threads: the environment variable, bound cores, the container's limit."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pycu2c.runtime.cpu import thread_count


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of 64 cores, without limits, until a test writes some."""
    monkeypatch.delenv("PYCU2C_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    monkeypatch.setattr(thread_count, "ROOT", str(tmp_path))
    return tmp_path


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_the_environment_variable_takes_precedence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_THREADS", "3")
    assert thread_count.thread_count() == 3


def test_else_the_cores_that_the_process_is_bound_to(monkeypatch: pytest.MonkeyPatch) -> None:
    assert thread_count.thread_count() == 64
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    assert thread_count.thread_count() == 2


@pytest.mark.parametrize("name", ["LOCAL_WORLD_SIZE", "MPI_LOCALNRANKS"])
def test_processes_of_a_launcher_share_the_cores(
    machine: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "4")
    assert thread_count.thread_count() == 16
    write(machine, {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "800000 100000\n"})
    assert thread_count.thread_count() == 2
    monkeypatch.setenv(name, "100")
    assert thread_count.thread_count() == 1


@pytest.mark.parametrize(("bound", "expected"), [(8, 8), (16, 16), (32, 16)])
def test_processes_that_a_launcher_binds_to_cores(
    monkeypatch: pytest.MonkeyPatch, bound: int, expected: int
) -> None:
    """Open MPI binds more than two processes to NUMA nodes, whose cores several share."""
    monkeypatch.setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64 if pid else bound)))
    assert thread_count.thread_count() == expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # a container sees its own group as the root
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 64),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "10000 100000\n"}, 1),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "9900000 100000\n"}, 64),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "nonsense\n"}, 64),
        ({"proc/self/cgroup": "0::/\n"}, 64),
        # the least share of those on the way up
        (
            {
                "proc/self/cgroup": "0::/user.slice/job\n",
                "sys/fs/cgroup/user.slice/job/cpu.max": "max 100000\n",
                "sys/fs/cgroup/user.slice/cpu.max": "300000 100000\n",
            },
            3,
        ),
        # version 1, where the path is often not that inside of the container
        (
            {
                "proc/self/cgroup": "7:memory:/docker/1\n4:cpu,cpuacct:/docker/1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            4,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,cpuacct:/\n",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
            },
            64,
        ),
    ],
)
def test_the_share_of_a_container(machine: Path, files: dict[str, str], expected: int) -> None:
    write(machine, files)
    assert thread_count.thread_count() == expected
