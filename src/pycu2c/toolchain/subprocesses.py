"""Run programs that read a text from stdin, and collect their output."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import cache_directory


@dataclass(frozen=True, slots=True)
class CompletedProcess:
    """The exit code of a process (negative: the number of a signal) and its output."""

    returncode: int
    output: str  # stdout and stderr


@contextmanager
def private_folder() -> Iterator[str]:
    """Create a folder of this process, which exists inside the ``with``."""
    folder = cache_directory.new_private_folder()
    try:
        yield folder
    finally:
        cache_directory.remove_tree(folder)


def run(command: tuple[str, ...], text: str = "") -> CompletedProcess:
    """Run a program with ``text`` on stdin. Raises OSError if the program cannot be started.

    Its locale is C, so messages are in English. Its input, its output and its temporary files are
    in a folder that is removed at the end, even if the program is killed. There are no pipes: a
    child that another thread forks meanwhile would inherit them, and keep them open.
    """
    with (
        private_folder() as folder,
        open(os.path.join(folder, "stdin"), "w+b") as stdin,
        open(os.path.join(folder, "output"), "w+b") as output,
    ):
        stdin.write(text.encode("utf-8", "surrogatepass"))
        stdin.seek(0)
        completed = subprocess.run(
            command,
            stdin=stdin,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, "LC_ALL": "C", "TMPDIR": folder},
            close_fds=False,  # so that it uses posix_spawn, and no pipe to report errors
            check=False,
        )
        output.seek(0)
        return CompletedProcess(completed.returncode, output.read().decode("utf-8", "replace"))
