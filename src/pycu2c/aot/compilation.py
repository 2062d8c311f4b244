"""Compile a library, and write its files or compare them with a folder."""

from __future__ import annotations

import platform
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pycu2c.aot.bindings import FRAMEWORKS
from pycu2c.aot.exported_library import ExportedLibrary, TranslationUnit
from pycu2c.aot.library_files import (
    AVX512_FLAGS,
    THREADS,
    X86_FLAG,
    BuildSettings,
    Files,
    avx512_path,
    binding_path,
    c_flags,
    cpp_flags,
    source_paths,
)
from pycu2c.toolchain.cc import cxx
from pycu2c.toolchain.cc.cc import is_bit_exact
from pycu2c.toolchain.cc.discovery import Compiler, find_compiler
from pycu2c.toolchain.cc.miscompilations import flags_that_avoid_miscompilations
from pycu2c.toolchain.toolchain_errors import ToolchainError

_FILE_FLAGS = ("-std=c11", "-fvisibility=hidden", "-Iinclude")
_LINK_FLAGS = ("-shared", "-Wl,-z,nodelete", "-Wl,-z,defs")
_BINDING_FLAGS = ("-O2", "-fPIC", "-Wl,-rpath,$ORIGIN", "-Wl,--exclude-libs,ALL")
_LIBRARIES = ("-pthread", "-ldl", "-lm")
_CHECKED = ("-O3", "-fPIC")  # flags of C++ with which miscompilations are searched
_CPP_LIBRARIES = ("-Wl,--as-needed", "-lstdc++")


def compile_library(
    library: ExportedLibrary, files: Files, settings: BuildSettings, *, static: bool
) -> Files:
    """Return ``lib/libNAME.so``, or ``lib/libNAME.a`` if ``static``, and those of bindings.

    Raises ToolchainError.
    """
    bindings = [(b, b.flags()) for b in (FRAMEWORKS.get(name) for name in settings.bindings) if b]
    compiler, openmp = find_compiler(), ("-fopenmp",) if settings.threads == "openmp" else ()
    compile_c = (*compiler.command, *compile_flags(library, settings, compiler), *openmp)
    commands = {f"src/{u.name}.cpp": _cpp_command(library, u, settings) for u in library.cpp_units}
    libraries = (*_LIBRARIES, *(_CPP_LIBRARIES if library.cpp_units else ()))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_files(folder, files)
        sources = source_paths(library)
        if uses_avx512(library, settings):
            sources += (avx512_path(library),)
            compile_c += ("-DPYCU2C_AVX512",)
            commands[avx512_path(library)] = (*compile_c, *AVX512_FLAGS)
        objects = [f"{Path(source).name}.o" for source in sources]
        compiled = (
            (*commands.get(source, compile_c), "-c", source, "-o", path)
            for source, path in zip(sources, objects)
        )
        with ThreadPoolExecutor() as executor:
            list(executor.map(lambda command: _run(command, folder), compiled))
        if static:
            result = f"lib{library.name}.a"
            _run(("ar", "Drcs", result, *objects), folder)
        else:
            result = f"lib{library.name}.so"
            link = (*compiler.command, *openmp, *_LINK_FLAGS, *objects, "-o", result)
            _run((*link, *libraries), folder)
        results = [result]
        for framework, flags in bindings:
            results.append(f"lib{library.name}_{framework.suffix}.so")
            inputs = binding_path(library, framework), result, "-o", results[-1], *flags
            link = *compiler.command, *openmp, *_FILE_FLAGS, *_LINK_FLAGS, *_BINDING_FLAGS
            _run((*link, *inputs, *libraries), folder)
        return {f"lib/{file}": (folder / file).read_bytes() for file in results}


def _cpp_command(
    library: ExportedLibrary, unit: TranslationUnit, settings: BuildSettings
) -> tuple[str, ...]:
    """Return the command that compiles the C++ of a unit."""
    compiler = cxx.find(unit.compiler)
    cpu_flags = settings.cpu_flags or default_cpu_flags()
    flags = ("-O3", "-fPIC", *cpp_flags(library), *compiler.family.flags, *cpu_flags)
    avoiding = flags_that_avoid_miscompilations(unit.cpp, compiler, _CHECKED)
    return (*compiler.command, *flags, *avoiding)


def compile_flags(
    library: ExportedLibrary, settings: BuildSettings, compiler: Compiler
) -> tuple[str, ...]:
    """Return the flags with which the C files of a library are compiled."""
    code = (
        "-O3",
        "-fPIC",
        *c_flags(library),
        *compiler.family.flags,
        *(settings.cpu_flags or default_cpu_flags()),
        *(compiler.bit_exact_flags if is_bit_exact(library.options) else ()),
    )
    return (
        *_FILE_FLAGS,
        *code,
        *flags_that_avoid_miscompilations(library.texts.get("cpu", ""), compiler, code),
        f"-DPYCU2C_THREADS={THREADS[settings.threads]}",
    )


def uses_avx512(library: ExportedLibrary, settings: BuildSettings) -> bool:
    """Return whether the kernels are compiled for AVX-512, too."""
    is_exact, is_default = is_bit_exact(library.options), not settings.cpu_flags
    return "cpu" in library.texts and is_default and not is_exact and bool(default_cpu_flags())


def default_cpu_flags() -> tuple[str, ...]:
    """Return the flags for the processors of the last ten years."""
    return (X86_FLAG,) if platform.machine() in ("x86_64", "AMD64") else ()


def _run(command: Sequence[str], folder: Path) -> None:
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if completed.returncode:
        raise ToolchainError(f"`{' '.join(command)}` failed:\n{completed.stderr.strip()}")


def write_files(folder: Path, files: Files) -> None:
    """Write files whose content differs from those in a folder."""
    for path, data in files.items():
        place = folder / path
        if not place.is_file() or place.read_bytes() != data:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


def differences(folder: Path, files: Files) -> Iterator[str]:
    """Yield what differs between a folder and the files of a build."""
    for path, data in files.items():
        place = folder / path
        if not place.is_file():
            yield f"{path} is missing"
        elif place.read_bytes() != data:
            yield f"{path} differs"
