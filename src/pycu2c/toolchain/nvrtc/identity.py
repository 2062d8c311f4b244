"""Which NVRTC there is, by its files: to load it takes 50 ms, and a cubin on disk needs none.

What was installed by pip is found without the package that loads it. Should that load another one
after all, nothing is kept under the wrong name: what is compiled goes by the files that were
loaded.
"""

from __future__ import annotations

import functools
import os
import sys
from pathlib import Path

from pycu2c.toolchain.toolchain_errors import ToolchainError

# where the wheels for CUDA 13 and 12 have it, as in cuda.pathfinder
_IN_WHEELS = ("nvidia/cu13/lib/libnvrtc.so.13", "nvidia/cuda_nvrtc/lib/libnvrtc.so.12")


def installed() -> str | None:
    """The identity of the NVRTC that will probably be loaded; None if it takes that to know."""
    return _installed(tuple(sys.path))


@functools.lru_cache(maxsize=4)
def _installed(folders: tuple[str, ...]) -> str | None:
    for name in _IN_WHEELS:
        for folder in folders:
            path = Path(folder, name)
            if path.is_file():
                return identity(path)
    return None


def loaded() -> str:
    """The identity of the NVRTC that ``cuda.bindings`` uses; that is loaded."""
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib

        return identity(Path(load_nvidia_dynamic_lib("nvrtc").abs_path))
    except (ImportError, OSError, RuntimeError) as error:
        raise ToolchainError(f"NVRTC was not found on disk: {error}") from error


def identity(library: Path) -> str:
    """Sizes and times of the library and of the one beside it that it needs, and the version of
    the wheel that brought them."""
    parts = sorted(library.parent.glob("libnvrtc*")) or [library]
    files = [f"{p.name} {s.st_size} {s.st_mtime_ns}" for p in parts for s in [p.stat()]]
    return "\n".join((*files, *_wheels(library)))


def _wheels(library: Path) -> list[str]:
    root = next((p.parent for p in library.parents if p.name == "nvidia"), None)
    if root is None:
        return []
    return sorted(n for n in os.listdir(root) if n.startswith("nvidia_cuda_nvrtc"))
