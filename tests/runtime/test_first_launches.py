"""First launches in many threads and processes at once, and in children forked meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.paths import TESTS

# PYCU2C_STRESS=50 runs 1000 forks, and 100 new kernels in each of 64 threads
STRESS = int(os.environ.get("PYCU2C_STRESS", "1"))

KERNELS = """
import faulthandler, gc, linecache, os, random, signal, sys, threading, time, warnings
import numpy as np
import pycu2c
from pycu2c import cuda, kernel
warnings.filterwarnings("ignore", category=DeprecationWarning)  # fork beside threads
signal.signal(signal.SIGALRM, signal.SIG_DFL)
faulthandler.register(signal.SIGALRM, chain=True)  # ends a hang, with the stacks of all threads
signal.alarm(240 * STRESS)

TEXT = '''
from pycu2c import cuda, kernel

@kernel(backend="{backend}", cache=False)
def k(out, x):
    i = cuda.grid(1)
    {statement}
    cuda.syncthreads()
    out[i] = out[i] * {n} + x
'''

def new_kernel():
    n = int.from_bytes(os.urandom(5), "little")
    backend = random.choice(["cpu", "cpu", "cpu-resumable"])
    statement = random.choice(["pass", "pass", "if i == 0: print('thread', i)"])
    text, name, scope = TEXT.format(backend=backend, statement=statement, n=n), f"<kernel {n}>", {}
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), scope)
    return scope["k"], n

def first_launch():
    k, n = new_kernel()
    out = np.arange(64)
    k[2, 32](out, 7)
    return out.tolist() == [i * n + 7 for i in range(64)]
"""


def run(text: str, **environment: str) -> str:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run(
        [sys.executable, "-c", f"STRESS = {STRESS}\n{KERNELS}{text}"],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=300 * STRESS,
    )
    assert ran.returncode == 0, f"exit code {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout.splitlines()[-1]


FORKS = """
def in_child():
    child = os.fork()
    if child == 0:
        random.seed()
        signal.alarm(120)  # not inherited
        code = 1
        try:
            code = 0 if first_launch() and gc.isenabled() else 2
        finally:
            sys.stderr.flush()
            os._exit(code)
    return child

stop = threading.Event()
def launches():
    while not stop.is_set():
        assert first_launch()
others = [threading.Thread(target=launches) for _ in range(2)]
for other in others:
    other.start()
children = []
for _ in range(10):
    time.sleep(random.random() * 0.2)
    children.append(in_child())
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
stop.set()
for other in others:
    other.join()
print(codes)
"""


@pytest.mark.slow
@pytest.mark.parametrize("process", range(2 * STRESS))
def test_forks_during_first_launches(process: int, tmp_path: Path) -> None:
    """Children launch new kernels, whatever the threads of the parent did at the fork."""
    cache = {"PYCU2C_CACHE_DIR": str(tmp_path)}
    assert run(FORKS, **cache) == f"{[0] * 10}"


THREADS = """
wrong, start = [], threading.Barrier(64)
def work():
    start.wait()
    for _ in range(2 * STRESS):
        try:
            if not first_launch():
                wrong.append("result")
        except BaseException as error:
            wrong.append(repr(error))
threads = [threading.Thread(target=work) for _ in range(64)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(wrong)
"""


@pytest.mark.slow
def test_first_launches_of_64_threads(tmp_path: Path) -> None:
    """Each thread launches new kernels, and all the first one at once."""
    assert run(THREADS, PYCU2C_CACHE_DIR=str(tmp_path)) == "[]"
