"""What a kernel is in another language: the text for a GPU or for the CPU, and what a GPU runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pycu2c.compat.cupy.compiled_kernel import USUAL_ARCH, Text, cuda_binary
from pycu2c.compat.cupy.diagnostics import blaming
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.nvrtc import disassembly

Language: TypeAlias = Literal["cuda", "c", "ptx", "sass"]
LANGUAGES = ("cuda", "c", "ptx", "sass")


def place_of(what: str) -> str:
    """Where the text is for that is asked for. Raises ValueError."""
    if what not in LANGUAGES:
        raise ValueError(f"a kernel is shown in one of {', '.join(LANGUAGES)}, not {what!r}")
    return "cpu" if what == "c" else "cuda"


def shown(text: Text, what: str, arch: str | None, options: Sequence[str]) -> str:
    """A text as it is, or what it is compiled to."""
    if what in ("cuda", "c"):
        return text.text
    chosen = arch or (driver.arch() if driver.available() else USUAL_ARCH)
    with blaming(text.written, text.name):
        if what == "ptx":
            return cuda_binary(text, chosen, options, "ptx").data.decode()
        return disassembly.disassemble(cuda_binary(text, chosen, options).data)
