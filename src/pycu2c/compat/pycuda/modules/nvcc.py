"""Run nvcc, if the user names it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence

from pycu2c.compat.pycuda.errors import CompileError

USUAL = "nvcc"
_RELEASE = re.compile(r"release (\d+)\.(\d+)")


def named(nvcc: str) -> str | None:
    """Return the path of nvcc, if the user has named one that exists."""
    return None if nvcc == USUAL else shutil.which(nvcc)


def check(nvcc: str) -> None:
    """Check that the program is a CUDA compiler. Raises CompileError."""
    if "fortran" in os.path.basename(nvcc):
        raise CompileError(f"modules are of CUDA C, which {nvcc} does not compile", [nvcc])


def version(program: str) -> tuple[int, int]:
    """Return the version of nvcc."""
    ran = subprocess.run([program, "--version"], capture_output=True, text=True)
    found = _RELEASE.search(ran.stdout)
    if found is None:
        raise CompileError(f"{program} tells no version", [program, "--version"], ran.stdout)
    return int(found[1]), int(found[2])


def compiled(program: str, text: str, target: str, options: Sequence[str]) -> bytes:
    """Compile a text to a cubin, PTX or a fatbin. Raises CompileError."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = (os.path.join(folder, f"kernel.{end}") for end in ("cu", target))
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        words = [program, f"--{target}", *options, "-o", made, source]
        ran = subprocess.run(words, capture_output=True, text=True, cwd=folder)
        if ran.returncode:
            said = ran.stderr or ran.stdout
            raise CompileError(f"nvcc compilation of {source} failed", words, None, said)
        with open(made, "rb") as result:
            return result.read()
