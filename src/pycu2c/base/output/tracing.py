"""Spans of work of the compiler and the launcher: logged, collected, and written to a trace.

A span is a record of the logger ``pycu2c.CATEGORY`` when it ends. With PYCU2C_TRACE=1, or the name
of a file, all spans of the process are written at its end, in the JSON format of Chrome's tracing,
which Perfetto shows. The last million is kept.
"""

from __future__ import annotations

import atexit
import logging
import os
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_native_id
from typing import NamedTuple

from pycu2c.base.lazy_imports import import_module

DEBUG, INFO = logging.DEBUG, logging.INFO
_LOGGER = logging.getLogger("pycu2c")
_LOGGER.addHandler(logging.NullHandler())  # records of libraries are not printed by default
_PROCESS = os.getpid()
_LIMIT = 1_000_000


class TraceSpan(NamedTuple):
    """A piece of work. ``start`` and ``duration`` are nanoseconds, ``thread`` is the OS thread."""

    category: str
    name: str
    details: dict[str, object]
    start: int
    duration: int
    thread: int


def _trace_file(text: str) -> str:
    return {"0": "", "1": f"pycu2c-trace-{_PROCESS}.json"}.get(text, text)


TRACE_FILE = _trace_file(os.environ.get("PYCU2C_TRACE", "").strip())  # empty for no trace
_COLLECTORS: list[deque[TraceSpan]] = []


@contextmanager
def span(category: str, name: str, level: int = DEBUG, **details: object) -> Iterator[None]:
    """Measure a ``with`` block as a span, also if it raises an exception."""
    start = time.perf_counter_ns()
    try:
        yield
    finally:
        duration = time.perf_counter_ns() - start
        if _COLLECTORS:
            ended = TraceSpan(category, name, details, start, duration, get_native_id())
            for collector in _COLLECTORS:
                collector.append(ended)
        log(category, "%s: %.2f ms", name, duration / 1e6, level=level)


def log(category: str, message: str, *values: object, level: int = INFO) -> None:
    """Log a message to ``pycu2c.CATEGORY``."""
    _LOGGER.getChild(category).log(level, message, *values)


@contextmanager
def collecting_spans() -> Iterator[deque[TraceSpan]]:
    """Collect the spans that end in a ``with`` block."""
    spans: deque[TraceSpan] = deque(maxlen=_LIMIT)
    _COLLECTORS.append(spans)
    try:
        yield spans
    finally:
        _COLLECTORS.remove(spans)


def _event(ended: TraceSpan) -> dict[str, object]:
    """Return a complete event of Chrome's trace format; its times are in microseconds."""
    return {
        "name": ended.name,
        "cat": ended.category,
        "ph": "X",
        "ts": ended.start / 1e3,
        "dur": ended.duration / 1e3,
        "pid": _PROCESS,
        "tid": ended.thread,
        "args": {key: str(value) for key, value in ended.details.items()},
    }


def _write_trace(spans: deque[TraceSpan]) -> None:
    """Write the trace; a forked child writes none."""
    if os.getpid() != _PROCESS:
        return
    trace = {"traceEvents": [_event(each) for each in spans], "displayTimeUnit": "ms"}
    try:
        with open(TRACE_FILE, "w", encoding="utf-8") as file:
            import_module("json").dump(trace, file)
    except OSError as error:
        print(f"pycu2c: cannot write {TRACE_FILE}: {error.strerror}", file=sys.stderr)


def _start_trace() -> None:
    spans: deque[TraceSpan] = deque(maxlen=_LIMIT)
    _COLLECTORS.append(spans)
    atexit.register(_write_trace, spans)


if TRACE_FILE:
    _start_trace()
