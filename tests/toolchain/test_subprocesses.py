"""Subprocesses receive all input and return all output, of any size."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from pycu2c.toolchain.subprocesses import CompletedProcess, run

PYTHON = os.path.realpath(sys.executable)
LARGE = "a line of text: ≥ 0\n" * 50_000  # more than pipes hold


def python(code: str, text: str = "") -> CompletedProcess:
    return run((PYTHON, "-c", f"import os, signal, sys\n{code}"), text)


def test_a_text_is_read_and_the_output_is_returned() -> None:
    code = "print(sys.stdin.read().upper(), flush=True); print('x', file=sys.stderr)"
    assert python(code, "text ≥ 0") == CompletedProcess(0, "TEXT ≥ 0\nx\n")


def test_both_ways_more_than_a_pipe_holds() -> None:
    echo = "while part := os.read(0, 100_000): os.write(1, part)"
    assert python(echo, LARGE) == CompletedProcess(0, LARGE)


def test_a_program_that_writes_before_it_reads() -> None:
    code = "os.write(1, b'x' * 1_000_000)\nprint(len(sys.stdin.buffer.read()))"
    assert python(code, LARGE) == CompletedProcess(0, f"{'x' * 1_000_000}{len(LARGE.encode())}\n")


def test_a_program_that_does_not_read() -> None:
    assert python("sys.exit(3)", LARGE) == CompletedProcess(3, "")
    assert python("os.close(0)\nprint('done')", LARGE) == CompletedProcess(0, "done\n")


def test_a_killed_program() -> None:
    assert python("os.kill(os.getpid(), signal.SIGKILL)", LARGE) == CompletedProcess(-9, "")


def test_no_such_program() -> None:
    before = os.listdir("/proc/self/fd") if os.path.isdir("/proc/self/fd") else []
    with pytest.raises(FileNotFoundError):
        run(("/nowhere/gcc",))
    assert not before or os.listdir("/proc/self/fd") == before


def test_programs_run_in_the_c_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert python("print(os.environ['LC_ALL'])") == CompletedProcess(0, "C\n")


def test_many_at_a_time() -> None:
    result: list[CompletedProcess] = []
    code = "sys.stdout.write(sys.stdin.read())"
    threads = [
        threading.Thread(target=lambda n=n: result.append(python(code, f"{n}")))  # type: ignore[misc]
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ran.output for ran in result) == [f"{n}" for n in range(8)]
