"""What a toolchain makes of generated text, and how it fails. Knows no compiler."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Binary:
    """Compiled code: ``entry`` is the kernel's symbol, ``text`` the source that was compiled.

    ``path`` is where ``data`` lies on disk, if it does; ``log`` what the compiler said.
    """

    kind: Literal["so", "cubin", "ptx"]
    entry: str
    text: str = field(repr=False)
    data: bytes = field(repr=False)
    path: Path | None
    log: str = field(repr=False)


class ToolchainError(RuntimeError):
    """A compiler is missing or does not work here; the message says what to do."""


class RejectedCode(ToolchainError):
    """A working compiler refused generated text: a bug of pycu2c, never of the kernel's author."""

    def __init__(self, compiler: str, text: str, log: str) -> None:
        self.text = text
        self.log = log
        super().__init__(
            f"internal error: {compiler} refused generated code. "
            "This is a bug in pycu2c; please report it with the kernel and this output:\n"
            f"{log.strip()}"
        )
