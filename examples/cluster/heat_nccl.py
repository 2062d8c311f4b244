"""Heat on a plate that is divided between processes, one for each GPU; NCCL exchanges the halos.

Run it by torchrun: ``torchrun --nproc-per-node 2 examples/cluster/heat_nccl.py``. Without a GPU,
Gloo exchanges them, and the processes share the cores.

The exchange and the two edge rows are in a stream of their own, beside the rows between them. The
result is that of one process, bit by bit.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import time
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from heat_peers import initial, launch

from pycu2c import cuda


class Slab:
    """The rows of this process, those of its neighbours next to them, and two streams."""

    def __init__(self, rows: np.ndarray) -> None:
        self.now, self.following = cuda.to_device(rows), cuda.to_device(rows)
        edge = np.zeros(rows.shape[1], np.float32)
        self.above, self.below = cuda.to_device(edge), cuda.to_device(edge)
        cuda.synchronize()
        self.inner = cuda.stream(blocking=False)
        self.outer = cuda.stream(blocking=False, priority=-1)  # for the halos and the edge rows
        self.inner_end, self.outer_end = cuda.event(timing=False), cuda.event(timing=False)
        directions = (self.now, self.following), (self.following, self.now)
        self.steps = itertools.cycle([Step(self, *arrays) for arrays in directions])

    def run(self, steps: int) -> None:
        """Compute steps, and wait for them."""
        for step in itertools.islice(self.steps, steps):
            step.launch(self)
            self.now, self.following = self.following, self.now
        self.inner.synchronize()
        self.outer.synchronize()


class Step:
    """A step from one array to the other, with the views and messages that it needs.

    Each tuple has the arguments of ``launch``: above, now, below, following.
    """

    def __init__(self, slab: Slab, now: cuda.DeviceArray, following: cuda.DeviceArray) -> None:
        self.upper = slab.above, now[:1], now[1], following[:1]
        self.lower = now[-2], now[-1:], slab.below, following[-1:]
        self.others = now[0], now[1:-1], now[-1], following[1:-1]
        rank, rows = dist.get_rank(), torch.from_dlpack(now)
        neighbours = (rank - 1, rows[0], slab.above), (rank + 1, rows[-1], slab.below)
        self.messages: list[dist.P2POp] = []
        for neighbour, row, halo in neighbours:
            if 0 <= neighbour < dist.get_world_size():
                self.messages.append(dist.P2POp(dist.isend, row, neighbour))
                self.messages.append(dist.P2POp(dist.irecv, torch.from_dlpack(halo), neighbour))

    def launch(self, slab: Slab) -> None:
        inner, outer = slab.inner, slab.outer
        inner.wait(slab.outer_end)  # of the last step
        with on_stream(outer):
            for work in dist.batch_isend_irecv(self.messages) if self.messages else ():
                work.wait()  # on a GPU, the stream waits, not the host
        outer.wait(slab.inner_end)
        launch(*self.upper, outer)
        launch(*self.lower, outer)
        slab.outer_end.record(outer)
        launch(*self.others, inner)
        slab.inner_end.record(inner)


def on_stream(stream: cuda.Stream) -> contextlib.AbstractContextManager[Any]:
    """Make PyTorch use a stream."""
    if not torch.cuda.is_available():
        return contextlib.nullcontext()
    return torch.cuda.stream(torch.cuda.ExternalStream(stream.handle))


@contextlib.contextmanager
def process_group() -> Any:
    """Connect the processes that torchrun has started, and select the GPU of this one."""
    if torch.cuda.is_available():
        gpu = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(gpu)  # pycu2c follows
        dist.init_process_group("nccl", device_id=torch.device("cuda", gpu))
    else:
        dist.init_process_group("gloo")
    try:
        yield
    finally:
        dist.destroy_process_group()


def rows_of_all(rows: np.ndarray) -> np.ndarray:
    """Return the rows of all processes."""
    parts: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(parts, rows)
    return np.concatenate(parts)


def main(arguments: list[str] | None = None) -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--rows", type=int, default=512, help="of a slab")
    options.add_argument("--columns", type=int, default=512)
    options.add_argument("--steps", type=int, default=50)
    options.add_argument("--no-check", action="store_true", help="measure only")
    options.add_argument("--trace", help="write traces of some steps, for chrome://tracing")
    given = options.parse_args(arguments)
    if given.rows < 3:
        options.error("--rows: a slab has 3 rows or more")
    with process_group():
        rank, processes = dist.get_rank(), dist.get_world_size()
        rows = range(rank * given.rows, (rank + 1) * given.rows)
        slab = Slab(initial(rows, given.columns))
        slab.run(given.steps)
        if not given.no_check:
            divided = rows_of_all(slab.now.copy_to_host())
            if rank == 0:
                check(divided, given.steps)
        dist.barrier()
        start = time.perf_counter()
        slab.run(given.steps)
        duration = (time.perf_counter() - start) / given.steps
        if rank == 0:
            shape = f"{processes} x {given.rows} x {given.columns}"
            print(f"{shape}: {duration * 1e3:.4f} ms per step")
        if given.trace:
            trace(slab, f"{given.trace}.{rank}.json")


def check(divided: np.ndarray, steps: int) -> None:
    """Compare with the steps of one process."""
    plate = initial(range(divided.shape[0]), divided.shape[1])
    now, following, edge = (cuda.to_device(a) for a in (plate, plate, np.zeros_like(plate[0])))
    for _ in range(steps):
        launch(edge, now, edge, following, cuda.default_stream())
        now, following = following, now
    if not np.array_equal(divided, now.copy_to_host()):
        raise SystemExit("FAILED: the slabs differ from the plate in one piece")
    print(f"checked: the slabs equal the plate in one piece after {steps} steps")


def trace(slab: Slab, path: str) -> None:
    """Record the work of the GPU."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        slab.run(40)
    profile.export_chrome_trace(path)


if __name__ == "__main__":
    main()
