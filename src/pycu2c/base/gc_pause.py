"""Pause Python's cyclic garbage collector."""

from __future__ import annotations

import gc
import os
from _thread import get_ident
from collections.abc import Iterator
from contextlib import contextmanager

_MAX_INITIALLY_FROZEN = 1000  # Python itself freezes fewer objects at its start


_PAUSED_BY = [0]  # the thread that pauses the collector; 0 if none does


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
    _PAUSED_BY[0] = get_ident()
    gc.disable()
    try:
        yield
    finally:
        _PAUSED_BY[0] = 0
        _move_to_oldest_generation()
        gc.enable()


def _resume_in_child() -> None:
    """Resume the collector in a forked child if a thread paused it that does not exist there."""
    if _PAUSED_BY[0] not in (0, get_ident()):
        _PAUSED_BY[0] = 0
        gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_resume_in_child)


def _move_to_oldest_generation() -> None:
    """Freeze and unfreeze, which moves objects to the oldest generation without a traversal."""
    # keep objects frozen that a server froze before it forks
    if gc.get_freeze_count() < _MAX_INITIALLY_FROZEN:
        gc.freeze()
        gc.unfreeze()
