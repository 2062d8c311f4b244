"""A process for each contender, so that the thread pools of one do not disturb another's.

The parent asks one contender at a time; the others wait at their pipes.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal

from contenders import CONTENDERS, NotInstalled, Prepared, Task
from cpu_rows import ROWS

REPEAT_SECONDS = 0.02  # a repetition calls as often as fits
SAMPLE_SECONDS = 0.0005  # calls faster than this are timed together
REST_SECONDS = 0.005  # OpenMP's threads spin for a while after a call

Answer = tuple[Literal["ready", "absent", "missing", "failed", "time"], Any]


@dataclass(frozen=True)
class Repetition:
    """How often a repetition calls: ``samples`` times of ``calls`` calls each."""

    samples: int
    calls: int

    def seconds(self, call: Callable[[], object]) -> float:
        """One call's time: that of the fastest sample, after one call that is not timed."""
        call()
        times = range(self.calls)
        fastest = float("inf")
        for _ in range(self.samples):
            start = time.perf_counter()
            for _ in times:
                call()
            fastest = min(fastest, time.perf_counter() - start)
        return fastest / self.calls


def repetition_for(call: Callable[[], object]) -> Repetition:
    seconds = min(Repetition(1, 1).seconds(call) for _ in range(3))
    calls = max(1, round(SAMPLE_SECONDS / seconds))
    return Repetition(max(1, round(REPEAT_SECONDS / (seconds * calls))), calls)


class Contestant:
    """What a worker has prepared: the row in hand."""

    def __init__(self, name: str) -> None:
        self.contender = CONTENDERS[name]
        self.prepared: Prepared | None = None
        self.repetition = Repetition(1, 1)

    def prepare(self, row_name: str, small: bool) -> Answer:
        self.prepared = None
        row = next(row for row in ROWS if row.name == row_name)
        size = row.small if small else row.full
        problem = row.problem(size)
        module = importlib.import_module(self.contender.module)
        prepared = module.prepare(Task(row, size, problem), self.contender.option)
        if prepared is None:
            return "absent", None
        prepared.call()
        prepared.fetch()
        wrong = problem.disagreement()
        if wrong:
            return "failed", wrong
        self.prepared, self.repetition = prepared, repetition_for(prepared.call)
        return "ready", None

    def measure(self) -> Answer:
        assert self.prepared is not None
        seconds = self.repetition.seconds(self.prepared.call)
        time.sleep(REST_SECONDS)
        return "time", seconds


def serve(pipe: Connection, name: str) -> None:
    """Answer the parent until it hangs up. What libraries print on the way is dropped."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    contestant = Contestant(name)
    while True:
        try:
            what, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(getattr(contestant, what)(*arguments))
        except (NotInstalled, ModuleNotFoundError):
            pipe.send(("missing", contestant.contender.needs))
        except Exception as error:
            first = str(error).strip().partition("\n")[0]
            pipe.send(("failed", f"{type(error).__name__}: {first}"))


class Worker:
    """The parent's end."""

    def __init__(self, name: str) -> None:
        self.name = name
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, name), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, what: str, *arguments: object) -> Answer:
        try:
            self._pipe.send((what, arguments))
            answer: Answer = self._pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return "failed", "the process died"
        return answer

    def stop(self) -> None:
        self._pipe.close()
        self._process.join(5)
        if self._process.is_alive():
            self._process.kill()
