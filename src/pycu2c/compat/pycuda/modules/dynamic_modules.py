"""Implement ``DynamicModule``: texts that are concatenated, or linked with compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base import diagnostics
from pycu2c.base.records import replace
from pycu2c.compat.cuda_text.diagnostics import raise_compile_error
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.pycuda.enums import jit_input_type
from pycu2c.compat.pycuda.errors import RuntimeError
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import nvcc as nvcc_compiler
from pycu2c.compat.pycuda.modules.compile_settings import settings_of
from pycu2c.compat.pycuda.modules.module import LoadedModule, Module, compile_error
from pycu2c.compat.pycuda.modules.source_module import CudaModule, load_module
from pycu2c.compat.pycuda.modules.source_text import SourceText
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.toolchain.link import nvjitlink
from pycu2c.toolchain.link.inputs import InputKind, LinkInput
from pycu2c.toolchain.nvrtc import program
from pycu2c.toolchain.toolchain_errors import ToolchainError


class DynamicFunction:
    """A piece of a ``DynamicModule``: a text, or an object whose ``str()`` is one."""

    def __init__(self, source: Any, name: str | None = None) -> None:
        self.source, self.name = source, name

    def __str__(self) -> str:
        return str(self.source)


class DynamicModule(CudaModule):
    """A module from pieces: ``add_to_preamble``, ``add_function`` and ``add_source``, then
    ``compile`` or ``link``.

    The first argument may be a template, which precedes the added texts; in PyCUDA it is ``nvcc``.
    """

    def __init__(
        self, template: str | None = None, nvcc: str = nvcc_compiler.DEFAULT, **settings: Any
    ) -> None:
        if template is not None and not _is_text(template):
            nvcc, template = template, None
        for unused in ("link_options", "message_handler", "log_verbose", "cuda_libdir"):
            settings.pop(unused, None)
        self._settings = settings_of({"nvcc": nvcc, **settings})
        self._preamble: list[str] = []
        self._sources: list[str] = []
        self._template = template
        self._inputs: list[LinkInput] = []

    def add_to_preamble(self, pa: str) -> None:
        """Add text at the beginning."""
        self._preamble.append(pa)

    def add_function(self, func: Any) -> None:
        """Add the text of a function."""
        self._sources.append(str(func))

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Add a text, whose functions can use the previous texts."""
        added_options = tuple(nvcc_options or ())
        self._settings = replace(self._settings, options=(*self._settings.options, *added_options))
        self._sources.append(source)
        return self

    @property
    def source(self) -> str:
        """Return the whole text."""
        template = [self._template] if self._template else []
        return "\n".join([*self._preamble, *template, *self._sources])

    def compile(
        self,
        nvcc: str = nvcc_compiler.DEFAULT,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
    ) -> CudaModule:
        """Compile the module. Raises CompileError."""
        defaults = self._settings
        settings = replace(
            defaults,
            nvcc=defaults.nvcc if nvcc == nvcc_compiler.DEFAULT else nvcc,
            options=(*defaults.options, *(options or ())),
            keep=keep or defaults.keep,
            no_extern_c=no_extern_c or defaults.no_extern_c,
        )
        if self._inputs:
            text = settings.text(self.source)
            self.module = _link(text, settings.nvrtc_options, self._inputs)
        else:
            self.module = load_module(settings, self.source)
        return self

    def link(self) -> DynamicModule:
        """Compile the module: PyCUDA's other name for ``compile``."""
        self.compile()
        return self

    def add_data(self, data: Any, input_type: Any, name: str = "unknown") -> DynamicModule:
        """Link with compiled code, of a type such as ``jit_input_type.PTX``."""
        code = data.encode() if isinstance(data, str) else bytes(data)
        self._inputs.append(LinkInput(_INPUT_KINDS[jit_input_type(input_type)], code, name))
        return self

    def add_file(self, filename: str, input_type: Any) -> DynamicModule:
        """Link with a file of compiled code."""
        with open(filename, "rb") as file:
            return self.add_data(file.read(), input_type, filename)

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Do nothing: only launches from kernels, which GPUs do not support here, require one."""
        return self


_INPUT_KINDS: dict[jit_input_type, InputKind] = {
    jit_input_type.CUBIN: "cubin",
    jit_input_type.PTX: "ptx",
    jit_input_type.FATBINARY: "fatbin",
    jit_input_type.OBJECT: "object",
    jit_input_type.LIBRARY: "library",
}


def _is_text(template: str) -> bool:
    """Return whether an argument is CUDA C, not the name of a compiler."""
    return any(character in template for character in "{};#\n")


class DynamicSourceModule(DynamicModule):
    """A ``DynamicModule`` of one text, which is compiled at its first use."""

    def __init__(
        self,
        template: str | None = None,
        nvcc: str = nvcc_compiler.DEFAULT,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        settings = dict(locals())
        for name in ("self", "__class__", "template", "cuda_libdir"):
            settings.pop(name, None)
        super().__init__(None, **settings)
        if not on_gpu():  # the text may launch kernels
            relocatable = (*self._settings.options, "-rdc=true")
            self._settings = replace(self._settings, options=relocatable)
        self._template = template
        self._is_stale = True
        if template is not None:
            self.compile()

    @property
    def module(self) -> Module:
        """Return the module, after compiling it if its text has changed."""
        if self._is_stale:
            self.compile()
        return self._module

    @module.setter
    def module(self, module: Module) -> None:
        self._module, self._is_stale = module, False

    def add_to_preamble(self, pa: str) -> None:
        self._is_stale = True
        super().add_to_preamble(pa)

    def add_function(self, func: Any) -> None:
        self._is_stale = True
        super().add_function(func)


# ---- linking -----------------------------------------------------------------------------------


def _link(source: SourceText, options: Sequence[str], inputs: Sequence[LinkInput]) -> Module:
    """Link a text with compiled code. Raises CompileError; RuntimeError without a GPU."""
    if not on_gpu():
        raise RuntimeError(
            f"linking requires a GPU: {driver.unavailable_reason()}. Texts that add_source adds "
            "also run on the CPU"
        )
    try:
        return _link_on_gpu(source, options, inputs)
    except (diagnostics.CompileError, ToolchainError) as error:
        raise compile_error(error, options) from None


def _link_on_gpu(source: SourceText, options: Sequence[str], inputs: Sequence[LinkInput]) -> Module:
    text, arch = CudaSource(source.code, "", source.quoted_sources), driver.arch()
    flags = (f"--gpu-architecture={arch}", "--relocatable-device-code=true", *options)
    compiled = program.compile_module(text.code, text.name, flags, ())
    if isinstance(compiled, str):  # the log of errors
        raise_compile_error(compiled, text, "NVRTC")
    cubin = LinkInput("cubin", compiled.cubin, text.name)
    data, _ = nvjitlink.find_linker().link([cubin, *inputs], arch, DEFAULT_OPTIONS)
    return Module(LoadedModule(data, compiled.ptx.decode()))
