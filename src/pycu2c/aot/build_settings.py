"""The settings of a build, its source files, and the flags that compile them."""

from __future__ import annotations

from pycu2c.aot.bindings import FRAMEWORKS, Framework
from pycu2c.aot.exported_library import ExportedLibrary
from pycu2c.base.records import dataclass
from pycu2c.toolchain.cc.cc import FLAGS, arithmetic_flags, half_flags

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

    @property
    def frameworks(self) -> tuple[Framework, ...]:
        return tuple(FRAMEWORKS[name] for name in self.bindings if name in FRAMEWORKS)


def c_flags(library: ExportedLibrary) -> tuple[str, ...]:
    """Return the flags of generated C for all compilers."""
    halves = half_flags(library.texts.get("cpu", ""))
    return (*_FLAGS, *arithmetic_flags(library.options), *halves)


def source_paths(library: ExportedLibrary) -> tuple[str, ...]:
    """Return the C files of the library."""
    name = library.name
    suffixes = [
        "_launch.c",
        *([".c"] if "cpu" in library.texts else ()),
        *(["_coroutines.c"] if library.has_coroutines else ()),
    ]
    return tuple(f"src/{name}{suffix}" for suffix in suffixes)


def binding_path(library: ExportedLibrary, framework: Framework) -> str:
    """Return the C file that binds the library to a framework."""
    return f"src/{library.name}_{framework.suffix}.c"


def avx512_path(library: ExportedLibrary) -> str:
    """Return the C file of the kernels for AVX-512."""
    return f"src/{library.name}_avx512.c"
