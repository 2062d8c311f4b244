"""Identify the installed NVRTC by its files, for cache keys, without loading it (50 ms).

The lookup covers installations by pip. If ``cuda.pathfinder`` loads another library after all,
binaries are still stored under a correct key, which contains the files that were loaded.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from pycu2c.toolchain.toolchain_errors import ToolchainError

# the paths in the wheels for CUDA 13 and 12, as in cuda.pathfinder
_PATHS_IN_WHEELS = ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")


def installed_identity() -> str | None:
    """Return the identity of the NVRTC that is likely to be loaded; None if it is not found."""
    return _find_installed(tuple(sys.path))


@functools.lru_cache(maxsize=4)
def _find_installed(folders: tuple[str, ...]) -> str | None:
    for name in _PATHS_IN_WHEELS:
        for folder in folders:
            path = Path(folder, name)
            if path.is_file():
                return library_identity(path)
    return None


def loaded_identity() -> str:
    """Load NVRTC as ``cuda.bindings`` does, and return its identity. Raises ToolchainError."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        return library_identity(Path(load_nvidia_dynamic_lib("nvrtc").abs_path))
    except (ImportError, OSError, RuntimeError) as error:
        raise ToolchainError(f"NVRTC was not found on disk: {error}") from error


def library_identity(library: Path) -> str:
    """Return the sizes of NVRTC and its builtins library, and the version of their wheel.

    Without a wheel, times take the place of its version; copies of images may change them.
    """
    parts = sorted(library.parent.glob("*nvrtc*")) or [library]
    wheels, states = _wheels(library), [(p.name, p.stat()) for p in parts]
    files = [f"{n} {s.st_size} {'' if wheels else s.st_mtime_ns}" for n, s in states]
    return "\n".join((*files, *wheels))


def _wheels(library: Path) -> list[str]:
    root = next((p.parent for p in library.parents if p.name == "nvidia"), None)
    if root is None:
        return []
    return sorted(n for n in os.listdir(root) if n.startswith("nvidia_cuda_nvrtc"))
