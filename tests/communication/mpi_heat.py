"""Heat on a plate that is divided between the processes of MPI: `mpiexec -n 2 python mpi_heat.py`.

With the argument "staged", halos are copied through the host, for an MPI that is not CUDA-aware.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from heat_peers import initial, launch
from mpi4py import MPI

from pycu2c import cuda

SIZE, STEPS = 96, 12
COMM = MPI.COMM_WORLD


def exchange(now: Any, above: Any, below: Any) -> None:
    """Send the edge rows to the neighbours, and receive theirs."""
    first, last = COMM.rank == 0, COMM.rank == COMM.size - 1
    upper = MPI.PROC_NULL if first else COMM.rank - 1
    lower = MPI.PROC_NULL if last else COMM.rank + 1
    cuda.synchronize()  # MPI does not know streams
    COMM.Sendrecv(now[0], dest=upper, recvbuf=below, source=lower)
    COMM.Sendrecv(now[-1], dest=lower, recvbuf=above, source=upper)


def exchange_staged(now: Any, above: Any, below: Any) -> None:
    """Exchange the edge rows by copies on the host."""
    halos = above.copy_to_host(), below.copy_to_host()
    edges = np.stack([now[0].copy_to_host(), now[-1].copy_to_host()])
    first, last = COMM.rank == 0, COMM.rank == COMM.size - 1
    upper = MPI.PROC_NULL if first else COMM.rank - 1
    lower = MPI.PROC_NULL if last else COMM.rank + 1
    COMM.Sendrecv(edges[0], dest=upper, recvbuf=halos[1], source=lower)
    COMM.Sendrecv(edges[1], dest=lower, recvbuf=halos[0], source=upper)
    above.copy_to_device(halos[0])
    below.copy_to_device(halos[1])


def steps(rows: np.ndarray, exchange: Any) -> np.ndarray:
    now, following = cuda.to_device(rows), cuda.to_device(rows)
    above, below = (cuda.to_device(np.zeros(SIZE, np.float32)) for _ in range(2))
    for _ in range(STEPS):
        exchange(now, above, below)
        launch(above, now, below, following, cuda.default_stream())
        now, following = following, now
    return now.copy_to_host()


def main() -> None:
    if cuda.is_available():
        cuda.select_device(COMM.rank % len(cuda.gpus))
    plate = initial(range(SIZE * COMM.size), SIZE)
    rows = plate[COMM.rank * SIZE : (COMM.rank + 1) * SIZE]
    parts = COMM.gather(steps(rows, exchange_staged if "staged" in sys.argv else exchange))
    if COMM.rank == 0:
        assert np.array_equal(np.concatenate(parts), steps(plate, lambda *_: None))
        print(f"checked: {COMM.size} processes")


if __name__ == "__main__":
    main()
