"""Format the output of kernels that print.

A kernel appends records of 64-bit words to a log: the number of the print, then the values of its
fields. The host formats them with Python, so numbers look as they do in Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from pycu2c.base import dtypes
from pycu2c.base.diagnostics import LaunchError, LaunchWarning, warn
from pycu2c.base.forks import ForkSafeLock
from pycu2c.base.records import replace
from pycu2c.base.types import Scalar
from pycu2c.base.values import as_vector
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.ir.print_format import (
    LOG_NAME,
    THREAD_COORDINATES,
    FormatField,
    PrintFormat,
    RaisedException,
    scalar_types,
    word_count,
)
from pycu2c.runtime.arguments.array_argument import Argument
from pycu2c.runtime.arguments.flattened_arguments import unflatten
from pycu2c.runtime.cpu import cpu_kernel
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.findings import CheckError, Coordinates, Finding, exception_of_thread
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.runtime.runner import Runner

CAPACITY = 1 << 20  # words in a log: 8 MiB
WordArray: TypeAlias = npt.NDArray[np.uint64]


class PrintRecords(NamedTuple):
    """The records of one launch, and the number of records that did not fit."""

    records: WordArray
    lost: int


class PrintLog(Protocol):
    """The log of a kernel. Its layout in generated code: ``{used, size, lost, *words}``."""

    address: int

    def clear(self, stream: int) -> None: ...

    def read(self, stream: int) -> PrintRecords: ...


class HostPrintLog:
    """The log of a kernel on the CPU."""

    def __init__(self, kernel: CpuKernel) -> None:
        self._words: WordArray = np.empty(CAPACITY, np.uint64)
        self._header = kernel.uint64_array(LOG_NAME)
        self.address = cpu_kernel.address_of(self._header)

    def clear(self, stream: int) -> None:
        self._header[0:4] = (0, CAPACITY, 0, self._words.ctypes.data)

    def read(self, stream: int) -> PrintRecords:
        used, lost = int(self._header[0]), int(self._header[2])
        return PrintRecords(self._words[: min(used, CAPACITY)].copy(), lost)


class DevicePrintLog:
    """The log of a kernel on a GPU."""

    def __init__(self, kernel: CudaKernel) -> None:
        self._words = driver.allocate(8 * CAPACITY)
        driver.fill(self._words, bytes(4), 2 * CAPACITY)  # narrow values do not write a whole word
        self.address = kernel_api.variable_of(kernel.loaded.library, LOG_NAME)[0]
        self._header = (ctypes.c_uint64 * 4)()

    def clear(self, stream: int) -> None:
        driver.make_current()
        self._header[:] = [0, CAPACITY, 0, self._words]
        driver.copy_in(self.address, ctypes.addressof(self._header), 32, stream)

    def read(self, stream: int) -> PrintRecords:
        driver.copy_out(ctypes.addressof(self._header), self.address, 32, stream)
        driver.synchronize(stream, "wait for what the kernel prints")
        records: WordArray = np.empty(min(self._header[0], CAPACITY), np.uint64)
        driver.copy_out(records.ctypes.data, self._words, records.nbytes, stream)
        driver.synchronize(stream, "read what the kernel prints")
        return PrintRecords(records, self._header[2])


def log_of(kernel: CpuKernel | CudaKernel) -> PrintLog:
    """Return the log of a kernel that prints."""
    return DevicePrintLog(kernel) if isinstance(kernel, CudaKernel) else HostPrintLog(kernel)


_LOG_LOCKS: dict[int, ForkSafeLock] = {}  # by address of the log


class PrintingRunner(Runner):
    """Runs a kernel that prints, one launch at a time, and writes its output to sys.stdout."""

    def __init__(
        self, inner: Runner, log: PrintLog, formats: tuple[PrintFormat, ...], name: str
    ) -> None:
        self._inner, self._log, self._formats, self._name = inner, log, formats, name
        # kernels with equal text share a library, and so a log
        self._lock = _LOG_LOCKS.setdefault(log.address, ForkSafeLock())

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        stream = driver.stream_of(launch.stream)
        with self._lock:  # one launch at a time
            if self._lock.depth > 1:  # a signal handler interrupted a launch of this thread
                raise LaunchError(
                    f"{self._name} prints, and the handler of a signal launches it while it runs: "
                    "let the handler only set a flag, and launch later"
                )
            self._log.clear(stream)
            self._inner.run(launch, arguments)
            written = self._log.read(stream)
        raised = _write_records(written.records, self._formats)
        if written.lost:
            warn(
                f"{self._name} prints more than {8 * CAPACITY >> 20} MiB: "
                f"{written.lost} print(s) of this launch are lost; let fewer threads print",
                LaunchWarning,
            )
        if raised is not None:
            raise raised


def _write_records(records: WordArray, formats: tuple[PrintFormat, ...]) -> BaseException | None:
    """Write the output; return the first exception of a thread, if there is one.

    Its findings are the places where threads raised exceptions.
    """
    lines: list[str] = []
    error = None
    findings: dict[RaisedException, Finding] = {}
    for print_format, raw in _records(records, formats):
        first = print_format[0] if print_format else None
        if not isinstance(first, RaisedException):
            lines.append(format_record(print_format, raw))
            continue
        raised, finding = raised_exception(first, _values(print_format, raw))
        error = error or raised
        earlier = findings.setdefault(first, finding)
        findings[first] = replace(earlier, count=earlier.count + (earlier is not finding))
    print("".join(lines), end="")  # nothing where sys.stdout is None
    if isinstance(error, CheckError):
        error.findings = tuple(findings.values())
    return error


# ---- formatting --------------------------------------------------------------------------------


def _records(
    records: WordArray, formats: tuple[PrintFormat, ...]
) -> Iterator[tuple[PrintFormat, bytes]]:
    """Yield the format and the values of each record, in log order."""
    sizes = [
        sum(word_count(kind.dtype) for kind in scalar_types(print_format))
        for print_format in formats
    ]
    raw = records.tobytes()
    position = 0
    while position < len(records):
        format_index = int(records[position])
        end = position + 1 + sizes[format_index]
        if end > len(records):  # the first record that did not fit
            return
        yield formats[format_index], raw[8 * (position + 1) : 8 * end]
        position = end


def format_record(print_format: PrintFormat, raw: bytes) -> str:
    """Return the text of a record; ``raw`` contains the values of its fields contiguously."""
    return format_values(print_format, _values(print_format, raw))


def _values(print_format: PrintFormat, raw: bytes) -> Iterator[Any]:
    offset = 0
    for kind in scalar_types(print_format):
        yield _scalar_value(kind, raw[offset : offset + kind.dtype.size])
        offset += 8 * word_count(kind.dtype)


def _scalar_value(kind: Scalar, raw: bytes) -> Any:
    """Convert a value: weak types to Python numbers, others to numpy scalars."""
    if kind.dtype is dtypes.BFLOAT16:
        return _bfloat16(raw)
    value = np.frombuffer(raw, kind.dtype.numpy)[0]
    if kind.dtype.is_vector:
        return as_vector(value, kind.dtype)
    return value.item() if kind.weak else value


def _bfloat16(raw: bytes) -> Any:
    """Return a bfloat16 scalar; float32 if no package that defines bfloat16 is installed."""
    try:
        return np.frombuffer(raw, dtypes.BFLOAT16.numpy)[0]
    except ImportError:
        return np.frombuffer(b"\0\0" + raw, np.float32)[0]


def format_values(print_format: PrintFormat, values: Iterator[Any]) -> str:
    return "".join(
        piece if isinstance(piece, str) else _format_value(piece, values) for piece in print_format
    )


_EXCEPTION_HINT = "correct the arguments of the launch or the condition, or catch the exception"


def raised_exception(
    raised: RaisedException, values: Iterator[Any]
) -> tuple[BaseException, Finding]:
    """Return the exception that a thread raised, and the finding that describes it."""
    numbers = [next(values) for _ in THREAD_COORDINATES]
    block, thread = Coordinates(*numbers[:3]), Coordinates(*numbers[3:])
    where = f"thread {tuple(thread)} of block {tuple(block)}"
    arguments = [_argument(text, values) for text in raised.arguments]
    location = f"{raised.span.file}:{raised.span.line}"
    error = exception_of_thread(raised.exception, arguments, location, where)
    message = ": ".join((type(error).__name__, ", ".join(map(str, arguments)) or "raised here"))
    is_bare = raised.exception is AssertionError and not arguments
    hint = 'show the values in a message: assert x > 0, f"{x}"' if is_bare else _EXCEPTION_HINT
    return error, Finding("assertion", raised.span, message, hint, 1, thread, block)


def _argument(print_format: PrintFormat, values: Iterator[Any]) -> Any:
    """Return the only value, or formatted text."""
    match print_format:
        case (FormatField(kind, "s", ()),):
            return unflatten(kind, values)
        case _:
            return format_values(print_format, values)


_CONVERSIONS: dict[str, Callable[[object], str]] = {"s": str, "r": repr, "a": ascii}


def _format_value(piece: FormatField | RaisedException, values: Iterator[Any]) -> str:
    assert isinstance(piece, FormatField), "exceptions are not printed"
    value = unflatten(piece.type, values)
    if piece.conversion:
        value = _CONVERSIONS[piece.conversion](value)
    return format(value, format_values(piece.spec, values))
