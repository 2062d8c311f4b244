"""What kernels print: the log that they write to, and the text that the host makes of it.

A record of the log is the number of its print and then the values of its slots, in 64-bit words.
Python itself makes the text, so that every number looks as it does in Python.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError, LaunchWarning, warn
from pycu2c.base.records import NamedTuple
from pycu2c.base.types import Scalar
from pycu2c.base.values import as_vector
from pycu2c.cuda_driver import driver
from pycu2c.ir.print_format import LOG, WHO, Raised, Slot, Text, numbers, words
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.arguments.flattened_arguments import put_together
from pycu2c.runtime.cpu import cpu_kernel
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.direct_launch import Direct
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Runner
from pycu2c.runtime.thread_exceptions import raised_by

CAPACITY = 1 << 20  # words of a log: 8 MiB
Words: TypeAlias = npt.NDArray[np.uint64]


class Written(NamedTuple):
    """The records of one launch, and how many more there was no room for."""

    records: Words
    lost: int


class Log(Protocol):
    """Where a kernel's prints go. In the generated text: ``{used, size, lost, *words}``."""

    address: int

    def clear(self, stream: int) -> None: ...

    def read(self, stream: int) -> Written: ...


class HostLog:
    """That of a kernel on the CPU."""

    def __init__(self, kernel: CpuKernel) -> None:
        self._words: Words = np.empty(CAPACITY, np.uint64)
        self._head = kernel.words(LOG)
        self.address = cpu_kernel.address_of(self._head)

    def clear(self, stream: int) -> None:
        self._head[0:4] = (0, CAPACITY, 0, self._words.ctypes.data)

    def read(self, stream: int) -> Written:
        used, lost = int(self._head[0]), int(self._head[2])
        return Written(self._words[: min(used, CAPACITY)].copy(), lost)


class DeviceLog:
    """That of a kernel on a GPU."""

    def __init__(self, kernel: CudaKernel) -> None:
        self._words = driver.allocate(8 * CAPACITY)
        driver.fill(self._words, bytes(4), 2 * CAPACITY)  # a short value leaves the rest of a word
        self.address = driver.variable(kernel.loaded, LOG)
        self._head = (ctypes.c_uint64 * 4)()

    def clear(self, stream: int) -> None:
        driver.make_current()
        self._head[:] = [0, CAPACITY, 0, self._words]
        driver.copy_in(self.address, ctypes.addressof(self._head), 32, stream)

    def read(self, stream: int) -> Written:
        driver.copy_out(ctypes.addressof(self._head), self.address, 32, stream)
        driver.synchronize(stream, "wait for what the kernel prints")
        records: Words = np.empty(min(self._head[0], CAPACITY), np.uint64)
        driver.copy_out(records.ctypes.data, self._words, records.nbytes, stream)
        driver.synchronize(stream, "read what the kernel prints")
        return Written(records, self._head[2])


class _Turn:
    """Who may use a log: one launch after the other."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._taken = False

    @contextmanager
    def taken(self, name: str) -> Iterator[None]:
        with self._lock:
            if self._taken:  # by this very thread, whose launch a signal has interrupted
                raise LaunchError(
                    f"{name} prints, and the handler of a signal launches it while it runs: "
                    "let the handler note what is to be done, and launch later"
                )
            self._taken = True
            try:
                yield
            finally:
                self._taken = False


_TURNS: dict[int, _Turn] = {}  # by the addresses of logs


class PrintingRunner:
    """Runs a kernel that prints, one launch after the other, and writes its text to sys.stdout
    when it is done."""

    def __init__(self, inner: Runner, log: Log, texts: tuple[Text, ...], name: str) -> None:
        self._inner, self._log, self._texts, self._name = inner, log, texts, name
        # kernels of the same text may be one library: one log, whoever has loaded it
        self._turn = _TURNS.setdefault(log.address, _Turn())

    @property
    def direct(self) -> Direct | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        stream = driver.stream_of(launch.stream)
        with self._turn.taken(self._name):
            self._log.clear(stream)
            self._inner.run(launch, arguments)
            written = self._log.read(stream)
        raised = _written(written.records, self._texts)
        if written.lost:
            warn(
                f"{self._name} prints more than {8 * CAPACITY >> 20} MiB: "
                f"{written.lost} print(s) of this launch are lost; let fewer threads print",
                LaunchWarning,
            )
        if raised is not None:
            raise raised


def _written(records: Words, texts: tuple[Text, ...]) -> BaseException | None:
    """Write what is printed; and the first exception, if there is one."""
    lines: list[str] = []
    error = None
    for text, raw in _records(records, texts):
        first = text[0] if text else None
        if not isinstance(first, Raised):
            lines.append(text_of(text, raw))
        elif error is None:
            error = _raised(first, _values(text, raw))
    sys.stdout.write("".join(lines))
    return error


# ---- numbers to text ---------------------------------------------------------------------------


def _records(records: Words, texts: tuple[Text, ...]) -> Iterator[tuple[Text, bytes]]:
    """The text of each record and its values, in the order in which threads came."""
    sizes = [sum(words(kind.dtype) for kind in numbers(text)) for text in texts]
    raw = records.tobytes()
    at = 0
    while at < len(records):
        number = int(records[at])
        end = at + 1 + sizes[number]
        if end > len(records):  # the first that there was no room for
            return
        yield texts[number], raw[8 * (at + 1) : 8 * end]
        at = end


def text_of(text: Text, raw: bytes) -> str:
    """The text with values in its slots, which lie in ``raw`` one after the other."""
    return _filled(text, _values(text, raw))


def _values(text: Text, raw: bytes) -> Iterator[Any]:
    offset = 0
    for kind in numbers(text):
        yield _number(kind, raw[offset : offset + kind.dtype.size])
        offset += 8 * words(kind.dtype)


def _number(kind: Scalar, raw: bytes) -> Any:
    """As Python has it: a weak number is one of Python's, a strong one numpy's."""
    if kind.dtype is dtypes.BFLOAT16:
        return _bfloat16(raw)
    value = np.frombuffer(raw, kind.dtype.numpy)[0]
    if kind.dtype.is_vector:
        return as_vector(value, kind.dtype)
    return value.item() if kind.weak else value


def _bfloat16(raw: bytes) -> Any:
    """numpy has none of its own; without the package that adds it, the same number as float32."""
    try:
        return np.frombuffer(raw, dtypes.BFLOAT16.numpy)[0]
    except ImportError:
        return np.frombuffer(b"\0\0" + raw, np.float32)[0]


def _filled(text: Text, values: Iterator[Any]) -> str:
    return "".join(piece if isinstance(piece, str) else _shown(piece, values) for piece in text)


def _raised(told: Raised, values: Iterator[Any]) -> BaseException:
    numbers = [next(values) for _ in WHO]
    who = f"thread {tuple(numbers[3:])} of block {tuple(numbers[:3])}"
    given = [_argument(text, values) for text in told.arguments]
    return raised_by(told.kind, given, told.where, who)


def _argument(text: Text, values: Iterator[Any]) -> Any:
    """A value by itself, or text."""
    match text:
        case (Slot(kind, "s", ()),):
            return put_together(kind, values)
        case _:
            return _filled(text, values)


_CONVERSIONS: dict[str, Callable[[object], str]] = {"s": str, "r": repr, "a": ascii}


def _shown(slot: Slot | Raised, values: Iterator[Any]) -> str:
    assert isinstance(slot, Slot), "exceptions are not printed"
    value = put_together(slot.kind, values)
    if slot.conversion:
        value = _CONVERSIONS[slot.conversion](value)
    return format(value, _filled(slot.spec, values))
