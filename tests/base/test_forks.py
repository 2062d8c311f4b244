"""Locks and imports in children that one of several threads forks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from pycu2c.base.cached_properties import cached_property
from pycu2c.base.forks import ForkSafeLock, delaying_forks
from support.paths import ROOT

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def in_child(check: Callable[[], bool]) -> bool:
    """Return whether a forked child finds a condition true; a child that hangs is killed."""
    child = os.fork()
    if child == 0:
        code = 2
        try:
            code = 0 if check() else 1
        finally:
            os._exit(code)
    killer = threading.Timer(60, os.kill, (child, 9))
    killer.start()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    killer.cancel()
    return code == 0


@contextmanager
def another_thread(work: Callable[[Callable[[], None]], None]) -> Iterator[None]:
    """Run ``work`` in a thread, which calls its argument to wait for the end of the ``with``."""
    inside, end = threading.Event(), threading.Event()

    def wait() -> None:
        inside.set()
        end.wait(60)

    thread = threading.Thread(target=work, args=(wait,))
    thread.start()
    inside.wait(60)
    yield
    end.set()
    thread.join()


def test_a_lock_that_another_thread_holds_is_free_in_a_child() -> None:
    lock = ForkSafeLock()

    def work(wait: Callable[[], None]) -> None:
        with lock, lock:
            wait()

    def check() -> bool:
        with lock:
            return lock.depth == 1

    with another_thread(work):
        assert in_child(check)
    assert lock.depth == 0


def test_a_lock_that_the_forking_thread_holds_is_held_in_its_child() -> None:
    lock = ForkSafeLock()

    def check() -> bool:
        tried: list[int] = []
        thread = threading.Thread(target=lambda: tried.append(lock._lock.acquire(blocking=False)))
        thread.start()
        thread.join()
        return tried == [False]

    with lock:
        assert in_child(check)


def test_a_fork_waits_for_imports_of_other_threads() -> None:
    done, started = [], threading.Event()

    def work() -> None:
        with delaying_forks():
            with delaying_forks():
                started.set()
            time.sleep(0.3)
            done.append("imported")

    thread = threading.Thread(target=work)
    thread.start()
    started.wait(60)
    assert in_child(lambda: done == ["imported"])
    thread.join()


def test_a_fork_during_an_import_of_its_own_thread() -> None:
    with delaying_forks():
        assert in_child(lambda: True)


class Computing:
    wait: Callable[[], None] | None = None

    @cached_property
    def value(self) -> int:
        if self.wait:
            self.wait()
        return 7


def test_a_property_that_another_thread_computes() -> None:
    """In Python 3.11 ``functools.cached_property`` has a lock for all instances."""

    def work(wait: Callable[[], None]) -> None:
        computing = Computing()
        computing.wait = wait
        assert computing.value == 7

    with another_thread(work):
        assert in_child(lambda: Computing().value == 7)
    computing = Computing()
    assert computing.value == vars(computing)["value"] == 7


def test_a_child_does_not_delay_the_compilers_of_its_parent() -> None:
    """It would, if it inherited a pipe to a compiler and kept it open."""
    program = """
import os, subprocess, threading, time
from pycu2c.base.lazy_imports import import_module
from pycu2c.toolchain import subprocesses

popen, children = subprocess.Popen._execute_child, []

def forked_before_the_start(self, *arguments):
    forker = threading.Thread(target=fork)  # after pipes are made, if there are any
    forker.start()
    forker.join()
    popen(self, *arguments)

def fork():
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    children.append(child)

pipe, pipes = os.pipe, []
os.pipe = lambda: pipes.append(1) or pipe()
subprocess.Popen._execute_child = forked_before_the_start
print(subprocesses.run(("/bin/sh", "-c", "cat; echo >&2 b"), "a "), pipes)
os.kill(children[0], 9)
"""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=50
    )
    assert ran.stdout == "CompletedProcess(returncode=0, output='a b\\n') []\n", ran.stderr


NOT_FORK_SAFE = re.compile(
    r"threading\.(R?Lock|Condition|Semaphore)\(|functools\.cached_property|import cached_property$"
    r"|(?<!_)importlib\.import_module\("
)
ALLOWED = {  # commands, which do not fork
    "base/lazy_imports.py",
    "base/cached_properties.py",
    "cli/emit.py",
    "compat/migrate/name_map.py",
}


def test_the_package_uses_what_survives_a_fork() -> None:
    """``ForkSafeLock``, ``base.cached_properties`` and ``base.lazy_imports.import_module``."""
    package = ROOT / "src" / "pycu2c"
    found = [
        f"{path.relative_to(package)}:{number}: {line}"
        for path in package.rglob("*.py")
        if str(path.relative_to(package)) not in ALLOWED
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if NOT_FORK_SAFE.search(line) and "pycu2c.base" not in line
    ]
    assert found == []
