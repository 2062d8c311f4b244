"""Suffixes of the IR names of variables that are derived from a variable of the user.

``counts.private`` is a worker's copy of the array ``counts``. Code generation keeps them in C
names.
"""

from __future__ import annotations

CONTEXT = "context"  # the context array of a variable: one element per thread of a block
PRIVATE = "private"  # the copy of an accumulated array that one worker of the thread pool uses
ARGUMENT = "argument"  # what the caller passes for a parameter whose variable has another type
FIRST = "first"  # of the iterations or elements that a strip or tile covers
END = "end"

IN_C_NAMES = (ARGUMENT, CONTEXT, PRIVATE, FIRST, END)


def source_name(name: str) -> str:
    """Return the name of a variable in the source: ``x`` for ``x.1``."""
    return name.partition(".")[0]
