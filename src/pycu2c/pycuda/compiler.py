"""``pycuda.compiler``: CUDA C compiled, without nvcc: by NVRTC for a GPU, by a C++ compiler for the
CPU, into the cache on disk."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any

from pycu2c import diagnostics
from pycu2c.cudac import looking
from pycu2c.cudac.module import USUAL_ARCH
from pycu2c.cudac.module import Module as CudaText
from pycu2c.pycuda import linked_modules, modules, words
from pycu2c.pycuda import nvcc as nvccs
from pycu2c.pycuda.allocations import on_gpu
from pycu2c.pycuda.contexts import Context
from pycu2c.pycuda.enumerations import jit_input_type
from pycu2c.pycuda.errors import CompileError
from pycu2c.pycuda.fatbin import Part, packed
from pycu2c.pycuda.functions import Function
from pycu2c.pycuda.modules import Module
from pycu2c.pycuda.source_text import HEADERS, SourceText, source_text
from pycu2c.pycuda.texture_references import SurfaceReference, TextureReference
from pycu2c.records import dataclass
from pycu2c.runtime import driver
from pycu2c.toolchain import compilers, nvrtc, places
from pycu2c.toolchain.binary import ToolchainError
from pycu2c.toolchain.linking_inputs import Input, InputKind

DEFAULT_NVCC_FLAGS = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()
_TARGETS = ("cubin", "ptx", "fatbin")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a text is compiled: what ``SourceModule`` and its kin are told beside the text."""

    nvcc: str = nvccs.USUAL
    options: tuple[str, ...] = ()
    keep: bool = False
    no_extern_c: bool = False
    arch: str | None = None
    code: str | None = None
    cache_dir: Any = None
    include_dirs: tuple[str, ...] = ()

    def text(self, *sources: str) -> SourceText:
        """What is compiled of a user's texts."""
        return source_text(sources, extern_c=not self.no_extern_c)

    @property
    def words(self) -> list[str]:
        """Options without an architecture."""
        folders = [f"-I{folder}" for folder in (*self.include_dirs, HEADERS)]
        return [*words.for_nvrtc(self.options)[0], *folders]

    @property
    def asked_arch(self) -> str | None:
        """The architecture that is asked for."""
        _, arch, code = words.for_nvrtc(self.options)
        real = self.code if self.code and self.code.startswith("sm_") else code
        return real if real and real.startswith("sm_") else self.arch or arch

    def cached(self) -> contextlib.AbstractContextManager[None]:
        """Keep what is compiled where the user wants it kept."""
        chosen = self.cache_dir
        if chosen is None:
            chosen = os.environ.get("PYCUDA_CACHE_DIR")
        if "PYCUDA_DISABLE_CACHE" in os.environ:
            chosen = False
        if chosen is None:
            return contextlib.nullcontext()
        return places.within(os.fspath(chosen) if chosen else "")


def _settings(given: dict[str, Any]) -> Settings:
    """Arguments of the functions here, as they are called."""
    options = given.pop("options", None)
    chosen = DEFAULT_NVCC_FLAGS if options is None else options
    folders = given.pop("include_dirs", None) or ()
    for name in ("source", "template", "target", "self", "__class__"):
        given.pop(name, None)
    return Settings(options=tuple(chosen), include_dirs=tuple(folders), **given)


