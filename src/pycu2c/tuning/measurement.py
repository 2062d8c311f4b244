"""Measure candidates in a worker process, which is started anew after a crash or a timeout."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from pycu2c.base.records import dataclass
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Runner
from pycu2c.tuning import worker
from pycu2c.tuning.space import Configuration

_MAX_RUNS, _MIN_RUNS, _SECONDS = 12, 3, 0.2  # of a candidate
_MAX_RATIO = 1.5  # to the best time; a slower candidate is not run again
_MIN_ROUNDS, _MAX_ROUNDS = 4, 40  # of the comparison of the fastest candidates


class FaultyCandidate(Exception):
    """A candidate that fails; the message is the line of the report."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledCandidate:
    """A candidate for another process. ``written``: positions of arrays that the kernel writes."""

    configuration: Configuration
    runner: Runner
    launch: Launch
    written: tuple[int, ...]


class Measurer:
    """Runs candidates with one set of arguments."""

    def __init__(
        self,
        folder: str,
        image: worker.ArgumentImage,
        timeout: float,
        tolerance: float | None,
        cold_cache: bool,
    ) -> None:
        self._image = os.path.join(folder, "image")
        self._reference = os.path.join(folder, "results")  # of the first candidate
        self._timeout, self._tolerance = timeout, tolerance
        self._cache = "cold" if cold_cache else "warm"
        self._process: subprocess.Popen[bytes] | None = None
        self._written: Sequence[int] = ()
        with open(self._image, "wb") as file:
            pickle.dump(image, file)

    def measure(self, candidate: CompiledCandidate, best: float) -> float:
        """Return the seconds of the fastest run. Raises FaultyCandidate."""
        self._load(candidate)
        self._request("run")
        self._written = self._written or candidate.written  # those of the first candidate
        problem = self._request("check", self._written, self._reference, self._tolerance)
        if problem:
            raise FaultyCandidate(problem)
        times: list[float] = []
        while len(times) < _MIN_RUNS or (len(times) < _MAX_RUNS and sum(times) < _SECONDS):
            times.append(self._request("run"))
            if times[-1] > _MAX_RATIO * best:
                break
        return min(times)

    def compare(self, candidates: Sequence[CompiledCandidate], deadline: float) -> list[float]:
        """Return the seconds of the fastest run of each candidate, in alternating runs."""
        times = [float("inf")] * len(candidates)
        for i in range(_MAX_ROUNDS):
            if i >= _MIN_ROUNDS and time.monotonic() > deadline:
                break
            for k, candidate in enumerate(candidates):
                with contextlib.suppress(FaultyCandidate):  # it ran before
                    self._load(candidate)
                    runs = [self._request("run") for _ in range(_MIN_RUNS)]
                    times[k] = min(times[k], *runs)
        return times

    def _load(self, candidate: CompiledCandidate) -> None:
        self._request("load", candidate.runner, candidate.launch)

    def _request(self, *request: Any) -> Any:
        """Return the answer of the worker. Raises FaultyCandidate."""
        if self._process is None:
            self._process = self._start()
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        try:
            stdin.write(pickle.dumps(request))
            stdin.flush()
            state, answer = pickle.load(stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            code = self._process.wait()
            self.close()
            if code == 1:
                reason = f"did not end within {self._timeout:g} s"
            else:
                reason = f"crashed the process (exit code {code})"
            raise FaultyCandidate(reason) from None
        if state == "failed":
            self.close()  # an error of a kernel may have broken the context of the GPU
            raise FaultyCandidate(answer)
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        options = (self._image, str(self._timeout), self._cache)
        return subprocess.Popen(
            (sys.executable, "-m", worker.__name__, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYCU2C_TRACE": ""},
        )

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
