"""Compile CUDA C text to a shared library for the CPU: CUDA C -> C++ -> machine code."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pycu2c.base.cached_properties import cached_property
from pycu2c.base.limits import MAX_BLOCK_THREADS, MAX_SHARED_BYTES
from pycu2c.compat.cuda_text import name_mangling
from pycu2c.compat.cuda_text.compiled import ArgumentPacking, KernelParameter, ParameterKind
from pycu2c.compat.cuda_text.diagnostics import raise_compile_error, warnings_in_source
from pycu2c.compat.cuda_text.host_source import (
    HostSource,
    KernelEntry,
    ThreadExecution,
    check_supported,
    generate_host_source,
)
from pycu2c.compat.cuda_text.includes import IncludeExpander
from pycu2c.compat.cuda_text.options import CompilerOptions
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.runtime.cpu import fibers
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel, address_of, symbol
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.runner import Runner
from pycu2c.toolchain.cc import cxx, elf_symbols
from pycu2c.toolchain.cc.flags import arithmetic_flags
from pycu2c.toolchain.link.file_identity import included_files_identity

# at the index that headers/vectors.h gives each kind
_KINDS = (ParameterKind.INTEGER, ParameterKind.FLOAT, ParameterKind.BYTES)
_STANDARD = "c++17"  # required by the headers
_OLDER_STANDARDS = (None, "c++03", "c++11", "c++14")
_CUDA_WORDS = re.compile(r"__(global|device|shared|constant|managed)__|\bcuda_runtime")
_DEFAULT_ATTRIBUTES = {  # without a GPU
    "MAX_THREADS_PER_BLOCK": MAX_BLOCK_THREADS,
    "MAX_DYNAMIC_SHARED_SIZE_BYTES": MAX_SHARED_BYTES,
    "PREFERRED_SHARED_MEMORY_CARVEOUT": -1,
}


def generate(
    text: CudaSource, options: CompilerOptions, expressions: Sequence[str], *, rewrites: bool = True
) -> HostSource:
    """Return the C++ of a text. Raises CompileError for unsupported features.

    ``rewrites=False`` disables the optimizations and yields that edit the text.
    """
    check_supported(text)
    code = IncludeExpander(options.folders, _is_cuda).expand(text.code, text.name)
    return generate_host_source(
        CudaSource(code, text.name), options.macros, expressions, rewrites=rewrites
    )


def _is_cuda(text: str, quoted: bool) -> bool:
    """Return whether an included file probably contains CUDA C."""
    return quoted or _CUDA_WORDS.search(text) is not None


def language_flags(options: CompilerOptions) -> tuple[str, ...]:
    """Return the flags of the C++ compiler for the standard and the arithmetic."""
    return (
        f"-std={_STANDARD if options.standard in _OLDER_STANDARDS else options.standard}",
        *arithmetic_flags(contracts=options.allows_contraction, fast=options.uses_fast_math),
    )


def compile_text(text: CudaSource, options: CompilerOptions, expressions: Sequence[str]) -> CpuCode:
    """Compile a text, or load it from the disk cache. Raises CompileError, ToolchainError."""
    flags = (*language_flags(options), *(f"-I{folder}" for folder in options.folders))

    def compile_source(rewrites: bool) -> CpuCode:
        source = generate(text, options, expressions, rewrites=rewrites)
        files = included_files_identity(source.text, options.folders)
        binary = cxx.compile(source.text, "cuda_c", flags, (files,))
        return CpuCode(fibers.open_library(binary, text.name), source, compiler_warnings)

    def compiler_warnings() -> str:
        unchanged = generate(text, options, expressions, rewrites=False)
        return warnings_in_source(cxx.warnings(unchanged.text, flags))

    try:
        return compile_source(rewrites=True)
    except cxx.CxxCompileError:  # the user's code or a rewrite is wrong
        try:
            return compile_source(rewrites=False)
        except cxx.CxxCompileError as error:
            raise_compile_error(error.log, text, error.compiler)


class CpuCode:
    """The kernels and variables of a text on the CPU."""

    def __init__(
        self, library: fibers.FiberLibrary, source: HostSource, warnings: Callable[[], str]
    ) -> None:
        self._library, self.source = library, source
        self._sizes = elf_symbols.object_symbol_sizes(library.binary.data)
        self._entries = {
            f"kernel {e.number}": e
            for e in source.entries  # without those that an #if disables
            if not self._sizes or f"pycu2c_kernel_{e.number}" in self._sizes
        }
        self._parameters: dict[str, tuple[KernelParameter, ...]] = {}
        self._settings: dict[tuple[str, str], int] = {}
        self._warnings = warnings

    @cached_property
    def log(self) -> str:
        """Return the compiler's warnings about the source, which compiling does not compute."""
        return self._warnings()

    @property
    def entries(self) -> Sequence[KernelEntry]:
        """Return the kernels, and how their threads run."""
        return list(self._entries.values())

    @property
    def kernels(self) -> Sequence[str]:
        return [entry.name for entry in self._entries.values()]

    def entry(self, name: str) -> str | None:
        name = "".join(name.split()).lstrip("&:")
        names = {key: "".join(entry.name.split()) for key, entry in self._entries.items()}
        for key, full_name in names.items():
            if full_name == name:
                return key
        matches = [key for key, full_name in names.items() if full_name.endswith(f"::{name}")]
        return matches[0] if len(matches) == 1 else None  # the only one in any namespace

    def parameters(self, entry: str) -> tuple[KernelParameter, ...] | None:
        if entry not in self._parameters:
            name = f"pycu2c_kernel_{self._entries[entry].number}"
            words = symbol(self._library.loaded, name, "const int32_t *const *")[2]
            # the number of parameters, then size, alignment and kind of each
            fields = (words[1 + 3 * i : 4 + 3 * i] for i in range(words[0]))
            self._parameters[entry] = tuple(KernelParameter(_KINDS[k], s, a) for s, a, k in fields)
        return self._parameters[entry]

    def runner(self, entry: str, packing: ArgumentPacking) -> Runner:
        kernel = self._kernel(self._entries[entry], packing.cooperative)
        return CpuRunner(packing.names, packing.layout, kernel)

    def _kernel(self, entry: KernelEntry, cooperative: bool) -> CpuKernel:
        if entry.execution in (ThreadExecution.LOOP, ThreadExecution.SPLIT):
            return fibers.LoopKernel(self._library, f"pycu2c_run_{entry.number}")
        name = f"pycu2c_kernel_{entry.number}"
        return fibers.FiberKernel(
            self._library, name, entry.name, cooperative and self.source.needs_cooperative_launch
        )

    def attribute(self, entry: str, name: str) -> int:
        """Return an attribute by its driver name; most are 0 on the CPU."""
        return self._settings.get((entry, name), _DEFAULT_ATTRIBUTES.get(name, 0))

    def set_attribute(self, entry: str, name: str, value: int) -> None:
        self._settings[entry, name] = value

    def variable(self, name: str) -> tuple[int, int] | None:
        symbol_name = name_mangling.mangled_variable(name.lstrip("&"))
        size = self._sizes.get(symbol_name)
        if size is None:
            return None
        return address_of(symbol(self._library.loaded, symbol_name, "char *")), size
