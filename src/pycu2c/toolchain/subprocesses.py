"""Run programs that read a text from stdin, and collect their output.

Replaces ``subprocess``, whose import takes a tenth of the time that compiling a small kernel takes.
"""

from __future__ import annotations

import contextlib
import os
import select

from pycu2c.base.records import dataclass

_SIGKILL = 9  # the module ``signal`` takes long to import
_PIPE_BYTES = 1 << 16  # the capacity of a pipe


@dataclass(frozen=True, slots=True)
class CompletedProcess:
    """The exit code of a process (negative: the number of a signal) and its output."""

    returncode: int
    output: str  # stdout and stderr


def run(command: tuple[str, ...], text: str = "") -> CompletedProcess:
    """Run a program with ``text`` on stdin. Raises OSError if the program cannot be started."""
    return RunningProcess(command).finish(text)


class RunningProcess:
    """A started program that waits for its stdin. Its locale is C, so messages are in English.

    The caller must call ``finish`` or ``cancel``.
    """

    __slots__ = ("_pid", "_stdin", "_stdout")

    def __init__(self, command: tuple[str, ...]) -> None:
        child_stdin, self._stdin = os.pipe()
        self._stdout, child_stdout = os.pipe()
        files = (child_stdin, child_stdout, child_stdout)
        actions = [(os.POSIX_SPAWN_DUP2, file, n) for n, file in enumerate(files)]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            self._pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
        except BaseException:
            os.close(self._stdin)
            os.close(self._stdout)
            raise
        finally:
            os.close(child_stdin)
            os.close(child_stdout)
        _OPEN_STDIN.add(self._stdin)

    def finish(self, text: str) -> CompletedProcess:
        """Write the text to stdin and wait for the process to end."""
        try:
            output = _communicate(self._stdin, self._stdout, text.encode("utf-8", "surrogatepass"))
        except BaseException:  # Ctrl-C
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, _SIGKILL)
            _wait(self._pid)
            raise
        return CompletedProcess(_wait(self._pid), output.decode("utf-8", "replace"))

    def cancel(self) -> None:
        """Let the process end on an empty stdin.

        A killed compiler driver would leave its temporary files, and its subprocesses would create
        more.
        """
        self.finish("")


_OPEN_STDIN: set[int] = set()  # write ends of the stdin pipes of running processes


def _close(file: int) -> None:
    _OPEN_STDIN.discard(file)
    os.close(file)


def _close_inherited_pipes() -> None:
    """Close the pipes in a forked child: a process sees the end of stdin once all copies close."""
    while _OPEN_STDIN:
        os.close(_OPEN_STDIN.pop())


os.register_at_fork(after_in_child=_close_inherited_pipes)


def _communicate(stdin: int, stdout: int, text: bytes) -> bytes:
    """Write all of the text and read all output, alternating: a process may write before it has
    read its stdin."""
    rest, parts = memoryview(text), []
    poll = select.poll()
    poll.register(stdout, select.POLLIN)
    poll.register(stdin, select.POLLOUT)
    os.set_blocking(stdin, False)
    open_files = {stdin, stdout}
    try:
        while stdout in open_files:
            for file, _ in poll.poll():
                if file == stdout:
                    parts.append(os.read(stdout, _PIPE_BYTES))
                else:
                    rest = _write_some(stdin, rest)
                if parts[-1] if file == stdout else rest:
                    continue
                poll.unregister(file)
                open_files.discard(file)
                _close(file)
        return b"".join(parts)
    finally:
        for file in open_files:
            _close(file)


def _write_some(stdin: int, rest: memoryview) -> memoryview:
    """Write to a pipe; return the bytes that are not written yet."""
    try:
        return rest[os.write(stdin, rest[:_PIPE_BYTES]) :]
    except BrokenPipeError:  # the process closed its stdin
        return rest[:0]


def _wait(process: int) -> int:
    """Wait for a process; return its exit code."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # other code has waited for all children; the output file decides
        return 0
