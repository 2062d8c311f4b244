"""Implement ``SourceModule``: modules of CUDA C."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from pycu2c.compat.pycuda.contexts import Context
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import nvcc as nvcc_compiler
from pycu2c.compat.pycuda.modules.compile_settings import CompileSettings, save_files, settings_of
from pycu2c.compat.pycuda.modules.function import Function
from pycu2c.compat.pycuda.modules.module import GlobalPointer, Module, compile_module


class CudaModule:
    """A compiled module: kernels, variables."""

    module: Module

    def get_function(self, name: str) -> Function:
        """Return a kernel. Raises LogicError if the module has none of that name."""
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[GlobalPointer, int]:
        """Return address and size of a variable."""
        return self.module.get_global(name)

    def inspect(self, language: str = "cuda") -> str:
        """Return the source, or the code in another language: "ptx", "sass" or "c"."""
        return self.module.inspect(language)


class SourceModule(CudaModule):
    """A module of CUDA C: ``SourceModule(text).get_function(name)``. Raises CompileError.

    options: options of nvcc; those that NVRTC supports are used.
    arch, code: accepted, but a module is compiled for the device that runs it.
    nvcc: accepted, but NVRTC compiles.
    """

    def __init__(
        self,
        source: str,
        nvcc: str = nvcc_compiler.DEFAULT,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        # all parameters by name; settings_of selects those that it uses
        self.module = load_module(settings_of(dict(locals())), source)


def load_module(settings: CompileSettings, *sources: str) -> Module:
    """Compile sources into one module for the device of the calling thread. Raises CompileError."""
    _warn_if_unsupported(settings.requested_arch)
    cuda_source = settings.text(*sources)
    with settings.cache_override():
        module = compile_module(cuda_source, _text_options(settings))
    if settings.keep:
        save_files(cuda_source.code, b"", "cubin")
    return module


def _text_options(settings: CompileSettings) -> list[str]:
    """Return the options of a text; on the CPU, relocatable code may launch kernels."""
    launches = not on_gpu() and nvcc_compiler.is_relocatable(settings.options)
    return [*settings.nvrtc_options, *(["-rdc=true"] if launches else [])]


def _warn_if_unsupported(arch: str | None) -> None:
    """Warn, as PyCUDA does, if the current GPU is older than an architecture."""
    digits = (arch or "").rpartition("_")[2].rstrip("af")  # without the suffix of sm_90a, sm_100f
    if digits.isdigit() and on_gpu():
        capability = Context.get_device().compute_capability()
        if (int(digits[:-1] or 0), int(digits[-1])) > capability:
            warnings.warn(
                "trying to compile for a compute capability higher than selected GPU",
                stacklevel=3,
            )
