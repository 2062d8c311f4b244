"""Pause Python's cyclic garbage collector."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_MAX_INITIALLY_FROZEN = 1000  # Python itself freezes fewer objects at its start


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the collector while code creates many long-lived objects.

    Collections would traverse all objects of the process repeatedly, which takes a fifth of the
    time to import the compiler. On exit all objects move to the oldest generation, so that the next
    young collection skips them.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        _move_to_oldest_generation()
        gc.enable()


def _move_to_oldest_generation() -> None:
    """Freeze and unfreeze, which moves objects to the oldest generation without a traversal."""
    if (
        gc.get_freeze_count() < _MAX_INITIALLY_FROZEN
    ):  # keep objects frozen that a server froze before it forks
        gc.freeze()
        gc.unfreeze()
