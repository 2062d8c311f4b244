"""Implement ``DynamicModule``: texts that are concatenated, or linked with compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pycu2c.base.records import replace
from pycu2c.compat.pycuda.enums import jit_input_type
from pycu2c.compat.pycuda.modules import linked_modules, modules
from pycu2c.compat.pycuda.modules import nvcc as nvccs
from pycu2c.compat.pycuda.modules.compile_settings import CompileSettings, settings_of
from pycu2c.compat.pycuda.modules.functions import Function
from pycu2c.compat.pycuda.modules.modules import Module
from pycu2c.compat.pycuda.modules.source_module import CudaModule, loaded
from pycu2c.compat.pycuda.textures.references import TextureReference
from pycu2c.toolchain.link.inputs import InputKind, LinkInput


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

    def __init__(self, template: str | None = None, nvcc: str = nvccs.USUAL, **given: Any) -> None:
        if template is not None and not _is_text(template):
            nvcc, template = template, None
        for unused in ("link_options", "message_handler", "log_verbose", "cuda_libdir"):
            given.pop(unused, None)
        self._settings = settings_of({"nvcc": nvcc, **given})
        self._preamble: list[str] = []
        self._sources: list[str] = []
        self._template = template
        self._inputs: list[LinkInput] = []

    def add_to_preamble(self, pa: str) -> None:
        """Add text at the beginning."""
        self._preamble.append(pa)

    def add_function(self, func: Any) -> None:
        """Add a function: its text, or a Python function with annotations, which the texts
        call."""
        if callable(func):
            own = self._settings
            self._settings = _with(own, functions=(*own.functions, func))
        else:
            self._sources.append(str(func))

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """Add a text, whose functions can use the previous texts."""
        more = tuple(nvcc_options or ())
        self._settings = _with(self._settings, options=(*self._settings.options, *more))
        self._sources.append(source)
        return self

    @property
    def source(self) -> str:
        """Return the whole text."""
        own = [self._template] if self._template else []
        return "\n".join([*self._preamble, *own, *self._sources])

    def compile(
        self,
        nvcc: str = nvccs.USUAL,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
    ) -> CudaModule:
        """Compile the module. Raises CompileError."""
        own = self._settings
        chosen = _with(
            own,
            nvcc=own.nvcc if nvcc == nvccs.USUAL else nvcc,
            options=(*own.options, *(options or ())),
            keep=keep or own.keep,
            no_extern_c=no_extern_c or own.no_extern_c,
        )
        if self._inputs:
            text = chosen.text(self.source)
            self.module = linked_modules.linked(text, chosen.words, self._inputs)
        else:
            self.module = loaded(chosen, self.source)
        return self

    def link(self) -> DynamicModule:
        """Compile the module, under PyCUDA's name."""
        self.compile()
        return self

    def add_data(self, data: Any, input_type: Any, name: str = "unknown") -> DynamicModule:
        """Link with compiled code, of a type such as ``jit_input_type.PTX``."""
        raw = data.encode() if isinstance(data, str) else bytes(data)
        self._inputs.append(LinkInput(_KINDS[jit_input_type(input_type)], raw, name))
        return self

    def add_file(self, filename: str, input_type: Any) -> DynamicModule:
        """Link with a file of compiled code."""
        with open(filename, "rb") as file:
            return self.add_data(file.read(), input_type, filename)

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Do nothing: only dynamic parallelism, which is not supported, requires a library."""
        return self


_KINDS: dict[jit_input_type, InputKind] = {
    jit_input_type.CUBIN: "cubin",
    jit_input_type.PTX: "ptx",
    jit_input_type.FATBINARY: "fatbin",
    jit_input_type.OBJECT: "object",
    jit_input_type.LIBRARY: "library",
}


def _with(settings: CompileSettings, **changed: Any) -> CompileSettings:
    return replace(settings, **changed)


def _is_text(template: str) -> bool:
    """Return whether an argument is CUDA C, not the name of a compiler."""
    return any(sign in template for sign in "{};#\n")


class DynamicSourceModule(DynamicModule):
    """A ``DynamicModule`` of one text, which is compiled at its first use."""

    def __init__(
        self,
        template: str | None = None,
        nvcc: str = nvccs.USUAL,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: Any = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        given = dict(locals())
        for name in ("self", "__class__", "template", "cuda_libdir"):
            given.pop(name, None)
        super().__init__(None, **given)
        self._template = template
        self._is_stale = True
        if template is not None:
            self._renew()

    def _renew(self) -> None:
        self.compile()
        self._is_stale = False

    def add_to_preamble(self, pa: str) -> None:
        self._is_stale = True
        super().add_to_preamble(pa)

    def add_function(self, func: Any) -> None:
        self._is_stale = True
        super().add_function(func)

    def _current(self) -> Module:
        if self._is_stale:
            self._renew()
        return self.module

    def get_function(self, name: str) -> Function:
        return self._current().get_function(name)

    def get_global(self, name: str) -> tuple[modules.GlobalPointer, int]:
        return self._current().get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        return self._current().get_texref(name)
