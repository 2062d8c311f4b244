"""The thread pool and launches on it: every block once, whoever calls and when."""

from __future__ import annotations

import struct
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from pool_kernels import HITS, hits_kernel, launch, run_script
from pycu2c.runtime import cpu
from pycu2c.toolchain import cc, room
from pycu2c.toolchain.binary import Binary


@pytest.fixture(scope="module")
def kernel() -> cpu.CpuKernel:
    return hits_kernel()


@pytest.mark.parametrize("count", [1, 2, 3, 5, 31, 32, 33, 1000, 100_003])
def test_every_block_runs_once(kernel: cpu.CpuKernel, count: int) -> None:
    for _ in range(20):
        assert (launch(kernel, count) == 1).all()


def test_long_blocks_run_once(kernel: cpu.CpuKernel) -> None:
    for count in (2, 5, 64):
        assert (launch(kernel, count, 20_000) == 20_000).all()


def test_a_grid_of_three_axes_and_its_head(kernel: cpu.CpuKernel) -> None:
    hits = np.zeros(2 * 3 * 4, np.int64)
    kernel.launch((2, 3, 4), (7, 1, 1), 108, struct.pack("@Pq", hits.ctypes.data, 1))
    assert (hits == 1 + 6 + 100 + 3).all()


def test_many_launches(kernel: cpu.CpuKernel) -> None:
    hits = np.zeros(64, np.int64)
    packed = struct.pack("@Pq", hits.ctypes.data, 1)
    for _ in range(20_000):
        kernel.launch((64, 1, 1), (1, 1, 1), 8, packed)
    assert (hits == 20_000).all()


def test_launches_from_many_python_threads(kernel: cpu.CpuKernel) -> None:
    wrong: list[int] = []

    def caller(number: int) -> None:
        for turn in range(100):
            if not (
                launch(kernel, 500 + number, 1 + 100 * (turn % 2)) == 1 + 100 * (turn % 2)
            ).all():
                wrong.append(number)

    threads = [threading.Thread(target=caller, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_python_threads_run_during_a_launch(kernel: cpu.CpuKernel) -> None:
    stop, ticking = threading.Event(), threading.Event()
    turns = 0

    def tick() -> None:
        nonlocal turns
        while not stop.is_set():
            turns += 1
            ticking.set()
            stop.wait(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    ticking.wait(60)
    before = turns
    launch(kernel, 1, 100_000_000)  # some 100 ms in one block
    during = turns - before
    stop.set()
    ticker.join()
    assert during > 5


def test_several_threads_take_part() -> None:
    text = r"""
    source = '''
    #define _GNU_SOURCE
    #include <pthread.h>
    #include <stdint.h>
    #include <time.h>
    void who(const void *pointer, int64_t first, int64_t last) {
        uint64_t *self = *(uint64_t **)((char *)pointer + 32);
        struct timespec pause = {0, 1000000};
        for (int64_t b = first; b < last; b++) {
            self[b] = (uint64_t)pthread_self();
            nanosleep(&pause, 0);
        }
    }
    '''
    kernel = cpu.CpuKernel(cc.compile(source, "who"))
    for _ in range(3):
        who = np.zeros(64, np.uint64)
        kernel.launch((64, 1, 1), (1, 1, 1), 0, struct.pack("@P", who.ctypes.data))
        print(len(set(who.tolist())))
    """
    assert run_script(text, PYCU2C_THREADS="3") == "3\n3\n3"
    assert run_script(text, PYCU2C_THREADS="1") == "1\n1\n1"


def test_a_forked_child_runs_kernels() -> None:
    text = """
    import warnings
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # fork beside threads
    kernel = hits_kernel()
    def work():
        return all((launch(kernel, count, 50) == 50).all() for count in (1, 8, 5000) * 5)
    def in_child(depth):
        child = os.fork()
        if child == 0:
            ok = work() and (depth == 0 or in_child(depth - 1)) and work()
            os._exit(0 if ok else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert work()
    stop = threading.Event()
    def launches():  # so that some forks fall into a running job
        while not stop.is_set():
            launch(kernel, 5000, 50)
    background = threading.Thread(target=launches)
    background.start()
    results = [in_child(1) for _ in range(10)]
    stop.set()
    background.join()
    print(all(results) and work())
    """
    assert run_script(text, PYCU2C_THREADS="4") == "True"


@pytest.mark.parametrize(
    "exit_with", ["pass", "os._exit(0)", "import gc; del kernel; gc.collect()"]
)
def test_a_process_ends_at_once_with_sleeping_workers(exit_with: str) -> None:
    text = f"""
    kernel = hits_kernel()
    launch(kernel, 5000, 100)
    print("done", flush=True)
    {exit_with}
    """
    assert run_script(text, PYCU2C_THREADS="4") == "done"


def test_a_library_that_is_gone_is_loaded_from_memory() -> None:
    binary = cc.compile(HITS.replace("hits(", "gone("), "gone", cache=False)
    assert binary.path is not None
    Path(binary.path).unlink()
    assert (launch(cpu.CpuKernel(binary), 10) == 1).all()


def test_a_binary_without_a_file_is_loaded() -> None:
    made = cc.compile(HITS, "hits")
    kernel = cpu.CpuKernel(Binary("so", "hits", made.text, made.data, None, ""))
    assert (launch(kernel, 10) == 1).all()


def test_importing_does_not_load_cffi() -> None:
    code = "import sys, pycu2c.runtime.cpu; print([m for m in sys.modules if 'cffi' in m])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_the_pool_is_clean_c() -> None:
    assert cc.check_warnings(cpu.pool_text()) == ""
    assert cc.check_warnings(cpu.pool_text().replace("__linux__", "__none__")) == ""


def test_the_pool_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path))
    text = "kernel = hits_kernel(); launch(kernel, 10)"
    run_script(text)
    found = room.info().entries  # the pool, the kernel, a compiler's version
    assert found >= 2
    run_script(text)
    assert room.info().entries == found
