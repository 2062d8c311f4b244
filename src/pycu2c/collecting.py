"""Python's collector of cycles, held off while there is nothing for it to find."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """For code that makes many objects and keeps them: the collector would go through all of the
    process's again and again, which is a fifth of the time of importing the compiler."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
