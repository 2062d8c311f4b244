"""Compile CUDA C to cubins, PTX and fatbins, for any GPU; preprocess; report the version."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

from pycu2c.base import diagnostics
from pycu2c.compat.cuda_text import inspection
from pycu2c.compat.cuda_text.module import DEFAULT_ARCH, TextModule
from pycu2c.compat.pycuda.errors import CompileError
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import modules, nvcc_options
from pycu2c.compat.pycuda.modules import nvcc as nvccs
from pycu2c.compat.pycuda.modules.compile_settings import CompileSettings, leave_files, settings_of
from pycu2c.compat.pycuda.modules.fatbin import FatbinEntry, packed
from pycu2c.compat.pycuda.modules.source_text import HEADERS, SourceText
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.cc import discovery
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

_TARGETS = ("cubin", "ptx", "fatbin")


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
    """Compile CUDA C to a cubin, PTX or a fatbin, for any GPU. Raises CompileError."""
    return _binary(settings_of(dict(locals())), source, target)


def compile_plain(
    source: str,
    options: Sequence[str] | None = None,
    keep: bool = False,
    nvcc: str = nvccs.USUAL,
    cache_dir: Any = None,
    target: str = "cubin",
) -> bytes:
    """Compile a text as it is, without ``extern "C"`` for its functions."""
    given = dict(locals())
    return _binary(settings_of({**given, "no_extern_c": True}), source, target)


def _binary(settings: CompileSettings, source: str, target: str) -> bytes:
    if target not in _TARGETS:
        raise ValueError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")
    text, arch = settings.text(source), settings.asked_arch
    arch = arch or (driver.arch() if on_gpu() else DEFAULT_ARCH)
    program = nvccs.named(settings.nvcc)
    with settings.cached():
        if program is not None:
            data = nvccs.compiled(program, text.code, target, settings.nvcc_words(arch))
        else:
            data = _by_nvrtc(settings, text, arch, target)
    if settings.keep:
        leave_files(text.code, data, target)
    return data


def _by_nvrtc(settings: CompileSettings, text: SourceText, arch: str, target: str) -> bytes:
    more = (
        ["--relocatable-device-code=true"] if nvcc_options.is_relocatable(settings.options) else []
    )
    module = TextModule(text.code, options=[*settings.words, *more], shown=text.shown)
    number = arch.rpartition("_")[2]
    try:
        if target == "ptx":
            return inspection.ptx_of(module, f"compute_{number}").encode()
        cubin = module.cubin(f"sm_{number}").data
        if target == "cubin":
            return cubin
        ptx = inspection.ptx_of(module, f"compute_{number}").encode()
    except (diagnostics.CompileError, ToolchainError) as error:
        raise modules.refusal(error, settings.words) from error
    plain = int(number.rstrip("af"))
    return packed([FatbinEntry("ptx", plain, ptx), FatbinEntry("cubin", plain, cubin)])


def preprocess_source(
    source: str, options: Sequence[str] | None = None, nvcc: str = nvccs.USUAL
) -> str:
    """Return the preprocessed text, without its ``#`` lines. Raises CompileError."""
    program = nvccs.named(nvcc)
    given = list(options or ())
    if program is not None:
        command = [program, "--preprocess", "-x", "cu", *given, "-Xcompiler", "-P", "-"]
    else:
        kept = [w for w in nvcc_options.for_nvrtc(given)[0] if w.startswith(("-I", "-D", "-U"))]
        compiler = discovery.find_compiler().command
        command = [*compiler, "-x", "c++", "-E", "-P", *kept, f"-I{HEADERS}", "-"]
    ran = subprocess.run(command, input=source, capture_output=True, text=True)
    if ran.returncode:
        raise CompileError("preprocessing of the source failed", command, None, ran.stderr)
    return ran.stdout


def get_nvcc_version(nvcc: str = nvccs.USUAL) -> tuple[int, int]:
    """Return the version of the compiler: of NVRTC, or of nvcc if it is named."""
    program = nvccs.named(nvcc)
    return nvrtc.version() if program is None else nvccs.version(program)
