"""``make fuzz N=1000 SEED=0 TARGET=cpu``: draw kernels, compare, shrink what fails."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from fuzzing.parallel import LIMITS, run_all, run_alone
from fuzzing.running import EXCUSED, Outcome
from fuzzing.shrinking import shrunk
from pycu2c.runtime.cpu.thread_count import thread_count

SHOWN = 40  # failures by their seeds; the rest are counted
MOST_EXCUSED = 0.005  # of the kernels
FOUND = Path(__file__).parent.parent.parent / "out" / "fuzz"


def main() -> int:
    options = _options()
    if options.checks:
        options.target = "checks"
    FOUND.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    counts: Counter[str] = Counter()
    failures: dict[str, list[Outcome]] = {}
    seeds = range(options.seed, options.seed + options.n)

    def too_long() -> bool:
        return bool(options.seconds) and time.monotonic() - start > options.seconds

    outcomes = run_all(seeds, options.target, options.jobs, options.chunk, too_long)
    for outcome in outcomes:
        counts[outcome.kind] += 1
        if outcome.kind in EXCUSED:
            print(f"seed {outcome.seed}: {outcome.kind}, which is excused", flush=True)
        if outcome.failed:
            failures.setdefault(outcome.kind, []).append(outcome)
            if sum(map(len, failures.values())) <= SHOWN:
                print(f"seed {outcome.seed}: {outcome.kind}", flush=True)
                if options.checks:
                    print(outcome.detail[-1500:], flush=True)
            if options.stop:
                break
    outcomes.close()
    took = time.monotonic() - start
    print(f"{sum(counts.values())} kernels in {took:.0f} s on {options.target}: {dict(counts)}")
    excused = sum(counts[kind] for kind in EXCUSED)
    if excused > MOST_EXCUSED * sum(counts.values()) + 1:
        print(f"{excused} that are excused are too many: draw fewer of them")
        failures.setdefault("excused", [])
    for failed in failures.values():
        if options.checks:  # the shrinker drops the comments that mark the defect
            continue
        for outcome in failed[: options.shrink]:
            _report(outcome, options.target, options.patience)
    return 1 if failures else 0


def _report(outcome: Outcome, target: str, patience: float) -> None:
    """Shrink a failure, show it, and keep it in a file."""
    text = shrunk(outcome, target, patience)
    final = run_alone(text, target)
    path = FOUND / f"{target}_{outcome.status}_{outcome.seed}.py"
    path.write_text(f'"""Seed {outcome.seed} on {target}: {outcome.kind}."""\n\n{text}')
    rule = "=" * 90
    print(f"{rule}\nseed {outcome.seed}: {outcome.kind}, shrunk to {path}\n{text}")
    print(final.detail[:3000], flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    parser.add_argument("-n", type=int, default=1000, help="how many kernels")
    parser.add_argument("--seed", type=int, default=0, help="the first one's seed")
    parser.add_argument("--target", choices=sorted(LIMITS), default="cpu")
    parser.add_argument(
        "--checks", action="store_true", help="plant a defect in each, and launch with checks"
    )
    parser.add_argument(
        "-j", "--jobs", type=int, default=thread_count(), help="processes at a time"
    )
    parser.add_argument("--chunk", type=int, default=20, help="kernels in one compilation")
    parser.add_argument("--seconds", type=float, default=0, help="start no more after this long")
    parser.add_argument("--stop", action="store_true", help="end at the first failure")
    parser.add_argument("--shrink", type=int, default=2, help="failures of a kind to shrink")
    parser.add_argument("--patience", type=float, default=90, help="seconds to shrink one")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