def compile(
    source: str,
    nvcc: str = nvccs.USUAL,
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: Any = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile CUDA C for a GPU, which need not be here: to a cubin, PTX or a fatbin. Raises
    CompileError."""
    return _binary(_settings(dict(locals())), source, target)


def compile_plain(
    source: str,
    options: Sequence[str] | None = None,
    keep: bool = False,
    nvcc: str = nvccs.USUAL,
    cache_dir: Any = None,
    target: str = "cubin",
) -> bytes:
    """Likewise, of a text as it is: nothing makes its functions ``extern "C"``."""
    given = dict(locals())
    return _binary(_settings({**given, "no_extern_c": True}), source, target)


def _binary(settings: Settings, source: str, target: str) -> bytes:
    if target not in _TARGETS:
        raise ValueError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")
    text, arch = settings.text(source), settings.asked_arch
    arch = arch or (driver.arch() if on_gpu() else USUAL_ARCH)
    program = nvccs.named(settings.nvcc)
    with settings.cached():
        if program is not None:
            data = nvccs.compiled(program, text.code, target, _nvcc_words(settings, arch))
        else:
            data = _by_nvrtc(settings, text, arch, target)
    if settings.keep:
        _keep(text.code, data, target)
    return data


def _nvcc_words(settings: Settings, arch: str | None) -> list[str]:
    folders = [f"-I{folder}" for folder in (*settings.include_dirs, HEADERS)]
    chosen = ["-arch", arch] if arch else []
    return [*settings.options, *chosen, *folders]


def _by_nvrtc(settings: Settings, text: SourceText, arch: str, target: str) -> bytes:
    more = ["--relocatable-device-code=true"] if words.is_relocatable(settings.options) else []
    module = CudaText(text.code, options=[*settings.words, *more], shown=text.shown)
    number = arch.rpartition("_")[2]
    try:
        if target == "ptx":
            return looking.ptx_of(module, f"compute_{number}").encode()
        cubin = module.cubin(f"sm_{number}").data
        if target == "cubin":
            return cubin
        ptx = looking.ptx_of(module, f"compute_{number}").encode()
    except (diagnostics.CompileError, ToolchainError) as error:
        raise modules.refusal(error, settings.words) from error
    plain = int(number.rstrip("af"))
    return packed([Part("ptx", plain, ptx), Part("cubin", plain, cubin)])


def _keep(text: str, data: bytes, target: str) -> None:
    """Leave what was compiled in a folder."""
    folder = tempfile.mkdtemp(prefix="pycu2c-")
    with open(os.path.join(folder, "kernel.cu"), "w", encoding="utf-8") as source:
        source.write(text)
    with open(os.path.join(folder, f"kernel.{target}"), "wb") as made:
        made.write(data)
    print(f"*** compiler output in {folder}")


def preprocess_source(
    source: str, options: Sequence[str] | None = None, nvcc: str = nvccs.USUAL
) -> str:
    """The text after the preprocessor, without its ``#`` lines. Raises CompileError."""
    program = nvccs.named(nvcc)
    given = list(options or ())
    if program is not None:
        command = [program, "--preprocess", "-x", "cu", *given, "-Xcompiler", "-P", "-"]
    else:
        kept = [w for w in words.for_nvrtc(given)[0] if w.startswith(("-I", "-D", "-U"))]
        compiler = compilers.find_compiler().command
        command = [*compiler, "-x", "c++", "-E", "-P", *kept, f"-I{HEADERS}", "-"]
    ran = subprocess.run(command, input=source, capture_output=True, text=True)
    if ran.returncode:
        raise CompileError("preprocessing of the source failed", command, None, ran.stderr)
    return ran.stdout


def get_nvcc_version(nvcc: str = nvccs.USUAL) -> tuple[int, int]:
    """The version of the compiler: of NVRTC; of nvcc if one is named."""
    program = nvccs.named(nvcc)
    return nvrtc.version() if program is None else nvccs.version(program)


# ---- modules -----------------------------------------------------------------------------------


class CudaModule:
    """Something compiled: kernels, variables, textures."""

    module: Module

    def get_function(self, name: str) -> Function:
        """A kernel. Raises LogicError if there is none of that name."""
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[modules.GlobalPointer, int]:
        """The address of a variable, and its bytes."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        """A ``texture<…> name;`` of the text."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """A ``surface<…> name;`` of the text."""
        return self.module.get_surfref(name)

    def inspect(self, language: str = "cuda") -> str:
        """The whole text that is compiled; or what is made of it: "ptx", "sass", "c"."""
        return self.module.inspect(language)


class SourceModule(CudaModule):
    """CUDA C, compiled: ``SourceModule(text).get_function(name)``.

    ``options`` are nvcc's; those that NVRTC has are used. ``arch`` and ``code`` may name what the
    text is for: a module is compiled for the device that runs it. ``nvcc`` is used if it names one
    that there is, other than the usual "nvcc". Raises CompileError.
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
    ) -> None:
        self.module = loaded(_settings(dict(locals())), source)


