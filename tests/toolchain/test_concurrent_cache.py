"""The disk cache with many processes, and with processes that are killed at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pycu2c.toolchain.cache import artifact_store, cache_directory, file_locks

PROCESSES, KERNELS, KILLS = 64, 12, 200


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYCU2C_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / f"v{cache_directory.SCHEMA}"


def entries(directory: Path) -> list[Path]:
    return [p for p in directory.glob("?/*") if p.is_file()]


def unharmed(path: Path) -> bool:
    key, suffix = path.name.split(".")
    result = artifact_store.load(key, f".{suffix}")
    return result is not None and result.path == str(path)


KERNEL = """
@kernel(backend="cpu", block=32)
def k{n}(a, x):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * {n} + x
"""

CROWD = """
import random, sys
sys.stdin.readline()  # all at once
order = list(enumerate([{names}]))
random.shuffle(order)
for n, k in order:
    a = np.arange(100)
    k(a, 7)
    if a.tolist() != [i * n + 7 for i in range(100)]:
        print("wrong", n)
print("done")
"""


@pytest.mark.slow
def test_64_processes_request_12_kernels_at_once(directory: Path, tmp_path: Path) -> None:
    """Each kernel is compiled once; every result is right. More compilers may get ready for it."""
    log, compiler = tmp_path / "log", tmp_path / "compiler"
    gcc = os.environ.get("CC", "gcc")
    compiler.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec {gcc} "$@"\n'
        f'text=$(cat)\n[ -n "$text" ] || exit 0  # it was not needed\n'
        f'echo "$*" >> {log}\nprintf "%s\\n" "$text" | {gcc} "$@"\n'
    )
    compiler.chmod(0o700)
    program = tmp_path / "program.py"
    names = ", ".join(f"k{n}" for n in range(KERNELS))
    head = "import numpy as np\nfrom pycu2c import cuda, kernel\n"
    kernels = "".join(KERNEL.format(n=n) for n in range(KERNELS))
    program.write_text(head + kernels + CROWD.format(names=names))
    setting = {"PYCU2C_CC": str(compiler), "PYCU2C_THREADS": "1", "TMPDIR": str(tmp_path)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    crowd = [
        subprocess.Popen(
            [sys.executable, str(program)], env={**os.environ, **setting}, text=True, **pipes
        )
        for _ in range(PROCESSES)
    ]  # type: ignore[call-overload]
    for process in crowd:
        process.stdin.write("\n")
        process.stdin.flush()
    said = [process.communicate(timeout=300)[0] for process in crowd]
    assert said == ["done\n"] * PROCESSES
    pool = 1
    assert len(log.read_text().splitlines()) == KERNELS + pool
    result = entries(directory)
    assert len([p for p in result if p.suffix == ".so"]) == KERNELS + pool
    assert all(unharmed(p) for p in result)
    assert list((directory / "new").iterdir()) == []
    assert list(tmp_path.glob("pycu2c-*")) == []


# One process that has imported everything forks those that are killed. Each compiles and stores
# until then, mostly by a compiler that is quick.
KILLED = """
import ctypes, os, random, signal, sys, time
from pycu2c.toolchain.cache import artifact_store as cache
from pycu2c.toolchain.cc import build, cc

assert build.compile_job  # import it before the fork
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # the compilers of those that are killed become ours

def texts():
    while True:
        yield f"int f(void) {{ return {random.randrange(20)}; }}\\n"

def work():
    for n, text in enumerate(texts()):
        if random.randrange(4) == 0:
            cc.compile(text, "f")
        data = text.encode() * random.randrange(1, 5000)
        cache.store(cache.key_of(str(random.randrange(50))), ".txt", data, text)
        cache.load_or_make(cache.key_of(text, str(n % 7)), ".cubin", lambda: (data, text))

cc.find_compiler()
random.seed(7)
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child == 0:
        random.seed()
        work()
    time.sleep(random.random() ** 2 * 0.15)
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
try:
    while True:
        os.wait()
