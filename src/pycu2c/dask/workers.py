"""Start the worker processes of one machine."""

from __future__ import annotations

import os
from typing import Any

from dask.system import CPU_COUNT
from distributed import LocalCluster, Nanny

from pycu2c.cuda_driver import driver


def local_cluster(n_workers: int | None = None, **options: Any) -> Any:
    """Start worker processes on this machine, each with one GPU or with a share of the cores.

    Parameters
    ----------
    n_workers : int, optional
        The number of processes; by default one for each GPU, or on the CPU the choice of Dask.
        More workers than GPUs are assigned to them in turn.
    **options : object
        Options of ``distributed.LocalCluster``; with GPUs and dask-cuda installed, those of
        ``dask_cuda.LocalCUDACluster``.

    Returns
    -------
    LocalCluster
        The cluster, for ``distributed.Client`` and for a ``with`` statement.

    Examples
    --------
    >>> from distributed import Client
    >>> from pycu2c.dask import local_cluster
    >>> with local_cluster(2) as cluster, Client(cluster) as client:  # doctest: +SKIP
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    gpus = _visible_gpus()
    if not gpus:
        if n_workers:
            options.setdefault("threads_per_worker", max(1, CPU_COUNT // n_workers))
        return LocalCluster(n_workers=n_workers, **options)
    try:
        from dask_cuda import LocalCUDACluster
    except ImportError:
        options = {"threads_per_worker": 1, "worker_class": _GpuNanny} | options
        return LocalCluster(n_workers=n_workers or len(gpus), **options)
    return LocalCUDACluster(n_workers=n_workers, **options)


class _GpuNanny(Nanny):  # type: ignore[misc]
    """The parent of a worker process whose first visible GPU depends on the worker's number.

    The others are visible after it, so that workers exchange memory between GPUs.
    """

    def __init__(self, *arguments: Any, name: int, env: Any = None, **options: Any) -> None:
        gpus = _visible_gpus()
        first = name % len(gpus)
        visible = ",".join(gpus[first:] + gpus[:first])
        env = {**(env or {}), "CUDA_VISIBLE_DEVICES": visible}
        super().__init__(*arguments, name=name, env=env, **options)


def _visible_gpus() -> list[str]:
    """Return the names of the GPUs in CUDA_VISIBLE_DEVICES."""
    count = len(driver.devices()) if driver.available() else 0
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    return chosen.split(",")[:count] if chosen else [str(i) for i in range(count)]
