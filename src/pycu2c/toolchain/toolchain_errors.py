"""Define the exceptions of compilers and linkers; parse their logs; save rejected text."""

from __future__ import annotations

import errno
import os
import re

from pycu2c.base.errors import Error
from pycu2c.base.records import dataclass
from pycu2c.toolchain.cache import artifact_store, cache_directory


class ToolchainError(Error, RuntimeError):
    """A compiler is missing or does not work; the message says what to do."""


class LinkError(ToolchainError):
    """A file of the user cannot be linked, or one is missing; the message names it."""


class UndefinedFunctionError(LinkError):
    """Code calls functions that no linked file defines.

    Attributes
    ----------
    names : tuple of str
        The functions.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        super().__init__(
            f"no linked file defines {', '.join(names)}: add the one that does, "
            'such as @kernel(link=["functions.cu", "functions.c"])'
        )
        self.names = names


TOO_MANY_FILES = (errno.EMFILE, errno.ENFILE)


def file_error(error: OSError) -> ToolchainError:
    """Return the error of a compiler that could not be run for want of files or space."""
    if error.errno in TOO_MANY_FILES:
        hint = (
            "The compiler opens more files than the limit allows: raise the limit with "
            "`ulimit -n 1024`"
        )
    else:
        hint = (
            "The compiler cannot write temporary files: free space in their folder, or set TMPDIR "
            "to another one"
        )
    return ToolchainError(f"a kernel could not be compiled: {error}. {hint}")


# the last line is for macOS, where names in C have an underscore more
_UNDEFINED = (
    r"(?:[Uu]ndefined reference to|undefined symbol:|Unresolved extern function) [`']?([\w$.]+)"
    r"|(?:flat namespace '_|(?m:^) +\"_)([\w$.]+)['\"]"
)


def undefined_functions_in(log: str) -> tuple[str, ...]:
    """Return the functions that a linker or assembler reports as undefined."""
    return tuple(dict.fromkeys(m[1] or m[2] for m in re.finditer(_UNDEFINED, log)))


# "kernel.c:3:5: error: …" of gcc and clang, "kernel.cu(3): error: …" of NVRTC
_ERROR = r"(?m)^([^:(\n]+)[:(](\d+)\S* (?:fatal |catastrophic )?error: (.*)$"


@dataclass(frozen=True, slots=True)
class CompilerDiagnostic:
    """One error of a compiler log: the file, the line and the message."""

    file: str
    line: int
    text: str


class RejectedCodeError(ToolchainError):
    """A working compiler rejected generated text: a bug of pycu2c, not of the kernel's author.

    Attributes
    ----------
    text, log : str
        The text, and the output of the compiler.
    line : int
        The line of the first error in the text; 0 if it is unknown.
    origin : str
        The source of this line.
    saved_path : str or None
        A file with the text and the log.
    """

    def __init__(self, compiler: str, text: str, log: str, saved_path: str | None = None) -> None:
        super().__init__(compiler, text, log, saved_path)
        self.compiler, self.text, self.log, self.saved_path = compiler, text, log, saved_path
        first_error = re.search(_ERROR, log)
        self.error = first_error[0] if first_error else log.strip()
        self.line = int(first_error[2]) if first_error else 0
        self.origin = ""

    @property
    def diagnostics(self) -> list[CompilerDiagnostic]:
        """Return all errors that name a line."""
        found = re.findall(_ERROR, self.log)
        return [CompilerDiagnostic(file, int(line), text) for file, line, text in found]

    def __str__(self) -> str:
        lines = [self.error]
        lines += [f"{self.line} | {t}" for t in self.text.splitlines()[self.line - 1 : self.line]]
        if self.origin:
            lines.append(f"generated from {self.origin}")
        attachment = f" with {self.saved_path}" if self.saved_path else ""
        return "\n    ".join(
            (
                f"internal error: {self.compiler} rejected generated code. This is a bug in "
                f"pycu2c, not in the kernel; please report it{attachment}",
                *lines,
            )
        )


def rejected_code_error(compiler: str, name: str, text: str, log: str) -> RejectedCodeError:
    """Save a rejected text and return the exception to raise.

    ``compiler`` is the command with its flags. The file name is ``name`` with a hash.
    """
    return RejectedCodeError(compiler.split(" ")[0], text, log, _save(compiler, name, text, log))


def _save(compiler: str, name: str, text: str, log: str) -> str | None:
    footer = "".join(f"// {line}\n" for line in (compiler, *log.splitlines()))
    try:
        folder = cache_directory.sibling_folder("rejected")
        stem, suffix = os.path.splitext(name)
        path = os.path.join(folder, f"{stem}-{artifact_store.key_of(text, compiler)[:12]}{suffix}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{text}\n{footer}")
    except OSError:  # the error contains the log as well
        return None
    return path
