"""Run chunks of cases in separate processes, so that a crash or an endless loop costs one."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from fuzzing.cases import text_of
from fuzzing.planted import run_planted
from fuzzing.planting import planted_text
from fuzzing.running import COMPILED, MARKS, Outcome, run_texts

_FORK = multiprocessing.get_context("fork")
# seconds of processor time from one launch to the next
LIMITS = {
    "python": 5.0,
    "cpu": 5.0,
    "cpu-resumable": 5.0,
    "narrowed": 5.0,
    "strips": 5.0,
    "cuda": 30.0,
    "nvrtc": 60.0,
    "checks": 5.0,  # on the CPU, of kernels with planted defects
}
PATIENCE = 120.0  # seconds from one outcome to the next, whatever else the machine does


@dataclass(slots=True)
class _Work:
    """A process that works on cases, and what it has said so far."""

    seeds: list[int]
    target: str
    process: BaseProcess
    pipe: Connection
    heard: float
    outcomes: list[Outcome] = field(default_factory=list)
    reached: str = ""  # the last of MARKS that it has said

    def overdue(self) -> bool:
        return time.monotonic() - self.heard > PATIENCE

    def left(self) -> list[int]:
        """The seeds with no outcome, in order."""
        done = {o.seed for o in self.outcomes}
        return [s for s in self.seeds if s not in done]


def _start(seeds: list[int], target: str, texts: list[str] | None = None) -> _Work:
    receiver, sender = _FORK.Pipe(duplex=False)

    def work() -> None:
        os.environ["PYCU2C_THREADS"] = "2"
        launches = False
        is_planted = target == "checks"
        drawn = texts or [(planted_text if is_planted else text_of)(s) for s in seeds]
        outcomes = run_planted(drawn, seeds) if is_planted else run_texts(drawn, target, seeds)
        for outcome in outcomes:
            sender.send(outcome)
            launches = outcome == COMPILED or (launches and outcome.status not in MARKS)
            # SIGPROF ends the process; the reference has a limit of its own
            signal.setitimer(signal.ITIMER_PROF, LIMITS[target] if launches else 0)
        sender.send(None)

    process = _FORK.Process(target=work, daemon=True)
    process.start()
    sender.close()
    return _Work(seeds, target, process, receiver, time.monotonic())


def _hear(work: _Work) -> str:
    """Take what a process has said. ``done``, ``died N``, ``hung``, or nothing if it goes on."""
    try:
        while work.pipe.poll(0):
            result = work.pipe.recv()
            if result is None:
                return "done"
            if result.status in MARKS:
                work.reached = result.status
            else:
                work.outcomes.append(result)
            work.heard = time.monotonic()
    except EOFError:
        work.process.join(5)
        code = work.process.exitcode
        return "hung" if code == -signal.SIGPROF else f"died with {code}"
    return "hung" if work.overdue() else ""


def _end(work: _Work) -> None:
    work.pipe.close()
    work.process.join(0.2)
    if work.process.is_alive():
        work.process.kill()
    work.process.join()


def run_all(
    seeds: Sequence[int], target: str, jobs: int, chunk: int, stop: Callable[[], bool]
) -> Generator[Outcome]:
    """Every seed's outcome, in no order; none are started once ``stop()`` is true. Closing the
    generator ends the processes."""
    starts = iter(range(0, len(seeds), chunk))
    waiting: list[list[int]] = []
    running: list[_Work] = []
    try:
        while True:
            while len(running) < jobs:
                if not waiting and not stop():
                    first = next(starts, None)
                    if first is not None:
                        waiting.append(list(seeds[first : first + chunk]))
                if not waiting:
                    break
                running.append(_start(waiting.pop(), target))
            if not running:
                return
            wait([w.pipe for w in running], timeout=0.5)
            for work in list(running):
                state = _hear(work)
                if not state:
                    continue
                running.remove(work)
                _end(work)
                yield from work.outcomes
                rest = work.left()
                if state == "done" or not rest:
                    continue
                if work.reached == "prepared" and len(rest) > 1:  # all are compiled as one program
                    waiting += [rest[: len(rest) // 2], rest[len(rest) // 2 :]]
                    continue
                yield _ended(work, text_of(rest[0]), rest[0], state)
                waiting += [rest[1:]] if rest[1:] else []
    finally:
        for work in running:
            work.process.kill()
            _end(work)


def _ended(work: _Work, text: str, seed: int, state: str) -> Outcome:
    """Of the case at which a process ended."""
    in_compiler = state.startswith("died") and work.reached == "prepared" and work.target != "cpu"
    return Outcome(text, "compiler-died" if in_compiler else state.split()[0], state, seed)


def run_alone(text: str, target: str) -> Outcome:
    """One case, in a process of its own."""
    work = _start([-1], target, [text])
    state = ""
    while not state:
        wait([work.pipe], timeout=0.1)
        state = _hear(work)
    _end(work)
    return work.outcomes[0] if work.outcomes else _ended(work, text, -1, state)
