"""Export copies to shared memory by each thread: ``from pycu2c.cuda import pipeline``."""

from pycu2c.device_library.pipeline import arrive_on, commit, memcpy_async, wait_prior

__all__ = ["arrive_on", "commit", "memcpy_async", "wait_prior"]
