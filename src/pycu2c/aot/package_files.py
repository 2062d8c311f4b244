"""Fill the templates of CMake, of pkg-config and of the Python package of a library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pycu2c.aot.bindings import Framework
from pycu2c.aot.build_settings import (
    AVX512_FLAGS,
    X86_FLAG,
    BuildSettings,
    avx512_path,
    c_flags,
    source_paths,
)
from pycu2c.aot.exported_library import ExportedLibrary
from pycu2c.aot.python_functions import python_name, write_functions, write_structures
from pycu2c.toolchain.cc.cc import is_bit_exact
from pycu2c.toolchain.cc.flags import CLANG, GCC, NO_FMA
from pycu2c.toolchain.cc.miscompilations import MISCOMPILATIONS

_FOLDER = Path(__file__).parent


def package_files(library: ExportedLibrary, settings: BuildSettings) -> Iterator[tuple[str, str]]:
    """Yield the paths and texts of the files for CMake and for Python."""
    name, bindings, values = library.name, settings.bindings, _template_values(library, settings)
    if "cmake" in bindings or "python" in bindings:
        text = _without_empty_options(_filled("CMakeLists.txt", values))
        for framework in settings.frameworks:
            text += _filled("binding.cmake", {**values, **_framework_values(framework)})
        yield "CMakeLists.txt", text
        yield f"cmake/{name}-config.cmake.in", shipped_text("templates/config.cmake.in")
        yield f"cmake/{name}.pc.in", shipped_text("templates/library.pc.in")
    if "python" in bindings:
        yield "pyproject.toml", _filled("pyproject.toml.in", values)
        yield f"python/{name}/__init__.py", _filled("package.py.in", values)
        yield f"python/{name}/_launch.py", shipped_text("python_package/launch.py")
    if {"python", "torch"} <= set(bindings):
        yield f"python/{name}/torch.py", _filled("torch.py.in", values)
        yield (
            f"python/{name}/_torch_operators.py",
            shipped_text("python_package/torch_operators.py"),
        )
    if {"python", "jax"} <= set(bindings):
        yield f"python/{name}/jax.py", _filled("jax.py.in", values)
        yield f"python/{name}/_jax_ffi.py", shipped_text("python_package/jax_ffi.py")


def shipped_text(path: str) -> str:
    """Return the text of a file of this package that libraries contain."""
    return (_FOLDER / path).read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with values in place of ``@NAME@``."""
    text = shipped_text(f"templates/{template}")
    return re.sub(r"@(\w+)@", lambda match: values.get(match[1], match[0]), text)


def _without_empty_options(text: str) -> str:
    """Return text of CMake without commands that add no options, and blocks that are empty then."""
    text = re.sub(r"^ *target_compile_options\(\w+ PRIVATE \).*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"^ *if\(.*\)\n *endif\(\)\n", "", text, flags=re.MULTILINE)


def _template_values(library: ExportedLibrary, settings: BuildSettings) -> dict[str, str]:
    headers = [f"include/{library.name}.h", "include/pycu2c_runtime.h"]
    if "cpp" in settings.bindings:
        headers += [f"include/{library.name}.hpp", "include/pycu2c_runtime.hpp"]
    is_exact = is_bit_exact(library.options)
    names = [python_name(kernel.name) for kernel in library.kernels]
    packages = [framework.package for framework in settings.frameworks]
    return {
        "NAME": library.name,
        "UPPER": library.name.upper(),
        "REQUIRED": '", "'.join(("scikit-build-core>=0.10", *packages)),
        "KERNEL_NAMES": ", ".join(f'"{name}"' for name in names),
        "IMPORTS": "\n".join(f"from . import {name}" for name in names),
        "JAX_FUNCTIONS": "\n".join(f"{name} = _library.kernel({name})" for name in names),
        "FUNCTIONS": write_functions(library),
        "STRUCTURES": "".join(f"\n{line}" for line in write_structures(library)),
        "THREADS": settings.threads,
        "CPU_FLAGS": " ".join(settings.cpu_flags),
        "X86_FLAG": X86_FLAG,
        "AVX512_FLAGS": ";".join(AVX512_FLAGS),
        "AVX512_SOURCE": avx512_path(library) if "cpu" in library.texts and not is_exact else "",
        "AVOIDING_FLAGS": " ".join(_flags_of_old_compilers(library)),
        "SOURCES": " ".join(source_paths(library)),
        "HEADERS": " ".join(headers),
        "FLAGS": ";".join(c_flags(library)),
        "GNU_FLAGS": " ".join((*GCC.flags, *(GCC.bit_exact_flags if is_exact else ()))),
        "X86_EXACT_FLAGS": " ".join(NO_FMA if is_exact else ()),
        "CLANG_FLAGS": " ".join(CLANG.flags),
    }


def _framework_values(framework: Framework) -> dict[str, str]:
    return {
        "SUFFIX": framework.suffix,
        "SUFFIX_UPPER": framework.suffix.upper(),
        "PACKAGE": framework.package,
        "MODULE": framework.module,
        "HEADER": framework.header,
        "LIBRARIES": " ".join(framework.libraries),
    }


def _flags_of_old_compilers(library: ExportedLibrary) -> Iterator[str]:
    """Yield flags that avoid miscompilations of gcc 13 and older."""
    text = library.texts.get("cpu", "")
    for fault in MISCOMPILATIONS:
        if fault.may_have(text):
            yield from fault.flags
