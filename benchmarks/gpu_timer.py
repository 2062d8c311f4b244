"""Time launches on CUDA device 0 by CUDA events."""

from __future__ import annotations

from collections.abc import Callable

from pycu2c.cuda_driver import driver


class Timer:
    """Two events around a batch of launches in the default stream."""

    def __init__(self) -> None:
        driver.make_current()
        api = driver.api()
        self.start, self.stop = (
            driver.check(api.cuEventCreate(0), "create an event") for _ in range(2)
        )

    def milliseconds(self, launch: Callable[[], object], count: int) -> float:
        """Return the time of one launch: the mean of ``count``."""
        api = driver.api()
        driver.check(api.cuEventRecord(self.start, 0), "record an event")
        for _ in range(count):
            launch()
        driver.check(api.cuEventRecord(self.stop, 0), "record an event")
        driver.check(api.cuEventSynchronize(self.stop), "wait for an event")
        elapsed = driver.check(api.cuEventElapsedTime(self.start, self.stop), "read a time")
        return float(elapsed) / count
