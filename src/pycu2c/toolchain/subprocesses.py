"""Other programs: run with a text to read, and heard to the end. Knows no compiler.

As ``subprocess``, whose import takes a tenth of the time that a small kernel's compilation does.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Callable

from pycu2c.base.records import dataclass

_KILL = 9  # whose name is in ``signal``, which takes long to import
_PIPE = 1 << 16  # bytes that one holds


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended: by its exit code, or by a signal, whose number is then negative; and
    what it said."""

    code: int
    said: str


def run(words: tuple[str, ...], text: str = "") -> Ran:
    """Run a program on a text. OSError where it cannot be started."""
    return Started(words).finish(text)


class Started:
    """A program that runs, and reads a text as soon as there is one. What it says is in English.
    One of ``finish`` and ``drop`` is called in the end."""

    __slots__ = ("_hear", "_process", "_tell")

    def __init__(self, words: tuple[str, ...]) -> None:
        told, self._tell = os.pipe()
        self._hear, said = os.pipe()
        streams = [(os.POSIX_SPAWN_DUP2, file, n) for n, file in enumerate((told, said, said))]
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            self._process = os.posix_spawn(words[0], words, environment, file_actions=streams)
        except BaseException:
            os.close(self._tell)
            os.close(self._hear)
            raise
        finally:
            os.close(told)
            os.close(said)
        _TELLING.add(self._tell)

    def finish(self, text: str) -> Ran:
        """Give it the text, and wait for its end."""
        try:
            heard = _exchanged(self._tell, self._hear, text.encode("utf-8", "surrogatepass"))
        except BaseException:  # Ctrl-C
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process, _KILL)
            _waited(self._process)
            raise
        return Ran(_waited(self._process), heard.decode("utf-8", "replace"))

    def drop(self) -> None:
        """There is no text. It reads an empty one, and removes its temporary files as ever: those
        that it has started would make more after it had been told to end."""
        self.finish("")


_TELLING: set[int] = set()  # files of programs that have not got all of their text


def _close(file: int) -> None:
    _TELLING.discard(file)
    os.close(file)


def _forget() -> None:
    """A program would wait for a forked child, too, to close what it is told by."""
    while _TELLING:
        os.close(_TELLING.pop())


os.register_at_fork(after_in_child=_forget)


_LISTENERS: list[Callable[[], None]] = []


def when_told(listener: Callable[[], None]) -> None:
    """Have something called once, when a program has got all of its text and is at work."""
    _LISTENERS.append(listener)


def _tell_listeners() -> None:
    while _LISTENERS:
        _LISTENERS.pop()()


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
                if parts[-1] if file == hear else rest:
                    continue
                poll.unregister(file)
                open_files.discard(file)
                _close(file)
                if file == tell and text:
                    _tell_listeners()
        return b"".join(parts)
    finally:
        for file in open_files:
            _close(file)


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
