"""One process per implementation, so that their thread pools do not interfere.

The parent sends requests to one process at a time; the others wait at their pipes.
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

from cpu_cases import CASES
from implementations import IMPLEMENTATIONS, NotInstalled, Prepared, Task

REPEAT_SECONDS = 0.02  # duration of a repetition
SAMPLE_SECONDS = 0.0005  # calls faster than this are timed together
REST_SECONDS = 0.005  # OpenMP's threads spin for some time after a call

Answer = tuple[Literal["ready", "absent", "missing", "failed", "time"], Any]


@dataclass(frozen=True)
class Repetition:
    """The calls of a repetition: ``samples`` times ``calls``."""

    samples: int
    calls: int

    def seconds(self, call: Callable[[], object]) -> float:
        """Return the time of one call in the fastest sample; the first call is not timed."""
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


class PreparedImplementation:
    """An implementation, and the case that it has prepared."""

    def __init__(self, name: str) -> None:
        self.implementation = IMPLEMENTATIONS[name]
        self.prepared: Prepared | None = None
        self.repetition = Repetition(1, 1)

    def prepare(self, case_name: str, small: bool) -> Answer:
        self.prepared = None
        case = next(case for case in CASES if case.name == case_name)
        size = case.small if small else case.full
        problem = case.problem(size)
        module = importlib.import_module(self.implementation.module)
        prepared = module.prepare(Task(case, size, problem), self.implementation.option)
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
    """Answer requests until the parent closes the pipe. Discard what libraries print."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    prepared_implementation = PreparedImplementation(name)
    while True:
        try:
            what, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(getattr(prepared_implementation, what)(*arguments))
        except (NotInstalled, ModuleNotFoundError):
            pipe.send(("missing", prepared_implementation.implementation.needs))
        except Exception as error:
            first = str(error).strip().partition("\n")[0]
            pipe.send(("failed", f"{type(error).__name__}: {first}"))


class Worker:
    """The parent's connection to the process of an implementation."""

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
