"""Generated text that a compiler has refused is kept in a file, so that it can be reported."""

from __future__ import annotations

import os

from pycu2c.toolchain.cache import artifact_store, cache_directory
from pycu2c.toolchain.toolchain_errors import RejectedCode


def refused(compiler: str, name: str, text: str, log: str) -> RejectedCode:
    """The error to raise. ``compiler`` says which, with its flags; ``name`` is what to call the
    file, beside a hash."""
    return RejectedCode(compiler.split(" ")[0], text, log, _kept(compiler, name, text, log))


def _kept(compiler: str, name: str, text: str, log: str) -> str | None:
    said = "".join(f"// {line}\n" for line in (compiler, *log.splitlines()))
    try:
        folder = cache_directory.private_folder("refused")
        stem, suffix = os.path.splitext(name)
        path = os.path.join(folder, f"{stem}-{artifact_store.key_of(text, compiler)[:12]}{suffix}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{text}\n{said}")
    except OSError:  # the log is in the error, too
        return None
    return path
