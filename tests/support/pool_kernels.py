"""Kernels in C for the tests of the thread pool, and scripts that launch them in new processes."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np

from pycu2c.runtime.cpu import cpu_kernel
from pycu2c.toolchain.cc import cc
from support.paths import TESTS

FOREVER = 1 << 62

__all__ = [
    "FOREVER",
    "HITS",
    "UNTIL_FLAG",
    "cc",
    "cpu_kernel",
    "hits_kernel",
    "launch",
    "np",
    "os",
    "run_script",
    "send_soon",
    "signal",
    "struct",
    "sys",
    "threading",
    "time",
]

HITS = """\
#include <stdint.h>
struct args {
    int32_t grid[3], block[3];
    int64_t shared;
    int64_t *hits;
    int64_t n;
};

/* Each block adds what it was told to an element of its own, many times over if n says so. */
void hits(const void *pointer, int64_t first, int64_t last) {
    const struct args *k = pointer;
    for (int64_t b = first; b < last; b++)
        for (volatile int64_t i = 0; i < k->n; i++)
            k->hits[b] += 1 + (k->block[0] - 1) + (k->shared - 8) + (k->grid[2] - 1);
}
"""

# In place of `i < k->n`: a block goes on until a flag is set, whose address is `k->n`.
UNTIL_FLAG = "i < 1000 || !*(volatile int64_t *)k->n"


def hits_kernel() -> cpu_kernel.CpuKernel:
    return cpu_kernel.CpuKernel(cc.compile(HITS, "hits"))


def launch(kernel: cpu_kernel.CpuKernel, count: int, repeats: int = 1) -> np.ndarray:
    hits = np.zeros(count, np.int64)
    packed = struct.pack("@Pq", hits.ctypes.data, repeats)
    kernel.launch((count, 1, 1), (1, 1, 1), 8, packed)
    return hits


def run_script(text: str, **environment: str) -> str:
    """In a process of its own: threads, forks and sizes stay there."""
    prelude = (
        f"import sys; sys.path.insert(0, {str(TESTS)!r})\nfrom support.pool_kernels import *\n"
    )
    words = [sys.executable, "-W", "error", "-c", prelude + textwrap.dedent(text)]
    ran = subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, f"{ran.returncode}: {ran.stderr}"
    return ran.stdout.strip()


def send_soon(number: int = signal.SIGINT, after: float = 0.3) -> None:
    """A signal to this process."""
    threading.Timer(after, os.kill, (os.getpid(), number)).start()
