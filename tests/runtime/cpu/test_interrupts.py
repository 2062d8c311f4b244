"""A long launch of the main thread lets Python handle signals, and ends if a handler raises.

No test judges time: a kernel that never ends by itself must be interrupted, and a kernel that waits
for a flag ends only if the handler that sets the flag runs during the launch. A launch that is
not interrupted hangs, and `run_script` kills it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from support.paths import TESTS
from support.pool_kernels import run_script

pytestmark = pytest.mark.usefixtures("sigint_not_ignored")

KERNEL = """
kernel = hits_kernel()
def well():  # the pool does what it should
    return all((launch(kernel, n, 50) == 50).all() for n in (1, 2, 64, 5000) * 5)
def is_interrupted(start=lambda: launch(kernel, 4, FOREVER), error=KeyboardInterrupt, **sent):
    try:
        send_soon(**sent)
        start()
    except error:
        return True
def endless(count):
    return lambda: launch(kernel, count, FOREVER)
# Each block counts to 1000, and on until the flag is set.
waiting = cpu_kernel.CpuKernel(cc.compile(HITS.replace("i < k->n", UNTIL_FLAG), "hits"))
flag = np.zeros(1, np.int64)
def is_complete(count):
    return bool((launch(waiting, count, flag.ctypes.data) >= 1000).all())
