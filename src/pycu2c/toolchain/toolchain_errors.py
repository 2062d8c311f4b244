"""How a toolchain fails. Knows no compiler."""

from __future__ import annotations

import re

from pycu2c.base.records import dataclass


class ToolchainError(RuntimeError):
    """A compiler is missing or does not work here; the message says what to do."""


class LinkError(ToolchainError):
    """A file of the user's cannot be linked, or one is missing; the message says which."""


class Unlinked(LinkError):
    """Code calls functions that no linked file has: ``names``."""

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(
            f"no linked file defines {', '.join(names)}: add the one that does, "
            'such as @kernel(link=["functions.cu", "functions.c"])'
        )
        self.names = names


_MISSING = (
    r"(?:[Uu]ndefined reference to|undefined symbol:|Unresolved extern function) [`']?([\w$.]+)"
)


def missing_in(log: str) -> tuple[str, ...]:
    """The functions that a linker or assembler has not found."""
    return tuple(dict.fromkeys(re.findall(_MISSING, log)))


# "kernel.c:3:5: error: …" of gcc and clang, "kernel.cu(3): error: …" of NVRTC
_ERROR = r"(?m)^([^:(\n]+)[:(](\d+)\S* (?:fatal |catastrophic )?error: (.*)$"


@dataclass(frozen=True, slots=True)
class Complaint:
    """One error of a compiler: in which file, which of its lines, and what is wrong there."""

    file: str
    line: int
    text: str


class RejectedCode(ToolchainError):
    """A working compiler refused generated text: a bug of pycu2c, never of the kernel's author.

    ``line`` is that of the first error in the text; ``origin`` what it was generated from, said by
    who knows that; ``kept`` a file that has the text and the log.
    """

    def __init__(self, compiler: str, text: str, log: str, kept: str | None = None) -> None:
        super().__init__(compiler, text, log, kept)
        self.compiler, self.text, self.log, self.kept = compiler, text, log, kept
        first = re.search(_ERROR, log)
        self.error = first[0] if first else log.strip()
        self.line = int(first[2]) if first else 0
        self.origin = ""

    @property
    def complaints(self) -> list[Complaint]:
        """All errors that name a line."""
        found = re.findall(_ERROR, self.log)
        return [Complaint(file, int(line), text) for file, line, text in found]

    def __str__(self) -> str:
        found = [self.error]
        found += [f"{self.line} | {t}" for t in self.text.splitlines()[self.line - 1 : self.line]]
        if self.origin:
            found.append(f"generated from {self.origin}")
        where = f"; report it with {self.kept}, please" if self.kept else "; please report it"
        return "\n    ".join(
            (
                f"internal error: {self.compiler} refused generated code. This is a bug in pycu2c, "
                f"not in the kernel{where}",
                *found,
            )
        )
