"""Find the CUDA headers that a text includes, and provide the C headers, which NVRTC lacks."""

from __future__ import annotations

import os
import re
from pathlib import Path

from pycu2c.base.hashing import digest_of
from pycu2c.toolchain.cache.cache_directory import sibling_folder
from pycu2c.toolchain.toolchain_errors import ToolchainError

_BUNDLED_SINCE = (13, 3)  # since this version NVRTC contains the headers
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<(.+?)>", re.MULTILINE)
_ANY_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_TOOLKIT_HEADER = re.compile(r"(cuda|cooperative)_\w+\.h")


def header_flags(text: str, version: tuple[int, int]) -> tuple[str, ...]:
    """Return the flags with which NVRTC finds the included headers. Raises ToolchainError."""
    included = [name for name in _INCLUDE.findall(text) if name not in _C_HEADERS]
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


def feature_flags(text: str) -> tuple[str, ...]:
    """Return the flag that omits textures, and types and functions named ``cuda…``, if unused.

    With it, NVRTC takes 9 ms for an empty kernel, without it 15.
    """
    return () if "cuda" in text or _ANY_INCLUDE.search(text) else ("--minimal",)


def header_settings(text: str) -> str:
    """Return the settings on which included headers depend, for the cache key."""
    return repr((_toolkit_homes(), _C_DIGEST)) if _ANY_INCLUDE.search(text) else ""


def c_header_sources(text: str) -> dict[str, bytes]:
    """Return the C headers by name; none for a text that includes nothing."""
    return _C_HEADERS if _ANY_INCLUDE.search(text) else {}


def _toolkit_homes() -> list[str]:
    return [os.environ.get(name, "") for name in ("CUDA_HOME", "CUDA_PATH")]


def _include_folders() -> list[Path]:
    homes = _toolkit_homes()
    return [Path(home) / "include" for home in (*homes, "/usr/local/cuda") if home]


# Headers of the C standard library. NVRTC predefines the declarations of the empty ones.
_C_NAMES = ("float", "inttypes", "limits", "math", "stddef", "stdint")
_EMPTY_NAMES = ("assert", "stdio", "stdlib", "string", "time")
_EMPTY_HEADERS = (
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "vector_functions.h",
    "math_functions.h",
    "stdbool.h",
)


def _text(name: str) -> bytes:
    """Return the text of a header in the folder ``headers``, with an include guard."""
    text = ""
    if name in _C_NAMES:
        file = "stdint.h" if name == "inttypes" else f"{name}.h"
        text = (Path(__file__).parent / "headers" / file).read_text(encoding="utf-8")
    guard = f"PYCU2C_{name.upper()}"
    return f"#ifndef {guard}\n#define {guard}\n{text}#endif\n".encode()


_TEXTS = {name: _text(name) for name in (*_C_NAMES, *_EMPTY_NAMES)}
_C_HEADERS: dict[str, bytes] = {
    **{f"{name}.h": text for name, text in _TEXTS.items()},
    **{f"c{name}": text for name, text in _TEXTS.items()},
    **dict.fromkeys(_EMPTY_HEADERS, b""),
}
_C_DIGEST = digest_of(*_C_HEADERS.values())
