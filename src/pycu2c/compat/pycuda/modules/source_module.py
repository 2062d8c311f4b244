"""Implement ``SourceModule``: modules of CUDA C."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

from pycu2c.compat.pycuda.contexts import Context
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import modules
from pycu2c.compat.pycuda.modules import nvcc as nvccs
from pycu2c.compat.pycuda.modules.compile_settings import CompileSettings, leave_files, settings_of
from pycu2c.compat.pycuda.modules.functions import Function
from pycu2c.compat.pycuda.modules.modules import Module
from pycu2c.compat.pycuda.textures.references import SurfaceReference, TextureReference
from pycu2c.cuda_driver import driver


class CudaModule:
    """A compiled module: kernels, variables, textures."""

    module: Module

    def get_function(self, name: str) -> Function:
        """Return a kernel. Raises LogicError if there is none of that name."""
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[modules.GlobalPointer, int]:
        """Return address and size of a variable."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        """Return a texture reference, ``texture<…> name;``."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return a surface reference, ``surface<…> name;``."""
        return self.module.get_surfref(name)

    def inspect(self, language: str = "cuda") -> str:
        """Return the compiled source text, or "ptx", "sass" or "c"."""
        return self.module.inspect(language)


class SourceModule(CudaModule):
    """A module of CUDA C: ``SourceModule(text).get_function(name)``. Raises CompileError.

    options: options of nvcc; those that NVRTC supports are used.
    arch, code: accepted, but a module is compiled for the device that runs it.
    nvcc: used if it names an existing program other than the default "nvcc".
    functions: Python functions with annotations, which the text calls.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = nvccs.USUAL,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
        *,
        functions: Sequence[Callable[..., Any]] = (),
    ) -> None:
        self.module = loaded(settings_of(dict(locals())), source)


def loaded(settings: CompileSettings, *sources: str) -> Module:
    """Return a module of texts, for the device of the calling thread. Raises CompileError."""
    _warn_of_arch(settings.asked_arch)
    text = settings.text(*sources)
    program = nvccs.named(settings.nvcc) if on_gpu() else None
    with settings.cached():
        if program is None:
            made = modules.compiled(text, settings.words)
        else:
            options = settings.nvcc_words(driver.arch())
            data = nvccs.compiled(program, text.code, "cubin", options)
            heads = nvccs.compiled(program, text.code, "ptx", options).decode()
            code = modules.LoadedModule(data, heads)
            made = Module(code, text.textures, text.surfaces)
    if settings.keep:
        leave_files(text.code, b"", "cubin")
    return made


def _warn_of_arch(arch: str | None) -> None:
    """Show the deprecation warnings of PyCUDA; modules are compiled for the current device."""
    digits = (arch or "").rpartition("_")[2].rstrip("af")
    if digits.isdigit() and on_gpu():
        own = Context.get_device().compute_capability()
        if (int(digits[:-1] or 0), int(digits[-1])) > own:
            warnings.warn(
                "trying to compile for a compute capability higher than selected GPU",
                stacklevel=3,
            )
