"""Which line of Python a line of generated text is from. Found by generating the text once more,
with comments that say it, so that nothing has to be kept of all texts that are never asked about.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pycu2c.emit.statements import PLACE, Comments
from pycu2c.toolchain.binary import RejectedCode


@contextmanager
def naming_origins(generate: Callable[[Comments], str]) -> Iterator[None]:
    """A refusal of the text that ``generate`` makes says what in the kernel it is about."""
    try:
        yield
    except RejectedCode as error:
        error.origin = _shown(_place(error.text, generate("places"), error.line))
        raise


def _place(text: str, marked: str, line: int) -> str:
    """The last place said before a line, which is counted in the text without comments."""
    found, number = "", 0
    lines = text.splitlines()
    for shown in marked.splitlines():
        if shown.lstrip().startswith(f"// {PLACE}"):
            found = shown.split(PLACE, 1)[1]
            continue
        number += 1
        if number > len(lines) or lines[number - 1] != shown:
            return ""  # the texts differ
        if number == line:
            return found
    return ""


def _shown(place: str) -> str:
    file, _, row = place.rpartition(":")[0].rpartition(":")
    source = linecache.getline(file, int(row)).strip() if row.isdigit() else ""
    return f"{place}: {source}" if source else place
