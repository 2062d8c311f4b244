"""Time messages between two GPUs: halos and sums by NCCL, halos by peer copies.

usage: torchrun --nproc-per-node 2 benchmarks/messages.py

Exchanges send a message in each direction, and copies one from the peer. The script prints
microseconds by the bytes of a message, as a line of JSON: with calls from Python, and in a graph,
without the time of the host.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import torch
import torch.distributed as dist

from pycu2c import cuda

SIZES = [4 << (2 * k) for k in range(1, 13)]  # 16 bytes to 64 MB
ROUNDS, REPEATS = 5, 50


def microseconds(send: Callable[[], None], *, in_graph: bool) -> float:
    """Return the time of a message: the median of some rounds."""

    def repeat() -> None:
        for _ in range(REPEATS):
            send()

    repeat()
    if in_graph:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            repeat()
    times = []
    for _ in range(ROUNDS + 1):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        dist.barrier()
        start.record()
        if in_graph:
            graph.replay()
        else:
            repeat()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) / REPEATS * 1e3)
    return sorted(times[1:])[ROUNDS // 2]


def main() -> None:
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl", device_id=torch.device("cuda", gpu))
    other = gpu ^ 1
    times: dict[str, dict[str, float]] = {}
    for size in SIZES:
        sent, received = (torch.ones(size // 4, device="cuda") for _ in range(2))

        def exchange(sent: torch.Tensor = sent, received: torch.Tensor = received) -> None:
            pair = dist.P2POp(dist.isend, sent, other), dist.P2POp(dist.irecv, received, other)
            for work in dist.batch_isend_irecv(list(pair)):
                work.wait()

        def reduce(sent: torch.Tensor = sent) -> None:
            dist.all_reduce(sent, op=dist.ReduceOp.MAX)

        for name, send in ("exchange", exchange), ("all-reduce", reduce):
            for in_graph in False, True:
                by_size = times.setdefault(name + " in a graph" * in_graph, {})
                by_size[str(size)] = microseconds(send, in_graph=in_graph)
    dist.barrier()
    dist.destroy_process_group()
    if gpu == 0:
        times["peer copy"] = peer_copies()
        print(json.dumps(times))


def peer_copies() -> dict[str, float]:
    """Return the times of copies from GPU 1 to GPU 0."""
    cuda.gpus[0].enable_peer_access(1)
    stream, times = cuda.stream(blocking=False), {}
    for size in SIZES:
        own = cuda.device_array(size // 4, "f4", device=0)
        others = cuda.device_array(size // 4, "f4", device=1)
        rounds = []
        for _ in range(ROUNDS + 1):
            start, end = cuda.event(), cuda.event()
            start.record(stream)
            for _ in range(REPEATS):
                own.copy_to_device(others, stream)
            end.record(stream)
            end.synchronize()
            rounds.append(start.elapsed_time(end) / REPEATS * 1e3)
        times[str(size)] = sorted(rounds[1:])[ROUNDS // 2]
    return times


if __name__ == "__main__":
    main()
