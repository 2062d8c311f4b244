"""How many threads run kernels on the CPU: as many as this process may keep busy."""

from __future__ import annotations

import os
from collections.abc import Iterator

from pycu2c.base.diagnostics import LaunchError

ROOT = "/"


def thread_count() -> int:
    """PYCU2C_THREADS, or the cores that the process is bound to, as far as its container's share
    of processor time goes."""
    wish = os.environ.get("PYCU2C_THREADS", "")
    if not wish:
        return max(1, min(_usable_cores(), *_shares(ROOT)))
    if not wish.isascii() or not wish.isdigit() or int(wish) == 0:
        raise LaunchError(f"PYCU2C_THREADS is {wish!r}; it takes a number of threads, 1 or more")
    return int(wish)


def _usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _shares(root: str) -> Iterator[int]:
    """The cores that each control group which this process is in may use, rounded up."""
    yield _MANY
    for line in _text(root, "proc/self/cgroup").splitlines():
        controllers, _, path = line.partition(":")[2].partition(":")
        if not controllers:  # version 2: one file, "quota period"
            home = os.path.join(root, "sys/fs/cgroup")
            for folder in _upwards(home, path):
                yield _share(*_text(folder, "cpu.max").split())
        elif "cpu" in controllers.split(","):  # version 1
            for folder in _upwards(os.path.join(root, "sys/fs/cgroup/cpu"), path):
                names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
                yield _share(*(_text(folder, name).strip() for name in names))


_MANY = 1 << 20


def _upwards(home: str, path: str) -> Iterator[str]:
    """The folder of a group and those of the groups that it lies in."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for count in range(len(parts), -1, -1):
        yield os.path.join(home, *parts[:count])


def _share(quota: str = "", period: str = "") -> int:
    """``max`` and -1 stand for no limit."""
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:
        return _MANY
    return -(-int(quota) // int(period))


def _text(folder: str, name: str) -> str:
    try:
        handle = os.open(os.path.join(folder, name), os.O_RDONLY)
    except OSError:
        return ""
    try:  # all at once: what the system writes there is short; a text file's reading takes longer
        return os.read(handle, _MOST_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


_MOST_BYTES = 1 << 16
