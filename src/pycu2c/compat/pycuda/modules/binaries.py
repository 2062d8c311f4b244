"""Compile CUDA C to cubins and PTX, for any GPU; preprocess; report the version."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from typing import Any

from pycu2c.base import diagnostics
from pycu2c.compat.cuda_text.module import DEFAULT_ARCH, TextModule
from pycu2c.compat.pycuda.errors import CompileError
from pycu2c.compat.pycuda.memory.allocations import on_gpu
from pycu2c.compat.pycuda.modules import nvcc as nvcc_compiler
from pycu2c.compat.pycuda.modules.compile_settings import CompileSettings, save_files, settings_of
from pycu2c.compat.pycuda.modules.module import compile_error
from pycu2c.compat.pycuda.modules.source_text import HEADERS, SourceText
from pycu2c.cuda_driver import driver
from pycu2c.toolchain.cc import discovery
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError

_TARGETS = ("cubin", "ptx")


def compile(
    source: str,
    nvcc: str = nvcc_compiler.DEFAULT,
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: Any = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile CUDA C for any GPU.

    Returns
    -------
    bytes
        The code.

    Raises
    ------
    CompileError
        If the text does not compile.
    """
    return _compile_binary(settings_of(dict(locals())), source, target)


def compile_plain(
    source: str,
    options: Sequence[str] | None = None,
    keep: bool = False,
    nvcc: str = nvcc_compiler.DEFAULT,
    cache_dir: Any = None,
    target: str = "cubin",
) -> bytes:
    """Compile a text as it is, without ``extern "C"`` for its functions.

    Returns
    -------
    bytes
        The code.
    """
    return _compile_binary(settings_of({**dict(locals()), "no_extern_c": True}), source, target)


def _compile_binary(settings: CompileSettings, source: str, target: str) -> bytes:
    if target not in _TARGETS:
        raise ValueError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")
    text, arch = settings.text(source), settings.requested_arch
    arch = arch or (driver.arch() if on_gpu() else DEFAULT_ARCH)
    with settings.cache_override():
        data = _compile_with_nvrtc(settings, text, arch, target)
    if settings.keep:
        save_files(text.code, data, target)
    return data


def _compile_with_nvrtc(
    settings: CompileSettings, text: SourceText, arch: str, target: str
) -> bytes:
    options = settings.nvrtc_options
    if nvcc_compiler.is_relocatable(settings.options):
        options = [*options, "--relocatable-device-code=true"]
    module = TextModule(text.code, options=options, quoted_sources=text.quoted_sources)
    arch_number = arch.rpartition("_")[2]
    try:
        if target == "ptx":
            return module.ptx(f"compute_{arch_number}").encode()
        return module.cubin(f"sm_{arch_number}").data
    except (diagnostics.CompileError, ToolchainError) as error:
        raise compile_error(error, settings.nvrtc_options) from error


def preprocess_source(
    source: str, options: Sequence[str] | None = None, nvcc: str = nvcc_compiler.DEFAULT
) -> str:
    """Return the preprocessed text, without its ``#`` lines.

    Raises
    ------
    CompileError
        If preprocessing fails.
    """
    options = nvcc_compiler.nvrtc_options(options or ())[0]
    kept = [option for option in options if option.startswith(("-I", "-D", "-U"))]
    compiler = discovery.find_compiler().command
    command = [*compiler, "-x", "c++", "-E", "-P", *kept, f"-I{HEADERS}", "-"]
    completed = subprocess.run(command, input=source, capture_output=True, text=True)
    if completed.returncode:
        raise CompileError("preprocessing of the source failed", command, None, completed.stderr)
    return completed.stdout


def get_nvcc_version(nvcc: str = nvcc_compiler.DEFAULT) -> tuple[int, int]:
    """Return the version of NVRTC."""
    return nvrtc.version()
