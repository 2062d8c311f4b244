"""The C that is not generated, as text. Compiles nothing."""

from __future__ import annotations

import os


def c_text(*names: str) -> str:
    """C files of this folder, one after the other."""
    return "\n".join(map(_text, names))


def _text(name: str) -> str:
    path = os.path.join(os.path.dirname(__file__), name)
    with open(path, encoding="utf-8") as file:
        return file.read()