def loaded(settings: Settings, *sources: str) -> Module:
    """A module of texts, for the machine that the calling thread works on. Raises
    CompileError."""
    _warn_of_arch(settings.asked_arch)
    text = settings.text(*sources)
    program = nvccs.named(settings.nvcc) if on_gpu() else None
    with settings.cached():
        if program is None:
            made = modules.compiled(text, settings.words)
        else:
            options = _nvcc_words(settings, driver.arch())
            data = nvccs.compiled(program, text.code, "cubin", options)
            heads = nvccs.compiled(program, text.code, "ptx", options).decode()
            code = modules.LoadedModule(data, heads)
            made = Module(code, text.textures, text.surfaces)
    if settings.keep:
        _keep(text.code, b"", "cubin")
    return made


def _warn_of_arch(arch: str | None) -> None:
    """As PyCUDA does. A module is compiled for the device that runs it."""
    digits = (arch or "").rpartition("_")[2].rstrip("af")
    if digits.isdigit() and on_gpu():
        own = Context.get_device().compute_capability()
        if (int(digits[:-1] or 0), int(digits[-1])) > own:
            warnings.warn(
                "trying to compile for a compute capability higher than selected GPU",
                stacklevel=3,
            )


class DynamicFunction:
    """A piece of CUDA C for a ``DynamicModule``: a text, or what gives one by ``str()``."""

    def __init__(self, source: Any, name: str | None = None) -> None:
        self.source, self.name = source, name

    def __str__(self) -> str:
        return str(self.source)


class DynamicModule(CudaModule):
    """A module in pieces: ``add_to_preamble``, ``add_function`` and ``add_source``, then
    ``compile`` or ``link``.

    The first argument may be a template, a text that comes before what is added; ``nvcc`` has that
    place in PyCUDA.
    """

    def __init__(self, template: str | None = None, nvcc: str = nvccs.USUAL, **given: Any) -> None:
        if template is not None and not _is_text(template):
            nvcc, template = template, None
        for unused in ("link_options", "message_handler", "log_verbose", "cuda_libdir"):
            given.pop(unused, None)
        self._settings = _settings({"nvcc": nvcc, **given})
        self._preamble: list[str] = []
        self._sources: list[str] = []
        self._template = template
        self._inputs: list[Input] = []

    def add_to_preamble(self, pa: str) -> None:
        """Text that comes first."""
        self._preamble.append(pa)

    def add_function(self, func: Any) -> None:
        """A function of the module: its text."""
        self._sources.append(str(func))

    def add_source(
        self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx"
    ) -> DynamicModule:
        """More text. Its functions see those of the texts before."""
        more = tuple(nvcc_options or ())
        self._settings = _with(self._settings, options=(*self._settings.options, *more))
        self._sources.append(source)
        return self

    @property
    def source(self) -> str:
        """The whole text."""
        own = [self._template] if self._template else []
        return "\n".join([*self._preamble, *own, *self._sources])

    def compile(
        self,
        nvcc: str = nvccs.USUAL,
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
    ) -> CudaModule:
        """The module of what was added. Raises CompileError."""
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
        """As ``compile``, as PyCUDA calls it."""
        self.compile()
        return self

    def add_data(self, data: Any, input_type: Any, name: str = "unknown") -> DynamicModule:
        """Code for a GPU that is linked with the texts: ``jit_input_type.PTX`` and its kin."""
        raw = data.encode() if isinstance(data, str) else bytes(data)
        self._inputs.append(Input(_KINDS[jit_input_type(input_type)], raw, name))
        return self

    def add_file(self, filename: str, input_type: Any) -> DynamicModule:
        """Likewise, of a file."""
        with open(filename, "rb") as file:
            return self.add_data(file.read(), input_type, filename)

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Nothing: NVRTC's code needs no library but that of kernels that launch kernels, which
        is not there."""
        return self


_KINDS: dict[jit_input_type, InputKind] = {
    jit_input_type.CUBIN: "cubin",
    jit_input_type.PTX: "ptx",
    jit_input_type.FATBINARY: "fatbin",
    jit_input_type.OBJECT: "object",
    jit_input_type.LIBRARY: "library",
}


def _with(settings: Settings, **changed: Any) -> Settings:
    return dataclasses.replace(settings, **changed)


def _is_text(template: str) -> bool:
    """Whether it is CUDA C rather than the name of a compiler."""
    return any(sign in template for sign in "{};#\n")


class DynamicSourceModule(DynamicModule):
    """A ``DynamicModule`` of a text, compiled where it is first asked for something."""

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
