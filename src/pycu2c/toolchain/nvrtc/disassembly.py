"""A cubin -> SASS, the instructions of a GPU, through nvdisasm. Needs no driver and no device."""

from __future__ import annotations

import linecache
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from pycu2c.toolchain.toolchain_errors import ToolchainError

_HOW_TO_INSTALL = """\
nvdisasm, which shows the instructions of a cubin, is not here. Install it with

    pip install 'pycu2c[sass]'

or put the CUDA toolkit's bin folder on PATH"""

_PLACE = re.compile(r'\t//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?')
_HEAD = re.compile(r"\t?\.(target|elftype|headerflags|align)\b|//-----")


def disassemble(cubin: bytes) -> str:
    """The instructions; above them the lines of the source that they are from, where the cubin
    tells. Raises ToolchainError."""
    program = _nvdisasm()
    with tempfile.NamedTemporaryFile(suffix=".cubin", prefix="pycu2c-") as file:
        file.write(cubin)
        file.flush()
        command = [program, "--print-code", "--print-line-info-inline", file.name]
        ran = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if ran.returncode:
        raise ToolchainError(f"nvdisasm failed: {ran.stderr.strip()}")
    return _readable(ran.stdout)


def _nvdisasm() -> str:
    found = _found() or shutil.which("nvdisasm")
    if found is None:
        raise ToolchainError(_HOW_TO_INSTALL)
    return found


def _found() -> str | None:
    """In a package of NVIDIA's or a toolkit."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility

        path: str | None = find_nvidia_binary_utility("nvdisasm")
    except (ImportError, RuntimeError):
        return None
    return path


def _readable(listing: str) -> str:
    """Without what heads each section, and with the source beside the numbers of its lines."""
    lines = [_shown(line) for line in listing.splitlines() if line and not _HEAD.match(line)]
    return "".join(f"{line}\n" for line in lines)


def _shown(line: str) -> str:
    place = _PLACE.fullmatch(line)
    if place is None:
        return line.rstrip()
    file, number, caller, call = place.groups()
    source = linecache.getline(file, int(number)).strip()
    inlined = f" (called at {Path(caller).name}:{call})" if caller else ""
    return f"\t// {Path(file).name}:{number}{inlined}" + (f": {source}" if source else "")
