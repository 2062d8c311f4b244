"""Collect the compile settings that PyCUDA's functions accept."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from typing import Any

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.pycuda.kernels import device_functions
from pycu2c.compat.pycuda.modules import nvcc as nvccs
from pycu2c.compat.pycuda.modules import nvcc_options
from pycu2c.compat.pycuda.modules.source_text import HEADERS, SourceText, source_text
from pycu2c.toolchain.cache import cache_directory

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()


@dataclass(frozen=True, slots=True)
class CompileSettings:
    """The settings of a compilation: arguments of ``SourceModule`` and similar functions."""

    nvcc: str = nvccs.USUAL
    options: tuple[str, ...] = ()
    keep: bool = False
    no_extern_c: bool = False
    arch: str | None = None
    code: str | None = None
    cache_dir: Any = None
    include_dirs: tuple[str, ...] = ()
    functions: tuple[Callable[..., Any], ...] = ()

    def text(self, *sources: str) -> SourceText:
        """Return the source texts. Raises CompileError."""
        nvccs.check(self.nvcc)
        before = f"{device_functions.texts_of(self.functions)}\n" if self.functions else ""
        return source_text(
            sources, extern_c=not self.no_extern_c, before=before, folders=self.folders
        )

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the include folders."""
        return (*self.include_dirs, *options_of(self.options).folders)

    @property
    def words(self) -> list[str]:
        """Return the options without an architecture."""
        folders = [f"-I{folder}" for folder in (*self.include_dirs, HEADERS)]
        return [*nvcc_options.for_nvrtc(self.options)[0], *folders]

    def nvcc_words(self, arch: str | None) -> list[str]:
        """Return the options and the architecture, for nvcc."""
        folders = [f"-I{folder}" for folder in (*self.include_dirs, HEADERS)]
        chosen = ["-arch", arch] if arch else []
        return [*self.options, *chosen, *folders]

    @property
    def asked_arch(self) -> str | None:
        """Return the requested architecture."""
        _, arch, code = nvcc_options.for_nvrtc(self.options)
        real = self.code if self.code and self.code.startswith("sm_") else code
        return real if real and real.startswith("sm_") else self.arch or arch

    def cached(self) -> contextlib.AbstractContextManager[None]:
        """Save compiled code in the folder that the user has chosen."""
        chosen = self.cache_dir
        if chosen is None:
            chosen = os.environ.get("PYCUDA_CACHE_DIR")
        if "PYCUDA_DISABLE_CACHE" in os.environ:
            chosen = False
        if chosen is None:
            return contextlib.nullcontext()
        return cache_directory.override(os.fspath(chosen) if chosen else "")


def settings_of(given: dict[str, Any]) -> CompileSettings:
    """The keyword arguments of the functions in this package."""
    options = given.pop("options", None)
    chosen = DEFAULT_NVCC_FLAGS if options is None else options
    folders = given.pop("include_dirs", None) or ()
    functions = tuple(given.pop("functions", ()))
    for name in ("source", "template", "target", "self", "__class__"):
        given.pop(name, None)
    return CompileSettings(
        options=tuple(chosen), include_dirs=tuple(folders), functions=functions, **given
    )


def leave_files(text: str, data: bytes, target: str) -> None:
    """Save compiled code in a folder, and print its name."""
    folder = tempfile.mkdtemp(prefix="pycu2c-")
    with open(os.path.join(folder, "kernel.cu"), "w", encoding="utf-8") as source:
        source.write(text)
    with open(os.path.join(folder, f"kernel.{target}"), "wb") as made:
        made.write(data)
    print(f"*** compiler output in {folder}")
