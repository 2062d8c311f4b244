"""Disassemble a cubin to SASS with nvdisasm. Requires no driver and no device."""

from __future__ import annotations

import linecache
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pycu2c.toolchain.toolchain_errors import ToolchainError

_HOW_TO_INSTALL = """\
nvdisasm, which shows the instructions of a cubin, was not found. Install it with

    pip install 'pycu2c[sass]'

or put the CUDA toolkit's bin folder on PATH"""

_LINE_MARKER = re.compile(
    r'\t//## File "([^"]*)", line (\d+)(?: inlined at "([^"]*)", line (\d+))?'
)
_SECTION_HEADER = re.compile(r"\t?\.(target|elftype|headerflags|align)\b|//-----")


def disassemble(cubin: bytes) -> str:
    """Return the instructions, below comments with the source lines if the cubin has them.

    Raises ToolchainError.
    """
    return "".join(f"{_format_line(line)}\n" for line in _listing(cubin))


def instructions(cubin: bytes) -> Iterator[tuple[str, tuple[str, int] | None]]:
    """Yield the lines of ``disassemble`` with their files and lines of source in place of comments.

    Raises ToolchainError.
    """
    origin = None
    for line in _listing(cubin):
        if marker := _LINE_MARKER.fullmatch(line):
            origin = marker[1], int(marker[2])
        else:
            yield line.rstrip(), origin


def _listing(cubin: bytes) -> list[str]:
    """Return the lines of nvdisasm without headers of sections."""
    program = _nvdisasm()
    with tempfile.NamedTemporaryFile(suffix=".cubin", prefix="pycu2c-") as file:
        file.write(cubin)
        file.flush()
        command = [program, "--print-code", "--print-line-info-inline", file.name]
        completed = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if completed.returncode:
        raise ToolchainError(f"nvdisasm failed: {completed.stderr.strip()}")
    lines = completed.stdout.splitlines()
    return [line for line in lines if line and not _SECTION_HEADER.match(line)]


def _nvdisasm() -> str:
    found = _packaged_nvdisasm() or shutil.which("nvdisasm")
    if found is None:
        raise ToolchainError(_HOW_TO_INSTALL)
    return found


def _packaged_nvdisasm() -> str | None:
    """Find nvdisasm in a package of NVIDIA or in a CUDA toolkit."""
    try:
        from cuda.pathfinder import find_nvidia_binary_utility

        path: str | None = find_nvidia_binary_utility("nvdisasm")
    except (ImportError, RuntimeError):
        return None
    return path


def _format_line(line: str) -> str:
    """Add the text of source lines to line numbers."""
    marker = _LINE_MARKER.fullmatch(line)
    if marker is None:
        return line.rstrip()
    file, number, caller, call = marker.groups()
    source = linecache.getline(file, int(number)).strip()
    inlined = f" (called at {Path(caller).name}:{call})" if caller else ""
    return f"\t// {Path(file).name}:{number}{inlined}" + (f": {source}" if source else "")
