"""Collect the compile settings that PyCUDA's functions accept."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import Any

from pycu2c.base.records import dataclass
from pycu2c.compat.pycuda.modules import nvcc as nvcc_compiler
from pycu2c.compat.pycuda.modules.source_text import HEADERS, SourceText, source_text
from pycu2c.toolchain.cache import cache_directory

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """The settings of a compilation: arguments of ``SourceModule`` and similar functions."""

    nvcc: str = nvcc_compiler.DEFAULT
    options: tuple[str, ...] = ()
    keep: bool = False
    no_extern_c: bool = False
    arch: str | None = None
    code: str | None = None
    cache_dir: Any = None
    include_dirs: tuple[str, ...] = ()

    def text(self, source: str) -> SourceText:
        """Return the prepared text. Raises CompileError."""
        nvcc_compiler.check_is_cuda(self.nvcc)
        return source_text(source, extern_c=not self.no_extern_c)

    @property
    def nvrtc_options(self) -> list[str]:
        """Return the options for NVRTC, without an architecture."""
        return [
            *nvcc_compiler.nvrtc_options(self.options)[0],
            *(f"-I{folder}" for folder in (*self.include_dirs, HEADERS)),
        ]

    @property
    def requested_arch(self) -> str | None:
        """Return the architecture that ``code``, ``arch`` or the options request, or None."""
        _, arch, code = nvcc_compiler.nvrtc_options(self.options)
        real_arch = self.code if self.code and self.code.startswith("sm_") else code
        return real_arch if real_arch and real_arch.startswith("sm_") else self.arch or arch

    def cache_override(self) -> contextlib.AbstractContextManager[None]:
        """Return a context in which compiled code is cached in the directory that the user sets."""
        folder = self.cache_dir
        if folder is None:
            folder = os.environ.get("PYCUDA_CACHE_DIR")
        if "PYCUDA_DISABLE_CACHE" in os.environ:
            folder = False
        if folder is None:
            return contextlib.nullcontext()
        return cache_directory.override(os.fspath(folder) if folder else "")


def settings_of(arguments: dict[str, Any]) -> CompileSettings:
    """Return settings from the local variables of a function that has them as parameters."""
    options = arguments.pop("options", None)
    options = DEFAULT_NVCC_FLAGS if options is None else options
    folders = arguments.pop("include_dirs", None) or ()
    for name in ("source", "target", "self", "__class__"):
        arguments.pop(name, None)
    return CompileSettings(options=tuple(options), include_dirs=tuple(folders), **arguments)


def save_files(text: str, data: bytes, target: str) -> None:
    """Save the source and the compiled code in a new directory, and print its name."""
    folder = tempfile.mkdtemp(prefix="pycu2c-")
    with open(os.path.join(folder, "kernel.cu"), "w", encoding="utf-8") as source:
        source.write(text)
    with open(os.path.join(folder, f"kernel.{target}"), "wb") as output:
        output.write(data)
    print(f"*** compiler output in {folder}")
