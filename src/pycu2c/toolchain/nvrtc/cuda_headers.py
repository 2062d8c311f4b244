"""Where NVRTC finds CUDA's headers, for the code that includes some (float16 and bfloat16)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pycu2c.toolchain.cache.cache_directory import private_folder
from pycu2c.toolchain.nvrtc import c_headers
from pycu2c.toolchain.toolchain_errors import ToolchainError

_BUNDLED_SINCE = (13, 3)  # NVRTC carries the headers itself
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(.+?)>", re.MULTILINE)
_ANY_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_OF_TOOLKIT = re.compile(r"(cuda|cooperative)_\w+\.h")


def header_flags(text: str, version: tuple[int, int]) -> tuple[str, ...]:
    """The options that a text's includes need; none for a text without. Raises ToolchainError."""
    wanted = [name for name in _INCLUDE.findall(text) if name not in c_headers.HEADERS]
    if not wanted:
        return ()
    if version >= _BUNDLED_SINCE:
        folder = private_folder(f"cuda-headers-{version[0]}.{version[1]}")
        return (f"--use-bundled-headers={folder}",)
    for place in _places():
        parts = [p for p in (place, place / "cccl") if p.is_dir()]  # one includes the other
        if all(any((p / name).is_file() for p in parts) for name in wanted):
            return tuple(f"--include-path={part}" for part in parts)
    wanted = [name for name in wanted if _OF_TOOLKIT.fullmatch(name)]
    if not wanted:  # the user's own
        return ()
    looked = ", ".join(map(str, _places()))
    raise ToolchainError(
        f"the kernel needs {', '.join(wanted)}, and NVRTC {version[0]}.{version[1]} brings no "
        f"headers: set CUDA_HOME to a CUDA toolkit, or install a newer NVRTC with "
        f"pip install 'pycu2c[gpu]' (looked in {looked})"
    )


def header_settings(text: str) -> str:
    """What the environment says of the headers that a text includes."""
    return repr((_homes(), c_headers.DIGEST)) if _ANY_INCLUDE.search(text) else ""


def headers_of_c(text: str) -> dict[str, bytes]:
    """Headers of C, by their names, for a text that includes some, or files that may."""
    return c_headers.HEADERS if _ANY_INCLUDE.search(text) else {}


def _homes() -> list[str]:
    return [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]


def _places() -> list[Path]:
    homes = _homes()
    return [Path(home) / "include" for home in (*homes, "/usr/local/cuda") if home]
