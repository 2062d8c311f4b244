"""Compile CUDA C to cubins, PTX and fatbins, for any GPU; preprocess; report the version."""

from __future__ import annotations

import re
import struct
import subprocess
from collections.abc import Sequence
from typing import Any, NamedTuple

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

_TARGETS = ("cubin", "ptx", "fatbin")


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
    """Compile CUDA C to a cubin, PTX or a fatbin, for any GPU. Raises CompileError."""
    return _compile_binary(settings_of(dict(locals())), source, target)


def compile_plain(
    source: str,
    options: Sequence[str] | None = None,
    keep: bool = False,
    nvcc: str = nvcc_compiler.DEFAULT,
    cache_dir: Any = None,
    target: str = "cubin",
) -> bytes:
    """Compile a text as it is, without ``extern "C"`` for its functions."""
    return _compile_binary(settings_of({**dict(locals()), "no_extern_c": True}), source, target)


def _compile_binary(settings: CompileSettings, source: str, target: str) -> bytes:
    if target not in _TARGETS:
        raise ValueError(f"target is one of {', '.join(_TARGETS)}, not {target!r}")
    text, arch = settings.text(source), settings.requested_arch
    arch = arch or (driver.arch() if on_gpu() else DEFAULT_ARCH)
    program = nvcc_compiler.executable(settings.nvcc)
    with settings.cache_override():
        if program is not None:
            data = nvcc_compiler.compile_with(
                program, text.code, target, settings.nvcc_options(arch)
            )
        else:
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
        cubin = module.cubin(f"sm_{arch_number}").data
        if target == "cubin":
            return cubin
        ptx = module.ptx(f"compute_{arch_number}").encode()
    except (diagnostics.CompileError, ToolchainError) as error:
        raise compile_error(error, settings.nvrtc_options) from error
    arch_code = int(arch_number.rstrip("af"))
    return _fatbin([_CodeForArch("ptx", arch_code, ptx), _CodeForArch("cubin", arch_code, cubin)])


def preprocess_source(
    source: str, options: Sequence[str] | None = None, nvcc: str = nvcc_compiler.DEFAULT
) -> str:
    """Return the preprocessed text, without its ``#`` lines. Raises CompileError."""
    program = nvcc_compiler.executable(nvcc)
    if program is not None:
        command = [program, "--preprocess", "-x", "cu", *(options or ()), "-Xcompiler", "-P", "-"]
    else:
        preprocessor_options = [
            option
            for option in nvcc_compiler.nvrtc_options(options or ())[0]
            if option.startswith(("-I", "-D", "-U"))
        ]
        compiler = discovery.find_compiler().command
        command = [*compiler, "-x", "c++", "-E", "-P", *preprocessor_options, f"-I{HEADERS}", "-"]
    completed = subprocess.run(command, input=source, capture_output=True, text=True)
    if completed.returncode:
        raise CompileError("preprocessing of the source failed", command, None, completed.stderr)
    return completed.stdout


def get_nvcc_version(nvcc: str = nvcc_compiler.DEFAULT) -> tuple[int, int]:
    """Return the version of the compiler: of NVRTC, or of nvcc if it is named."""
    program = nvcc_compiler.executable(nvcc)
    return nvrtc.version() if program is None else nvcc_compiler.version(program)


# ---- fatbins -----------------------------------------------------------------------------------

_HEADER = struct.Struct("<IHHQ")  # magic, version, size of the header, size of the rest
_MAGIC, _FATBIN_VERSION = 0xBA55ED50, 1
# kind, version, size of this header, size of the code, compressed size, options; version of the
# code, minor and major; architecture; offset and size of the name; flags; 0; uncompressed size
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_ENTRY_KINDS = {"ptx": 1, "cubin": 2}
_ENTRY_VERSION, _FLAGS = 0x0101, 0x11  # 64 bits, Linux
_CUBIN_VERSION = 8, 1  # the minor and the major version


class _CodeForArch(NamedTuple):
    """Code for an architecture: ``kind`` is "ptx" or "cubin", ``arch`` is 90 for ``sm_90``."""

    kind: str
    arch: int
    data: bytes


def _fatbin(codes: list[_CodeForArch]) -> bytes:
    """Return the contents of a fatbin."""
    body = b"".join(_fatbin_entry(code) for code in codes)
    return _HEADER.pack(_MAGIC, _FATBIN_VERSION, _HEADER.size, len(body)) + body


def _fatbin_entry(code: _CodeForArch) -> bytes:
    data = code.data + b"\0" if code.kind == "ptx" else code.data
    data += bytes(-len(data) % 8)
    fields = (_ENTRY_KINDS[code.kind], _ENTRY_VERSION, _ENTRY.size, len(data), 0, 0)
    return _ENTRY.pack(*fields, *_code_version(code), code.arch, 0, 0, _FLAGS, 0, 0) + data


def _code_version(code: _CodeForArch) -> tuple[int, int]:
    """Return the minor and the major version.

    They are the version that PTX declares, and the version 1.8 of the format for cubins.
    """
    declaration = re.search(rb"^\.version\s+(\d+)\.(\d+)", code.data, re.MULTILINE)
    if declaration and code.kind == "ptx":
        return int(declaration[2]), int(declaration[1])
    return _CUBIN_VERSION
