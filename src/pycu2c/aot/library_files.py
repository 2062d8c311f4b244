"""Collect the files of a library: generated text, and files of ``runtime`` and ``templates``."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pycu2c.aot.bindings import FRAMEWORKS, Framework, parameter_kinds, write_binding
from pycu2c.aot.exported_library import ExportedLibrary
from pycu2c.aot.headers import write_cpp_header, write_header
from pycu2c.aot.images import Image, write_images
from pycu2c.aot.launch_functions import write_launch_functions
from pycu2c.aot.output_folder import Files
from pycu2c.aot.record_types import numpy_dtype, numpy_structure
from pycu2c.base.records import dataclass
from pycu2c.runtime.cpu.coroutine_scheduler import scheduler_text
from pycu2c.runtime.cpu.fibers import fibers_text
from pycu2c.toolchain.cc import cxx
from pycu2c.toolchain.cc.cc import FLAGS, arithmetic_flags, half_flags, is_bit_exact
from pycu2c.toolchain.cc.flags import CLANG, GCC, NO_FMA
from pycu2c.toolchain.cc.miscompilations import MISCOMPILATIONS

_HERE = Path(__file__).parent

_FLAGS = tuple(f for f in FLAGS if not f.startswith(("-std", "-fPIC", "-Werror", "-O")))
X86_FLAG = "-march=x86-64-v3"
AVX512_FLAGS = ("-march=x86-64-v4", "-mprefer-vector-width=512")
THREADS = {"none": 0, "pool": 1, "openmp": 2}
DEFAULT_BINDINGS = ("c", "cpp", "cmake", "python", "torch")
DEFAULT_ARCHS = ("sm_80", "sm_90")


@dataclass(frozen=True, slots=True)
class BuildSettings:
    """How a library is compiled.

    threads: how launches on the CPU use its cores: ``pool``, ``openmp`` or ``none``.
    cpu_flags: compiler flags that select the instruction set; by default x86-64-v3, and AVX-512 in
    addition.
    bindings: the languages and frameworks that files are written for.
    archs: the architectures of GPUs.
    static: whether to make a static library.
    """

    threads: str = "pool"
    cpu_flags: tuple[str, ...] = ()
    bindings: tuple[str, ...] = DEFAULT_BINDINGS
    archs: tuple[str, ...] = DEFAULT_ARCHS
    static: bool = False


def library_files(
    library: ExportedLibrary, images: tuple[Image, ...], settings: BuildSettings
) -> Files:
    """Return the files, without compiled ones."""
    return {path: text.encode() for path, text in _texts(library, images, settings)}


def c_flags(library: ExportedLibrary) -> tuple[str, ...]:
    """Return the flags of generated C for all compilers."""
    halves = half_flags(library.texts.get("cpu", ""))
    return (*_FLAGS, *arithmetic_flags(library.options), *halves)


def source_paths(library: ExportedLibrary) -> tuple[str, ...]:
    """Return the C and C++ files of the library."""
    name = library.name
    suffixes = [
        "_launch.c",
        *([".c"] if "cpu" in library.texts else ()),
        *(["_coroutines.c"] if library.has_coroutines else ()),
        *(["_fibers.c"] if library.cpp_units else ()),
    ]
    cpp = (f"src/{unit.name}.cpp" for unit in library.cpp_units)
    return (*(f"src/{name}{suffix}" for suffix in suffixes), *cpp)


def cpp_flags(library: ExportedLibrary) -> tuple[str, ...]:
    """Return the flags of the C++ files."""
    flags = library.cpp_units[0].flags if library.cpp_units else ()
    return (*(f for f in cxx.FLAGS if f not in ("-O3", "-fPIC")), "-fopenmp-simd", *flags)


def binding_path(library: ExportedLibrary, framework: Framework) -> str:
    """Return the C file that binds the library to a framework."""
    return f"src/{library.name}_{framework.suffix}.c"


def _texts(
    library: ExportedLibrary, images: tuple[Image, ...], settings: BuildSettings
) -> Iterator[tuple[str, str]]:
    name, bindings = library.name, settings.bindings
    yield f"include/{name}.h", write_header(library)
    yield "include/pycu2c_runtime.h", _read("runtime/pycu2c_runtime.h")
    if "cpp" in bindings:
        yield f"include/{name}.hpp", write_cpp_header(library)
        yield "include/pycu2c_runtime.hpp", _read("runtime/pycu2c_runtime.hpp")
    yield f"src/{name}_launch.c", write_launch_functions(library)
    for header in ("launch", "argument_checks"):
        yield f"src/runtime/{header}.h", _read(f"runtime/{header}.h")
    if "cpu" in library.targets:
        yield "src/runtime/cpu_threads.h", _read("runtime/cpu_threads.h")
    if any(k.inferred_grid for k in library.kernels):
        yield "src/runtime/inferred_grids.h", _read("runtime/inferred_grids.h")
    if library.has_coroutines or library.cpp_units:
        yield "src/runtime/schedulers.h", _read("runtime/schedulers.h")
    if library.has_coroutines:
        yield f"src/{name}_coroutines.c", _scheduler(name, _OF_COROUTINES, scheduler_text())
    if library.cpp_units:
        yield f"src/{name}_fibers.c", _scheduler(name, _OF_FIBERS, fibers_text())
    if "cpu" in library.texts:
        yield f"src/{name}.c", f"{_heading(name, 'the CPU')}{library.texts['cpu']}"
        yield avx512_path(library), _avx512_text(library)
    if "cuda" in library.texts:
        yield f"src/{name}.cu", f"{_heading(name, 'GPUs')}{library.texts['cuda']}"
    for unit in library.units:
        yield from ((f"src/{unit.name}.cpp", unit.cpp),) if unit.cpp else ()
        yield from ((f"src/{unit.name}.cu", unit.cuda),) if "cuda" in library.targets else ()
    if "cuda" in library.targets:
        yield f"src/{name}_images.h", write_images(images)
        yield "src/runtime/cuda_driver.h", _read("runtime/cuda_driver.h")
    frameworks = [FRAMEWORKS[b] for b in bindings if b in FRAMEWORKS]
    for framework in frameworks:
        yield binding_path(library, framework), write_binding(library, framework)
        yield "src/runtime/bindings.h", _read("runtime/bindings.h")
        path = f"runtime/{framework.suffix}_functions.h"
        yield f"src/{path}", _read(path)
    values = _template_values(library, settings)
    if "cmake" in bindings or "python" in bindings:
        text = _filled("CMakeLists.txt", values)
        for framework in frameworks:
            text += _filled("binding.cmake", {**values, **_framework_values(framework)})
        yield "CMakeLists.txt", text
        yield f"cmake/{name}-config.cmake.in", _read("templates/config.cmake.in")
        yield f"cmake/{name}.pc.in", _read("templates/library.pc.in")
    if "python" in bindings:
        yield "pyproject.toml", _filled("pyproject.toml.in", values)
        yield f"python/{name}/__init__.py", _filled("package.py.in", values)
        yield f"python/{name}/_launch.py", _read("python_package/launch.py")
    if {"python", "torch"} <= set(bindings):
        yield f"python/{name}/torch.py", _filled("torch.py.in", values)
        yield f"python/{name}/_torch_operators.py", _read("python_package/torch_operators.py")
    if {"python", "jax"} <= set(bindings):
        yield f"python/{name}/jax.py", _filled("jax.py.in", values)
        yield f"python/{name}/_jax_ffi.py", _read("python_package/jax_ffi.py")


def _heading(name: str, processor: str) -> str:
    return f"/* The kernels of the library {name} for {processor}, generated by pycu2c. */\n"


_OF_COROUTINES = ("run_coroutines", "set_memory", "report", "set_scheduler_pool")
_OF_FIBERS = (
    "run_fibers",
    "run_split",
    "run_interleaved_fibers",
    "fibers_report",
    "services",
    "set_fiber_pool",
)


def _scheduler(name: str, functions: Sequence[str], text: str) -> str:
    """Return a scheduler of threads, whose functions have names of the library."""
    renamed = "".join(f"#define pycu2c_{f} {name}_pycu2c_{f}\n" for f in functions)
    return f"#define _GNU_SOURCE\n{renamed}{text.removeprefix('#define _GNU_SOURCE')}"


def avx512_path(library: ExportedLibrary) -> str:
    """Return the C file of the kernels for AVX-512."""
    return f"src/{library.name}_avx512.c"


def _avx512_text(library: ExportedLibrary) -> str:
    """Return C that includes the kernels under other names."""
    names = {
        f.name: f.avx512_name
        for k in library.kernels
        for f in k.functions()
        if f.has_avx512 or f.is_coroutine
    }
    renamed = "".join(f"#define {name} {new}\n" for name, new in names.items())
    return f"""\
