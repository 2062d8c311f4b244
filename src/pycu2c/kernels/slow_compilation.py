"""Report a compilation that takes longer than a second, while it runs.

The report is a record of level INFO of the logger ``pycu2c`` where that level is enabled. Otherwise
it is a line on stderr if that is a terminal.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pycu2c.ir.nodes import Module
from pycu2c.ir.walk import statements

_DELAY_SECONDS = 1.0


@contextmanager
def reporting_slow_compilation(
    describe: Callable[[], str], delay: float = _DELAY_SECONDS
) -> Iterator[None]:
    """Report ``describe()`` if the block takes longer than ``delay`` seconds."""
    timer = threading.Timer(delay, lambda: _report(describe()))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def description(module: Module, backend: str) -> str:
    """Return what is compiled: the kernel, the back end and the number of statements."""
    functions = (module.kernel, *module.device_functions)
    count = sum(1 for f in functions for _ in statements(f.body))
    return (
        f"compiling kernel '{module.kernel.python_name}' for {backend} ({count:,} statements) ..."
    )


def _report(text: str) -> None:
    import logging  # most processes do not need it

    logger = logging.getLogger("pycu2c")
    if logger.isEnabledFor(logging.INFO):
        logger.info(text)
    elif sys.stderr is not None and sys.stderr.isatty():
        print(f"pycu2c: {text}", file=sys.stderr, flush=True)
