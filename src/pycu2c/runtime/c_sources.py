"""Read the C sources of the runtime."""

from __future__ import annotations

import os


def c_text(*names: str) -> str:
    """Return C files of the runtime, concatenated."""
    return "\n".join(map(_text, names))


def _text(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path, encoding="utf-8") as file:
        return file.read()
