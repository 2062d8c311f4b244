"""Run programs that read a text from stdin, and collect their output."""

from __future__ import annotations

import importlib
import os
from typing import Any

from pycu2c.base.records import dataclass


@dataclass(frozen=True, slots=True)
class CompletedProcess:
    """The exit code of a process (negative: the number of a signal) and its output."""

    returncode: int
    output: str  # stdout and stderr


def run(command: tuple[str, ...], text: str = "") -> CompletedProcess:
    """Run a program with ``text`` on stdin. Raises OSError if the program cannot be started.

    Its locale is C, so messages are in English. Stdin is a file: a child that another thread forks
    meanwhile would inherit a pipe and keep it open.
    """
    # imported at the first call, because they take 5 ms and cached kernels need none
    subprocess: Any = importlib.import_module("subprocess")
    tempfile: Any = importlib.import_module("tempfile")
    with tempfile.TemporaryFile() as stdin:
        stdin.write(text.encode("utf-8", "surrogatepass"))
        stdin.seek(0)
        completed = subprocess.run(
            command,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    return CompletedProcess(completed.returncode, completed.stdout.decode("utf-8", "replace"))
