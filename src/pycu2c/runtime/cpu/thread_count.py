"""Determine how many threads run kernels on the CPU."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from pycu2c.base.errors import environment_setting, parse_count

ROOT = "/"


def thread_count() -> int:
    """Return PYCU2C_THREADS, or the available cores.

    They are limited by the CPU affinity, cgroup quotas, the threads of a worker of Dask, and the
    CPUs of a task of Ray. Processes of torchrun and MPI share the cores.
    """
    parse = partial(parse_count, least=1)
    chosen = environment_setting("PYCU2C_THREADS", parse, "a number of threads, 1 or more", 0)
    if chosen:
        return chosen
    processes = _local_processes()
    cores = _usable_cores(processes), min(_cgroup_quotas(ROOT)) // processes
    return max(1, min(*cores, _dask_threads(), _ray_cpus()))


def _usable_cores(processes: int) -> int:
    """Return the cores of this process: its share of those of the launcher, if it has as many.

    A launcher may bind each process to some cores, or several processes to the same cores.
    """
    if not hasattr(os, "sched_getaffinity"):
        return (os.cpu_count() or 1) // processes
    own = os.sched_getaffinity(0)
    if processes == 1:
        return len(own)
    launchers = os.sched_getaffinity(os.getppid())
    return min(len(own), len(launchers) // processes) if own <= launchers else len(own)


_LOCAL_PROCESSES = "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"


def _local_processes() -> int:
    """Return how many processes torchrun, Open MPI or MPICH has started on this machine."""
    counts = (os.environ.get(name, "") for name in _LOCAL_PROCESSES)
    return next((int(count) for count in counts if count.isdigit() and int(count)), 1)


def _dask_threads() -> int:
    """Return the threads of the worker of Dask that runs this task, which share its cores."""
    distributed: Any = sys.modules.get("distributed")
    try:
        return int(distributed.get_worker().state.nthreads) if distributed else _NO_QUOTA
    except ValueError:  # this is no task
        return _NO_QUOTA


def _ray_cpus() -> int:
    """Return the CPUs of the task or actor of Ray that runs in this process."""
    is_imported = "ray.runtime_context" in sys.modules  # "ray" may be a module of the program
    ray: Any = sys.modules["ray"] if is_imported else None
    if ray is None or not ray.is_initialized():  # get_runtime_context would start a cluster
        return _NO_QUOTA
    context = ray.get_runtime_context()
    if context.worker.mode != ray.WORKER_MODE:  # this is the driver
        return _NO_QUOTA
    return int(context.get_assigned_resources().get("CPU", 1))  # an actor may have none


def _cgroup_quotas(root: str) -> Iterator[int]:
    """Yield the cores, rounded up, that each control group of this process may use."""
    yield _NO_QUOTA
    for line in _read_text(root, "proc/self/cgroup").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        if not controllers:  # version 2: one file, "quota period"
            mount_point = os.path.join(root, "sys/fs/cgroup")
            for folder in _cgroup_ancestors(mount_point, path):
                yield _quota_cores(*_read_text(folder, "cpu.max").split())
        elif "cpu" in controllers.split(","):  # version 1
            for folder in _cgroup_ancestors(os.path.join(root, "sys/fs/cgroup/cpu"), path):
                names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                yield _quota_cores(*(_read_text(folder, name).strip() for name in names))


_NO_QUOTA = 1 << 20


def _cgroup_ancestors(mount_point: str, path: str) -> Iterator[str]:
    """Yield the folder of a control group and of its ancestors."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for count in range(len(parts), -1, -1):
        yield os.path.join(mount_point, *parts[:count])


def _quota_cores(quota: str = "", period: str = "") -> int:
    """Return the cores of a quota; ``max`` and -1 mean no limit."""
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return _NO_QUOTA
    return -(-int(quota) // int(period))


def _read_text(folder: str, name: str) -> str:
    try:
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
