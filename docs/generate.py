"""Generate documentation from the tables of the compiler: the pages on errors, the language and
migration, the names on the page about numba, the picture of a report, the stubs for type checkers,
and the functions of complex numbers in C++ headers.

``conf.py`` generates the pages on intrinsics when the site is built.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from generators import (  # noqa: E402
    complex_functions,
    errors,
    language,
    layers,
    migrating,
    numba_names,
    race_picture,
    stubs,
)

PAGES = {
    "how_it_works/architecture.md": layers.page,
    "reference/errors.md": errors.page,
    "guide/language.md": language.page,
    "coming_from/migrating.md": migrating.page,
    "coming_from/numba.md": numba_names.page,
    "guide/race.svg": race_picture.picture,
    "../src/pycu2c/cuda/__init__.pyi": stubs.stub,
    "../src/pycu2c/base/vector_types.pyi": stubs.vector_stub,
    **complex_functions.PAGES,
}

if __name__ == "__main__":
    for name, text in PAGES.items():
        (HERE / name).write_text(text())
