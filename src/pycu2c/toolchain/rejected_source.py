"""Save generated text that a compiler rejected, so that users can attach it to a bug report."""

from __future__ import annotations

import os

from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.toolchain_errors import RejectedCode


def rejected_code_error(compiler: str, name: str, text: str, log: str) -> RejectedCode:
    """Save a rejected text and return the exception to raise.

    ``compiler`` is the command with its flags. The file name is ``name`` with a hash.
    """
    return RejectedCode(compiler.split(" ")[0], text, log, _save(compiler, name, text, log))


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