except ChildProcessError:
    pass
"""


@pytest.mark.slow
def test_200_processes_are_killed(directory: Path, tmp_path: Path) -> None:
    """The cache holds whole entries without remains, and the next process works."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    environment = {**os.environ, "TMPDIR": str(scratch)}
    subprocess.run(
        [sys.executable, "-c", KILLED, str(KILLS)], env=environment, check=True, timeout=300
    )
    result = entries(directory)
    assert {p.suffix for p in result} >= {".so", ".txt", ".cubin"}
    assert all(unharmed(p) for p in result)
    assert len([*scratch.iterdir()]) > 10  # the test has killed some in the middle
    for path in (directory / "new").iterdir():
        os.utime(path, (0, 0))
    code = (
        "from pycu2c.runtime.cpu import cpu_kernel as cpu\n"
        "from pycu2c.toolchain.cc import cc\n"
        "library = cpu.load(cc.compile('int f(void) { return 99; }', 'f'))\n"
        "print(cpu.symbol(library, 'f', 'int(*)(void)')())\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (ran.stdout, ran.stderr) == ("99\n", "")
    assert [*(directory / "new").iterdir()] == []


HOLDER = """
import os, sys, time
from pathlib import Path
from pycu2c.toolchain.cache import artifact_store as cache

def make():
    child = os.fork() if sys.argv[2] == "forks" else 1
    if child:
        print(child, flush=True)
    time.sleep(60)
    return b"", ""

cache.load_or_make(sys.argv[1], ".so", make)
"""
KEY = artifact_store.key_of("text")


def holder(how: str) -> tuple[subprocess.Popen[str], int]:
    """A process that makes the entry of the key, and a child of it."""
    words = [sys.executable, "-c", HOLDER, KEY, how]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def test_waiting_for_an_entry_has_a_limit(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_locks, "_TIMEOUT", 0.3)
    process, _ = holder("alone")
    assert artifact_store.load_or_make(KEY, ".so", lambda: (b"code", "")).data == b"code"
    assert process.poll() is None
    process.kill()
    process.communicate()


def test_a_process_waits_for_one_holder_only(tmp_path: Path) -> None:
    """When that one has failed, one of the waiting processes gets the lock; none waits for it."""
    lock, inside, leave = str(tmp_path / "lock"), threading.Semaphore(0), threading.Event()
    polls = [threading.Semaphore(0) for _ in range(3)]

    def make(polled: threading.Semaphore) -> None:
        with file_locks.exclusive(lock, lambda: bool(polled.release())):
            inside.release()
            leave.wait(60)

    threads = [threading.Thread(target=make, args=[polled]) for polled in polls]
    with file_locks.exclusive(lock, lambda: False):
        for thread, polled in zip(threads, polls):
            thread.start()
            assert polled.acquire(timeout=60)
        assert not inside.acquire(blocking=False)
    for _ in threads:
        assert inside.acquire(timeout=60)
    leave.set()
    for thread in threads:
        thread.join()
    assert list(tmp_path.iterdir()) == []


def test_a_killed_process_releases_its_locks(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_locks, "_TIMEOUT", float("inf"))
    process, child = holder("forks")
    process.kill()
    process.wait()
    assert artifact_store.load_or_make(KEY, ".so", lambda: (b"code", "")).data == b"code"
    os.kill(child, signal.SIGKILL)  # it still runs
    process.communicate()


def test_a_waiting_process_continues_when_the_entry_exists(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the lock is held: by one that makes another entry."""
    monkeypatch.setattr(file_locks, "_TIMEOUT", float("inf"))
    process, _ = holder("alone")
    threading.Timer(0.2, artifact_store.store, (KEY, ".so", b"code")).start()
    assert artifact_store.load_or_make(KEY, ".so", lambda: (b"", "")).data == b"code"
    assert process.poll() is None
    process.kill()
    process.communicate()