/* The kernels once more, compiled for processors with AVX-512. */
{renamed}#include "{library.name}.c"
"""


def _read(path: str) -> str:
    return (_HERE / path).read_text(encoding="utf-8")


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with values in place of ``@NAME@``."""
    text = _read(f"templates/{template}")
    return re.sub(r"@(\w+)@", lambda match: values.get(match[1], match[0]), text)


def _template_values(library: ExportedLibrary, settings: BuildSettings) -> dict[str, str]:
    headers = [f"include/{library.name}.h", "include/pycu2c_runtime.h"]
    if "cpp" in settings.bindings:
        headers += [f"include/{library.name}.hpp", "include/pycu2c_runtime.hpp"]
    is_exact = is_bit_exact(library.options)
    packages = [FRAMEWORKS[b].package for b in settings.bindings if b in FRAMEWORKS]
    return {
        "NAME": library.name,
        "UPPER": library.name.upper(),
        "REQUIRED": '", "'.join(("scikit-build-core>=0.10", *packages)),
        "KERNEL_NAMES": ", ".join(f'"{_python_name(kernel.name)}"' for kernel in library.kernels),
        "KERNELS": "\n".join(_python_kernels(library)),
        "STRUCTURES": "".join(f"{line}\n" for line in _python_structures(library)),
        "THREADS": settings.threads,
        "CPU_FLAGS": " ".join(settings.cpu_flags),
        "X86_FLAG": X86_FLAG,
        "AVX512_FLAGS": ";".join(AVX512_FLAGS),
        "AVX512_SOURCE": avx512_path(library) if "cpu" in library.texts and not is_exact else "",
        "AVOIDING_FLAGS": " ".join(_flags_of_old_compilers(library)),
        "SOURCES": " ".join(source_paths(library)),
        "HEADERS": " ".join(headers),
        "LANGUAGES": "C CXX" if library.cpp_units else "C",
        "FLAGS": ";".join(c_flags(library)),
        "CPP_FLAGS": ";".join(cpp_flags(library)),
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
    text = "".join((library.texts.get("cpu", ""), *(unit.cpp for unit in library.cpp_units)))
    for fault in MISCOMPILATIONS:
        if fault.is_general and fault.may_have(text):
            yield from fault.flags


def _python_kernels(library: ExportedLibrary) -> Iterator[str]:
    """Yield lines of Python that define a function for each kernel."""
    for kernel in library.kernels:
        letters, has_grid = [*parameter_kinds(kernel).items()], kernel.inferred_grid is None
        arguments = f'"{kernel.name}", {letters}, has_grid={has_grid}'.replace("'", '"')
        yield f"{_python_name(kernel.name)} = _library.kernel({arguments})"


def _python_name(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) else name


def _python_structures(library: ExportedLibrary) -> Iterator[str]:
    """Yield lines of Python that describe the vectors and records in arrays, for NumPy."""
    names = {d: name.removeprefix(f"{library.name}_") for d, name in library.records.items()}
    for dtype, name in names.items():
        yield f"{name} = {numpy_structure(dtype, names)}"
    for kernel in library.kernels:
        structures: dict[str, dict[str, None]] = {}
        for argument in (a for s in kernel.signatures for a in s.arguments):
            if argument.is_array and argument.type.dtype.has_fields:
                structure = numpy_dtype(argument.type.dtype, names)
                entry = f'("{argument.lane_type}", {structure})'
                structures.setdefault(argument.name, {})[entry] = None
        for parameter, entries in structures.items():
            yield f'{_python_name(kernel.name)}.structures["{parameter}"] = [{", ".join(entries)}]'