"""


def run(text: str, **environment: str) -> list[str]:
    return run_script(KERNEL + textwrap.dedent(text), **environment).splitlines()


@pytest.mark.parametrize("threads", ["1", "2", "4"])
def test_ctrl_c_ends_a_kernel_that_never_ends(threads: str) -> None:
    """Of one block, of as many as threads, of many; the first launch of all, and later ones."""
    text = """
    for count in (1, 2, 5, 1000, 1):
        print(is_interrupted(endless(count), after=0.2) and well())
    """
    assert run(text, PYCU2C_THREADS=threads) == ["True"] * 5


def test_ctrl_c_ends_a_kernel_that_was_always_short() -> None:
    text = """
    for _ in range(1000):
        launch(kernel, 8)
    print(is_interrupted(endless(8)) and well())
    """
    assert run(text) == ["True"]


def test_where_threads_cannot_be_stopped_a_launch_ends_between_blocks() -> None:
    """Outside Linux. Blocks that have begun are complete, and some have not begun."""
    text = """
    whole = cpu_kernel.pool_text().replace("__linux__", "__none__")
    cpu_kernel.pool_text = lambda: whole
    cpu_kernel.pool.cache_clear()
    kernel = hits_kernel()
    launch(kernel, 8, 20_000_000)  # the pool measures how long a block takes
    hits = np.zeros(10_000, np.int64)
    packed = struct.pack("@Pq", hits.ctypes.data, 20_000_000)
    long_launch = lambda: kernel.launch((10_000, 1, 1), (1, 1, 1), 8, packed)
    print(is_interrupted(long_launch, after=0.2) and well())
    print(sorted(set(hits.tolist())) == [0, 20_000_000])
    """
    assert run(text) == ["True", "True"]


def test_ctrl_c_while_the_caller_waits_for_the_workers() -> None:
    """Its own piece is done; one of another thread never ends."""
    text = """
    source = HITS.replace("i < k->n", "i < (b % 2 ? k->n : 1)")
    uneven = cpu_kernel.CpuKernel(cc.compile(source, "hits"))
    for _ in range(4):
        print(is_interrupted(lambda: launch(uneven, 2, FOREVER), after=0.2) and well())
    """
    assert run(text, PYCU2C_THREADS="4") == ["True"] * 4


@pytest.mark.parametrize(
    "step", ["x = sin(x);", "memset(big, i & 255, sizeof big); x += big[i % 99];"]
)
def test_a_kernel_that_is_mostly_in_a_library(step: str) -> None:
    """It is left while it is in its own text: a library may hold a lock."""
    text = f"""
    source = '''
    #include <math.h>
    #include <stdint.h>
    #include <string.h>
    void slow(const void *pointer, int64_t first, int64_t last) {{
        unsigned char big[1 << 14] = {{0}};
        double *out = *(double **)((char *)pointer + 32), x = 0.5;
        for (uint64_t i = last;; i++) {{
            {step}
            out[first] += x;
        }}
    }}
    '''
    slow = cpu_kernel.CpuKernel(cc.compile(source, "slow"))
    for count in (1, 4):
        out = np.zeros(8)
        packed = struct.pack("@P", out.ctypes.data)
        in_library = lambda: slow.launch((count, 1, 1), (1, 1, 1), 0, packed)
        print(is_interrupted(in_library, after=0.2) and well())
    """
    assert run(text) == ["True", "True"]


def test_a_handler_that_does_not_raise_lets_the_kernel_run_on() -> None:
    """It runs while the kernel does, and the results are complete."""
    text = """
    signal.signal(signal.SIGINT, lambda *_: flag.fill(1))
    for count in 1, 4, 200:
        flag[0] = 0
        send_soon(after=0.2)
        print(is_complete(count))
    """
    assert run(text) == ["True"] * 3


def test_what_a_handler_raises_is_raised() -> None:
    text = """
    def out_of_time(*_):
        raise TimeoutError("too long")
    signal.signal(signal.SIGALRM, out_of_time)
    print(is_interrupted(endless(64), TimeoutError, number=signal.SIGALRM) and well())
    """
    assert run(text) == ["True"]


def test_a_handler_may_launch() -> None:
    """Also a kernel that itself must be interrupted."""
    text = """
    found = []
    def nested(*_):
        found.append(well())
        found.append(is_interrupted(endless(3), TimeoutError, number=signal.SIGALRM))
        flag[0] = 1
    def out_of_time(*_):
        raise TimeoutError
    signal.signal(signal.SIGUSR1, nested)
    signal.signal(signal.SIGALRM, out_of_time)
    send_soon(signal.SIGUSR1, 0.2)
    print(is_complete(5), found, well())
    print(is_interrupted(endless(5)))
    """
    assert run(text) == ["True [True, True] True", "True"]


def test_only_launches_of_the_main_thread_end() -> None:
    text = """
    results = []
    def work():
        results.append(is_complete(300))
    others = [threading.Thread(target=work) for _ in range(2)]
    for other in others:
        other.start()
    time.sleep(0.1)
    print(is_interrupted(), len(results))
    send_soon(after=0.1)
    try:
        for other in others:
            other.join()
    except KeyboardInterrupt:
        print("raised in join", len(results))
    flag[0] = 1
    while len(results) < 2:  # a join that was interrupted may take a thread for ended
        time.sleep(0.01)
    print(results, well())
    """
    assert run(text) == ["True 0", "raised in join 0", "[True, True] True"]


@pytest.mark.slow
def test_a_forked_child_is_interrupted_too() -> None:
    text = """
    import warnings
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # fork beside threads
    def in_child(work):
        child = os.fork()
        if child == 0:
            os._exit(0 if work() else 1)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    def interrupted():
        return is_interrupted() and well()
    print(interrupted(), in_child(interrupted), interrupted())
    results = []
    thread = threading.Thread(target=lambda: results.append(in_child(interrupted)))
    thread.start()
    thread.join()
    print(results, interrupted())
    """
    assert run(text) == ["True True True", "[True] True"]


def test_a_child_that_a_thread_forks_before_the_first_launch() -> None:
    text = """
    import warnings
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # fork beside threads
    def in_child():
        child = os.fork()
        if child == 0:
            os._exit(0 if is_interrupted() else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    thread = threading.Thread(target=in_child)
    thread.start()
    thread.join()
    """
    assert run(text) == ["0"]


def test_a_handler_that_forks() -> None:
    """The child's launch is an error, since the workers are not in it; the parent's goes on."""
    text = """
    import warnings
    from pycu2c.base.diagnostics import LaunchError
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # fork beside threads
    children = []
    def fork(*_):
        children.append(os.fork())
        flag[0] = 1
    signal.signal(signal.SIGALRM, fork)
    for count in 1, 4, 9:
        flag[0] = 0
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        try:
            complete = is_complete(count)
        except LaunchError as error:
            os._exit(7 if "forked" in str(error) and children[-1] == 0 and well() else 1)
        status = os.waitpid(children[-1], 0)[1]
        print(complete, os.waitstatus_to_exitcode(status), well())
    """
    assert run(text) == ["True 7 True"] * 3


STUCK = """
from pycu2c import cuda, kernel

@kernel(backend="cpu")
def stuck(a, n):
    i = cuda.grid(1)
    print("thread", i)
    while n == 0 and a[i] < 1e9:
        a[i] *= 1
"""


def test_a_kernel_that_prints_can_be_run_again(tmp_path: Path) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    text = f"""
    sys.path.insert(0, {str(tmp_path)!r})
    from stuck import stuck
    for _ in range(2):
        a = np.ones(4, np.float32)
        stuck[2, 2](a, 1)
        send_soon()
        try:
            stuck[2, 2](a, 0)
        except KeyboardInterrupt:
            print("ended")
    """
    lines = run(text)
    assert sorted(lines) == sorted(["ended", *(f"thread {i}" for i in range(4))] * 2)


def test_a_handler_may_not_launch_the_kernel_that_prints_just_now(tmp_path: Path) -> None:
    """There is one log of what it prints."""
    (tmp_path / "stuck.py").write_text(STUCK)
    text = f"""
    from pycu2c.base.diagnostics import LaunchError
    sys.path.insert(0, {str(tmp_path)!r})
    from stuck import stuck
    a = np.ones(4, np.float32)
    stuck[2, 2](a, 1)
    signal.signal(signal.SIGINT, lambda *_: stuck[2, 2](a, 1))
    send_soon()
    try:
        stuck[2, 2](a, 0)
    except LaunchError as error:
        print(error)
    stuck[2, 2](a, 1)
    """
    lines = run(text)
    assert "launch later" in lines[4]
    assert len(lines) == 4 + 1 + 4


IN_STEPS = """
from pycu2c import cuda, kernel

@kernel(backend="cpu-resumable")
def short_phases(a):
    grid = cuda.cg.this_grid()
    while a[0] >= 0:
        a[cuda.grid(1)] += 1
        grid.sync()

@kernel(backend="cpu-resumable")
def long_step(a):
    cuda.syncthreads()
    while a[0] >= 0:
        a[cuda.grid(1)] += 1

@kernel(backend="cpu-resumable")
def neighbours(a, n):
    i = cuda.grid(1)
    for _ in range(n):
        x = a[i ^ 1]
        cuda.syncthreads()
        a[i] = x
        cuda.syncthreads()
"""


@pytest.mark.slow
def test_coroutine_kernels(tmp_path: Path) -> None:
    (tmp_path / "in_steps.py").write_text(IN_STEPS)
    text = f"""
    sys.path.insert(0, {str(tmp_path)!r})
    from in_steps import long_step, neighbours, short_phases
    def exchanged(*_):
        a = np.arange(256)
        neighbours[4, 64](a, 101)
        found.append(bool((a == np.arange(256) ^ 1).all()))
    found = []
    for stuck in (short_phases, long_step):
        stuck[1, 32](-np.ones(192))  # it is compiled
        for blocks in (1, 6):
            print(is_interrupted(lambda: stuck[blocks, 32](np.zeros(192)), after=0.2))
            exchanged()
    # and launched by a handler, while a launch of its kind runs
    signal.signal(signal.SIGINT, exchanged)
    send_soon(after=0.1)
    a = np.arange(256)
    neighbours[4, 64](a, 400_001)
    print(found, (a == np.arange(256) ^ 1).all())
    """
    assert run(text) == ["True"] * 4 + [f"{[True] * 5} True"]


def test_an_earlier_handler_of_the_signal_still_runs() -> None:
    text = """
    import signal as s
    heard = []
    for _ in range(2):
        s.signal(s.SIGURG, lambda *_: heard.append(1))
        ok = is_interrupted()  # also if Python's handler has taken ours out
        os.kill(os.getpid(), s.SIGURG)
        time.sleep(0.01)
        print(ok, len(heard))
    """
    assert run(text) == ["True 1", "True 2"]


def test_a_crash_in_a_worker_is_reported() -> None:
    text = """
    import faulthandler
    faulthandler.enable()
    wrong = "k->hits[b] += getpid() != gettid() ? *(volatile int *)8 : "  # in no main thread
    declared = "int getpid(void), gettid(void); struct args {"
    source = HITS.replace("k->hits[b] +=", wrong).replace("struct args {", declared)
    launch(cpu_kernel.CpuKernel(cc.compile(source, "hits")), 8, 100_000)
    """
    with pytest.raises(AssertionError, match=r"Segmentation fault(.|\n)*in launch"):
        run(text, PYCU2C_THREADS="2")


def test_the_keyboard() -> None:
    """A program that nobody has prepared for it ends as Python programs do."""
    code = f"import sys; sys.path.insert(0, {str(TESTS)!r})\nfrom support.pool_kernels import *\n"
    code += "kernel = hits_kernel()\nprint('go', flush=True)\nlaunch(kernel, 4, FOREVER)"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "go\n"
    time.sleep(0.2)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert errors.strip().endswith("KeyboardInterrupt")
