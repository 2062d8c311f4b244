"""Compile and link the files of a library."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pycu2c.aot.build_settings import (
    AVX512_FLAGS,
    THREADS,
    X86_FLAG,
    BuildSettings,
    avx512_path,
    binding_path,
    c_flags,
    source_paths,
)
from pycu2c.aot.exported_library import ExportedLibrary
from pycu2c.aot.output_folder import Files, write_files
from pycu2c.toolchain.cc.cc import is_bit_exact
from pycu2c.toolchain.cc.discovery import Compiler, find_compiler
from pycu2c.toolchain.cc.miscompilations import flags_that_avoid_miscompilations
from pycu2c.toolchain.toolchain_errors import ToolchainError

_FILE_FLAGS = ("-std=c11", "-fvisibility=hidden", "-Iinclude")
_LINK_FLAGS = ("-shared", "-Wl,-z,nodelete", "-Wl,-z,defs")
_BINDING_FLAGS = ("-O2", "-fPIC", "-Wl,-rpath,$ORIGIN", "-Wl,--exclude-libs,ALL")
_LIBRARIES = ("-pthread", "-ldl", "-lm")
_OPTIMIZED = ("-O3", "-fPIC")


def compile_library(library: ExportedLibrary, files: Files, settings: BuildSettings) -> Files:
    """Compile and link a library in a temporary folder; return the files.

    These are ``lib/libNAME.so``, or ``lib/libNAME.a`` if it is static, and
    ``lib/libNAME_SUFFIX.so`` for each binding to a framework. Raises ToolchainError if a compiler
    or a header is missing or fails.
    """
    if platform.system() != "Linux":
        raise ToolchainError("libraries of kernels are built on Linux only, such as in WSL")
    frameworks, flags = settings.frameworks, [f.flags() for f in settings.frameworks]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_files(folder, files)
        objects = _compile_sources(library, settings, folder)
        results = [_link(library, objects, settings, folder)]
        for framework, own in zip(frameworks, flags):
            inputs = binding_path(library, framework), results[0], *_BINDING_FLAGS, *own
            results.append(f"lib{library.name}_{framework.suffix}.so")
            _run((*_linker(settings), *inputs, "-o", results[-1], *_LIBRARIES), folder)
        return {f"lib/{file}": (folder / file).read_bytes() for file in results}


def _compile_sources(
    library: ExportedLibrary, settings: BuildSettings, folder: Path
) -> tuple[str, ...]:
    """Compile the C files in parallel; return the names of the object files."""
    compiler, sources = find_compiler(), source_paths(library)
    compile_c = (*compiler.command, *compile_flags(library, settings, compiler), *_openmp(settings))
    commands: dict[str, tuple[str, ...]] = {}
    if uses_avx512(library, settings):
        sources += (avx512_path(library),)
        compile_c += ("-DPYCU2C_AVX512",)
        commands[avx512_path(library)] = (*compile_c, *AVX512_FLAGS)
    objects = tuple(f"{Path(source).name}.o" for source in sources)

    def compile_source(source: str, output: str) -> None:
        _run((*commands.get(source, compile_c), "-c", source, "-o", output), folder)

    with ThreadPoolExecutor() as executor:
        list(executor.map(compile_source, sources, objects))
    return objects


def _link(
    library: ExportedLibrary, objects: Sequence[str], settings: BuildSettings, folder: Path
) -> str:
    """Link object files to a library; return its name."""
    if settings.static:
        result = f"lib{library.name}.a"
        _run(("ar", "Drcs", result, *objects), folder)
    else:
        result = f"lib{library.name}.so"
        _run((*_linker(settings), *objects, "-o", result, *_LIBRARIES), folder)
    return result


def _linker(settings: BuildSettings) -> tuple[str, ...]:
    return (*find_compiler().command, *_openmp(settings), *_FILE_FLAGS, *_LINK_FLAGS)


def _openmp(settings: BuildSettings) -> tuple[str, ...]:
    return ("-fopenmp",) if settings.threads == "openmp" else ()


def compile_flags(
    library: ExportedLibrary, settings: BuildSettings, compiler: Compiler
) -> tuple[str, ...]:
    """Return the flags that compile the C files of a library."""
    code = (
        *_OPTIMIZED,
        *c_flags(library),
        *compiler.family.flags,
        *(settings.cpu_flags or default_cpu_flags()),
        *(compiler.bit_exact_flags if is_bit_exact(library.options) else ()),
    )
    return (
        *_FILE_FLAGS,
        *code,
        *flags_that_avoid_miscompilations(library.texts.get("cpu", ""), compiler, code),
        f"-DPYCU2C_THREADING={THREADS[settings.threads]}",
    )


def uses_avx512(library: ExportedLibrary, settings: BuildSettings) -> bool:
    """Return whether the kernels are also compiled for AVX-512."""
    is_exact, is_default = is_bit_exact(library.options), not settings.cpu_flags
    return "cpu" in library.texts and is_default and not is_exact and bool(default_cpu_flags())


def default_cpu_flags() -> tuple[str, ...]:
    """Return the flags that select the baseline instruction set: x86-64-v3, on x86."""
    return (X86_FLAG,) if platform.machine() in ("x86_64", "AMD64") else ()


def _run(command: Sequence[str], folder: Path) -> None:
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if completed.returncode:
        raise ToolchainError(f"`{' '.join(command)}` failed:\n{completed.stderr.strip()}")
