"""Time the examples for clusters on 1, 2, 4, … GPUs of a machine.

usage: python benchmarks/scaling.py [ROUNDS [CASE…]]

It needs PyTorch with NCCL, and Dask. The numbers of GPUs take turns; the script prints the median
time of a step, and the efficiency: in weak scaling the time of one GPU over that of all, in strong
scaling the same divided by the number of GPUs. With a folder for results, it replaces the cases of
an earlier run there, and draws the efficiency of all. A run of all cases also draws a timeline of
one GPU.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pycu2c import cuda
from results import FOLDER, Results, load, save

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples" / "cluster"
TORCHRUN = sys.executable, "-m", "torch.distributed.run", "--nproc-per-node"
WEAK_ROWS, STRONG_ROWS, SMALL, POINTS = 1 << 14, 1 << 15, (128, 1024), 1 << 28
CASES = (
    "heat by NCCL, weak",
    "heat by peer access, weak",
    "heat by NCCL, strong",
    "heat by peer access, strong",
    "heat by NCCL, small",
    "heat by peer access, small",
    "k-means, weak",
    "k-means, strong",
    "Monte Carlo, weak",
    "chunks of Dask, strong",
    "empty tasks of Dask, strong",
)
HOST_CASES = {case for case in CASES if "small" in case or "Dask" in case}


def command(case: str, gpus: int) -> list[str]:
    """Return the command of a case on some GPUs."""
    is_weak = case.endswith("weak")
    if case.startswith("k-means"):
        points = POINTS if is_weak else POINTS // gpus
        arguments = [f"--points={points}", "--steps=20"]
        return [*TORCHRUN, str(gpus), str(EXAMPLES / "k_means_nccl.py"), "--no-check", *arguments]
    if case.startswith("Monte Carlo"):
        return [sys.executable, str(HERE / "monte_carlo_gpus.py"), str(gpus), str(1 << 36)]
    if "Dask" in case:
        options = ["--no-launch"] if case.startswith("empty") else []
        return [sys.executable, str(HERE / "dask_gpus.py"), str(gpus), *options]
    rows, columns = (WEAK_ROWS, WEAK_ROWS) if is_weak else (STRONG_ROWS // gpus, STRONG_ROWS)
    if case.endswith("small"):  # the calls of the host take the time
        rows, columns = SMALL
    arguments = [f"--rows={rows}", f"--columns={columns}", "--steps=300", "--no-check"]
    if "NCCL" in case:
        return [*TORCHRUN, str(gpus), str(EXAMPLES / "heat_nccl.py"), *arguments]
    return [sys.executable, str(EXAMPLES / "heat_peers.py"), *arguments, f"--parts={gpus}"]


def milliseconds(command: list[str]) -> float:
    """Run an example, and return the time of a step that it prints."""
    output = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = re.search(r"([\d.]+) ms per step", output.stdout)
    if found is None:
        raise SystemExit(f"{' '.join(command)}\n{output.stdout}{output.stderr}")
    return float(found[1])


def measure(rounds: int, counts: list[int], cases: Sequence[str]) -> Results:
    """Return the time of a step of each case by the number of GPUs."""
    results: Results = {}
    for case in cases:
        times: dict[int, list[float]] = {count: [] for count in counts}
        for _ in range(rounds):
            for count in counts:
                times[count].append(milliseconds(command(case, count)))
        medians = {count: statistics.median(each) for count, each in times.items()}
        results[case] = {str(count): time for count, time in medians.items()}
        for count, time in medians.items():
            share = efficiency(case, results[case], count)
            print(f"{case}, GPUs: {count}, ms: {time:.4f}, efficiency: {share:.3f}", flush=True)
    return results


def efficiency(case: str, times: Mapping[str, float], count: int) -> float:
    """Return the time of one GPU by that of some, divided by their number in strong scaling."""
    return times["1"] / times[str(count)] / (count if case.endswith("strong") else 1)


def messages() -> Results:
    """Return the times of messages between two GPUs, in microseconds."""
    program = [*TORCHRUN, "2", str(HERE / "messages.py")]
    output = subprocess.run(program, capture_output=True, text=True, timeout=300)
    try:
        results: Results = json.loads(output.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        raise SystemExit(output.stdout + output.stderr) from None
    for name, times in results.items():
        print(f"{name}, µs:", {size: round(time, 1) for size, time in times.items()}, flush=True)
    return results


# ---- pictures ----------------------------------------------------------------------------------


def draw_efficiency(results: Results, path: Path) -> None:
    """Draw the efficiency by the number of GPUs, except of cases that only time the host."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.add_subplot()
    drawn = {case: times for case, times in results.items() if case not in HOST_CASES}
    counts = sorted({int(count) for times in drawn.values() for count in times})
    for case, times in drawn.items():
        own = sorted(map(int, times))
        axes.plot(own, [efficiency(case, times, count) for count in own], "o-", label=case)
    axes.set(xlabel="GPUs", ylabel="efficiency", ylim=(0.8, 1.2), xscale="log")
    axes.set_xticks(counts, map(str, counts))
    axes.minorticks_off()
    axes.legend(fontsize="small", ncols=2)
    figure.savefig(path)


def draw_timeline(count: int, path: Path) -> None:
    """Draw when a GPU computes and communicates in some steps of heat by NCCL."""
    from matplotlib.figure import Figure

    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace"
        milliseconds([*command("heat by NCCL, weak", count), f"--trace={trace}"])
        events = json.loads(Path(f"{trace}.0.json").read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    inner = max(kernels, key=lambda event: event["dur"] * ("step" in event["name"]))
    lanes = {"halo exchange (NCCL)": "#c0504d", "edge rows": "#e8a33d", "other rows": "#4f81bd"}

    def lane_of(event: dict) -> int:
        if "nccl" in event["name"]:
            return 0
        return 2 if event["args"]["stream"] == inner["args"]["stream"] else 1

    steps = sorted((e for e in kernels if lane_of(e) == 2), key=lambda event: event["ts"])[-8:-4]
    start, end = steps[0]["ts"], steps[-1]["ts"] + steps[-1]["dur"]
    figure = Figure(figsize=(9, 2.2), layout="constrained")
    axes = figure.add_subplot()
    for event in kernels:
        if start <= event["ts"] < end:
            lane = lane_of(event)
            bar = [((event["ts"] - start) / 1e3, max(event["dur"], 4) / 1e3)]
            axes.broken_barh(bar, (lane - 0.35, 0.7), color=list(lanes.values())[lane])
    axes.set_yticks(range(3), list(lanes))
    axes.invert_yaxis()
    axes.set_xlabel("ms")
    figure.savefig(path)


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    available = len(cuda.gpus)
    counts = [count for count in (1, 2, 4, 8) if count <= available]
    folder = Path(os.environ[FOLDER]) if FOLDER in os.environ else None
    results = measure(rounds, counts, sys.argv[2:] or CASES)
    if folder is not None:
        results = {**load(folder, "scaling"), **results}
        save("scaling", results)
        draw_efficiency(results, folder / "scaling.svg")
    if available > 1 and len(sys.argv) < 3:
        save("messages", messages())
        if folder is not None:
            draw_timeline(counts[-1], folder / "heat_timeline.svg")


if __name__ == "__main__":
    main()
