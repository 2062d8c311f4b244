"""The thread pool in processes that fork, exit, have many threads, or lack resources."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from support.paths import TESTS
from support.pool_kernels import run_script

QUIET = """
import warnings
warnings.filterwarnings("ignore", category=DeprecationWarning)  # fork beside threads
kernel = hits_kernel()
def well():  # the pool does what it should
    return all((launch(kernel, n, 50) == 50).all() for n in (1, 2, 64, 5000) * 3)
"""


def run(text: str, **environment: str) -> str:

    return run_script(QUIET + textwrap.dedent(text), **environment)


@pytest.mark.slow
def test_a_thousand_forks() -> None:
    """Kernels in parent and child; each tenth child forks, too."""
    text = """
    def in_child(depth):
        child = os.fork()
        if child == 0:
            ok = (launch(kernel, 3000, 9) == 9).all() and (depth == 0 or in_child(depth - 1))
            os._exit(0 if ok else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    good = 0
    for n in range(910):
        good += (launch(kernel, 3000, 9) == 9).all() and in_child(int(n % 10 == 0))
    print(good, well())
    """
    assert run(text, PYCU2C_THREADS="4") == "910 True"


def test_processes_of_multiprocessing() -> None:
    text = """
    import multiprocessing
    def work(n):
        return bool((launch(kernel, n, 50) == 50).all())
    well()
    with multiprocessing.get_context("fork").Pool(4) as processes:
        print(sum(processes.map(work, range(1, 200))), well())
    """
    assert run(text, PYCU2C_THREADS="3") == "199 True"


def test_forks_while_other_threads_launch() -> None:
    text = """
    stop = threading.Event()
    def launches():
        while not stop.is_set():
            launch(kernel, 3000, 20)
    others = [threading.Thread(target=launches) for _ in range(3)]
    for other in others:
        other.start()
    good = 0
    for _ in range(60):
        child = os.fork()
        if child == 0:
            os._exit(0 if well() else 1)
        good += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    stop.set()
    for other in others:
        other.join()
    print(good, well())
    """
    assert run(text, PYCU2C_THREADS="4") == "60 True"


KERNELS = """
from pycu2c import cuda, kernel

@kernel(backend="cpu")
def add(a, x):
    i = cuda.grid(1)
    if i < a.size:
        a[i] += x

@kernel(backend="cpu")
def sums(a, out):
    shared = cuda.shared.array(64, "int64")
    t = cuda.threadIdx.x
    shared[t] = a[cuda.grid(1)]
    cuda.syncthreads()
    s = 32
    while s > 0:
        if t < s:
            shared[t] += shared[t + s]
        cuda.syncthreads()
        s //= 2
    if t == 0:
        cuda.atomic.add(out, 0, shared[0])
"""


@pytest.mark.slow
def test_64_threads_launch_at_once(tmp_path: Path) -> None:
    """Also the first launches of all, for which kernels and the pool are compiled."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    text = f"""
    sys.path.insert(0, {str(tmp_path)!r})
    from kernels import add, sums
    start, wrong = threading.Barrier(64), []
    def work(number):
        start.wait()
        for turn in range(20):
            if (number + turn) % 2:
                a = np.zeros(1000 + number)
                add[20, 64](a, number)
                ok = (a == number).all()
            else:
                a, out = np.full(64 * 50, number), np.zeros(1, np.int64)
                sums[50, 64](a, out)
                ok = out[0] == 64 * 50 * number
            if not ok:
                wrong.append(number)
    threads = [threading.Thread(target=work, args=(n,)) for n in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(wrong, well())
    """
    assert run(text, PYCU2C_CACHE_DIR=str(tmp_path / "cache")) == "[] True"


@pytest.mark.parametrize("end", ["pass", "sys.exit()", "os._exit(0)", "raise SystemExit"])
def test_a_process_ends_while_daemons_launch(end: str) -> None:
    """At once, whatever the workers do, and without a crash."""
    text = f"""
    def launches(count, repeats):
        while True:
            launch(kernel, count, repeats)
    for count, repeats in (5000, 100), (1, 1), (3, 100_000_000):
        threading.Thread(target=launches, args=(count, repeats), daemon=True).start()
    well()
    time.sleep(0.2)
    print("done", flush=True)
    {end}
    """
    assert run(text, PYCU2C_THREADS="4") == "done"


def test_a_launch_when_the_process_ends() -> None:
    text = """
    import atexit
    atexit.register(lambda: print(well(), flush=True))
    well()
    """
    assert run(text) == "True"


REFUSING = """\
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
int asked = 0;
static int create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *x) {
    return asked++ < ALLOWED ? pthread_create(t, a, f, x) : EAGAIN;
}
#define pthread_create create
"""


@pytest.mark.parametrize("allowed", [0, 1, 2])
def test_the_system_cannot_create_threads(allowed: int) -> None:
    """Those that there are do the work, and the rest is not asked for at every launch."""
    text = f"""
    whole = {REFUSING.replace("ALLOWED", str(allowed))!r} + cpu_kernel.pool_text()
    cpu_kernel.pool_text = lambda: whole
    cpu_kernel.pool.cache_clear()
    kernel = hits_kernel()
    print(well())
    for _ in range(2000):
        launch(kernel, 5000, 5)
    library = cpu_kernel.load(cc.compile(whole, "pycu2c_parallel"))
    print(cpu_kernel.symbol(library, "asked", "int *")[0] <= {allowed} + 20)
    """
    assert run(text, PYCU2C_THREADS="4") == "True\nTrue"


@pytest.mark.parametrize("threads", ["1", "2", "999999999999", "100"])
def test_any_number_of_threads(threads: str) -> None:
    """More than there can be is as many as there can be."""
    assert run("print(well())", PYCU2C_THREADS=threads) == "True"


@pytest.mark.parametrize("kilobytes", [256, 1024])
def test_a_small_stack(kilobytes: int) -> None:
    """Of the main thread; those of workers do not depend on it."""
    code = f"import sys; sys.path.insert(0, {str(TESTS)!r})\nfrom support.pool_kernels import *\n"
    code += f"{QUIET}print(well())"
    ran = subprocess.run(
        ["bash", "-c", f'ulimit -s {kilobytes}; exec "$@"', "-", sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.stdout, ran.returncode) == ("True\n", 0), ran.stderr


def test_bound_to_one_core() -> None:
    text = """
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    from pycu2c.runtime.cpu.thread_count import thread_count
    print(thread_count(), well())
    """
    assert run(text, PYCU2C_THREADS="") == "1 True"
