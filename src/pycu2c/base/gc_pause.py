"""Python's collector of cycles, held off while there is nothing for it to find."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

_INITIALLY_FROZEN = 1000  # more objects that are frozen than some Pythons begin with: a user's


@contextmanager
def gc_paused() -> Iterator[None]:
    """For code that makes many objects and keeps them: the collector would go through all of the
    process's again and again, which is a fifth of the time of importing the compiler; and through
    the new ones right after, unless they are counted among the old by then."""
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
    """Thawing puts objects among the oldest; to freeze and thaw looks at none of them."""
    if (
        gc.get_freeze_count() < _INITIALLY_FROZEN
    ):  # else what a server froze before it forks would thaw
        gc.freeze()
        gc.unfreeze()
