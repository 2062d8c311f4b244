"""Define the result of ``Kernel.tune``."""

from __future__ import annotations

from typing import Any

from pycu2c.base.records import dataclass

_SHOWN = 5  # of the fastest candidates


@dataclass(frozen=True, slots=True)
class TrialResult:
    """A measured candidate: its seconds, or the problem for which it was skipped."""

    configuration: dict[str, Any]
    seconds: float | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """The result of ``Kernel.tune``; ``print`` shows it as a table.

    Attributes
    ----------
    kernel : str
        The name of the kernel.
    best : dict
        The fastest configuration.
    seconds : float
        The time of a launch with it.
    default_seconds : float or None
        The time of a launch of the untuned kernel; None if it fails.
    results : tuple of TrialResult
        All measured candidates, the fastest first, with their seconds or their problem.
    candidates : int
        The number of candidates that the restrictions permit, with the untuned kernel.
    """

    kernel: str
    best: dict[str, Any]
    seconds: float
    default_seconds: float | None
    results: tuple[TrialResult, ...]
    candidates: int

    def __str__(self) -> str:
        gain = f", {self.default_seconds / self.seconds:.2f} x" if self.default_seconds else ""
        measured = [r for r in self.results if r.seconds is not None]
        lines = [f"{self.kernel}: {len(self.results)} of {self.candidates} candidates{gain}"]
        lines += [f"{time_text(r.seconds):>14}  {short_text(r)}" for r in measured[:_SHOWN]]
        faulty = [r for r in self.results if r.seconds is None]
        lines += [f"       skipped  {short_text(r)}: {r.problem}" for r in faulty]
        return "\n".join(lines)


def short_text(result: TrialResult) -> str:
    """Return a configuration as ``TILE=16 block=(64,1)``."""
    values = result.configuration.items()
    return " ".join(f"{name}={value}".replace(" ", "") for name, value in values)


def time_text(seconds: float | None) -> str:
    """Return a time in microseconds."""
    return "" if seconds is None else f"{seconds * 1e6:.1f} µs"
