"""Return the generated text of a kernel, or PTX and SASS compiled from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from pycu2c.compat.cupy.compiled_kernel import DEFAULT_ARCH, GeneratedText, cuda_binary
from pycu2c.compat.cupy.diagnostics import translate_errors
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.nvrtc import disassembly

Language: TypeAlias = Literal["cuda", "c", "ptx", "sass"]
LANGUAGES = ("cuda", "c", "ptx", "sass")


def backend_of(what: str) -> str:
    """Return the backend of a language. Raises ValueError."""
    if what not in LANGUAGES:
        raise ValueError(f"a kernel is shown in one of {', '.join(LANGUAGES)}, not {what!r}")
    return "cpu" if what == "c" else "cuda"


def inspect_text(text: GeneratedText, what: str, arch: str | None, options: Sequence[str]) -> str:
    """Return a text, or its compiled form."""
    if what in ("cuda", "c"):
        return text.text
    chosen = arch or (driver.arch() if driver.available() else DEFAULT_ARCH)
    with translate_errors(text.written, text.name):
        if what == "ptx":
            return cuda_binary(text, chosen, options, "ptx").data.decode()
        return disassembly.disassemble(cuda_binary(text, chosen, options).data)
