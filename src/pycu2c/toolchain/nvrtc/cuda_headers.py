"""Find the CUDA headers that a text includes, such as those of float16 and bfloat16."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pycu2c.toolchain.cache.cache_directory import sibling_folder
from pycu2c.toolchain.nvrtc import c_headers
from pycu2c.toolchain.toolchain_errors import ToolchainError

_BUNDLED_SINCE = (13, 3)  # since this version NVRTC contains the headers
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(.+?)>", re.MULTILINE)
_ANY_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_TOOLKIT_HEADER = re.compile(r"(cuda|cooperative)_\w+\.h")


def header_flags(text: str, version: tuple[int, int]) -> tuple[str, ...]:
    """Return the flags with which NVRTC finds the included headers. Raises ToolchainError."""
    included = [name for name in _INCLUDE.findall(text) if name not in c_headers.HEADERS]
    if not included:
        return ()
    if version >= _BUNDLED_SINCE:
        folder = sibling_folder(f"cuda-headers-{version[0]}.{version[1]}")
        return (f"--use-bundled-headers={folder}",)
    for include_folder in _include_folders():
        # headers include each other
        folders = [p for p in (include_folder, include_folder / "cccl") if p.is_dir()]
        if all(any((folder / name).is_file() for folder in folders) for name in included):
            return tuple(f"--include-path={folder}" for folder in folders)
    missing = [name for name in included if _TOOLKIT_HEADER.fullmatch(name)]
    if not missing:  # the headers are the user's
        return ()
    searched = ", ".join(map(str, _include_folders()))
    raise ToolchainError(
        f"the kernel includes {', '.join(missing)}, and NVRTC {version[0]}.{version[1]} contains "
        f"no headers: set CUDA_HOME to a CUDA toolkit, or install a newer NVRTC with "
        f"pip install 'pycu2c[gpu]' (searched in {searched})"
    )


def header_settings(text: str) -> str:
    """Return the settings on which included headers depend, for the cache key."""
    return repr((_toolkit_homes(), c_headers.DIGEST)) if _ANY_INCLUDE.search(text) else ""


def c_header_sources(text: str) -> dict[str, bytes]:
    """Return the C headers by name; none for a text that includes nothing."""
    return c_headers.HEADERS if _ANY_INCLUDE.search(text) else {}


def _toolkit_homes() -> list[str]:
    return [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]


def _include_folders() -> list[Path]:
    homes = _toolkit_homes()
    return [Path(home) / "include" for home in (*homes, "/usr/local/cuda") if home]
