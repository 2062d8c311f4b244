"""Other programs: run with a text to read, and heard to the end. Knows no compiler.

As ``subprocess``, whose import takes a tenth of the time that a small kernel's compilation does.
"""

from __future__ import annotations

import contextlib
import os
import select

from pycu2c.records import dataclass

_KILL = 9  # whose name is in ``signal``, which takes long to import
_PIPE = 1 << 16  # bytes that one holds


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: by its exit code, or by a signal, whose number is then negative; and
    what it said."""

    code: int
    said: str


def run(words: tuple[str, ...], text: str = "") -> Ran:
    """Run a program that reads ``text``; what it says is in English. OSError where it cannot be
    started."""
    told, tell = os.pipe()
    hear, said = os.pipe()
    streams = [(os.POSIX_SPAWN_DUP2, file, n) for n, file in enumerate((told, said, said))]
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        process = os.posix_spawn(words[0], words, environment, file_actions=streams)
    except BaseException:
        os.close(tell)
        os.close(hear)
        raise
    finally:
        os.close(told)
        os.close(said)
    try:
        heard = _exchanged(tell, hear, text.encode("utf-8", "surrogatepass"))
    except BaseException:  # Ctrl-C
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, _KILL)
        _waited(process)
        raise
    return Ran(_waited(process), heard.decode("utf-8", "replace"))


def _exchanged(tell: int, hear: int, text: bytes) -> bytes:
    """Tell a program all and hear all, as it comes: a program may speak before it has read."""
    rest, parts = memoryview(text), []
    poll = select.poll()
    poll.register(hear, select.POLLIN)
    poll.register(tell, select.POLLOUT)
    os.set_blocking(tell, False)
    open_files = {tell, hear}
    try:
        while hear in open_files:
            for file, _ in poll.poll():
                if file == hear:
                    parts.append(os.read(hear, _PIPE))
                else:
                    rest = _told(tell, rest)
                if not (parts[-1] if file == hear else rest):
                    poll.unregister(file)
                    open_files.discard(file)
                    os.close(file)
        return b"".join(parts)
    finally:
        for file in open_files:
            os.close(file)


def _told(tell: int, rest: memoryview) -> memoryview:
    """What is left to tell."""
    try:
        return rest[os.write(tell, rest[:_PIPE]) :]
    except BrokenPipeError:  # it wants to know no more
        return rest[:0]


def _waited(process: int) -> int:
    """The exit code."""
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # somebody else has waited for all children; what it made tells
        return 0
