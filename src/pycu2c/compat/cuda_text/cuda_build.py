"""Compile CUDA C text to a cubin with NVRTC, cached on disk, and load its kernels."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text import compiled, name_mangling
from pycu2c.compat.cuda_text.compiled import ArgumentPacking, KernelParameter
from pycu2c.compat.cuda_text.diagnostics import raise_compile_error
from pycu2c.compat.cuda_text.options import CompilerOptions
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.cuda_driver import kernel_api
from pycu2c.cuda_driver.cuda_errors import CudaError
from pycu2c.runtime.cuda.cuda_kernel import CudaKernel
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.runner import Runner
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.link.file_identity import included_files_identity
from pycu2c.toolchain.nvrtc import nvrtc, program
from pycu2c.toolchain.nvrtc.cuda_headers import header_settings


@dataclass(frozen=True, slots=True)
class CompiledCubin:
    """A cubin, or PTX if the options name no real architecture.

    ``entry_declarations`` are the ``.entry`` lines of the PTX; ``names`` maps name expressions to
    mangled names.
    """

    data: bytes
    entry_declarations: str
    names: dict[str, str]
    log: str


def compile_text(
    text: CudaSource, options: CompilerOptions, expressions: Sequence[str], arch: str
) -> CompiledCubin:
    """Compile a text, or load it from the disk cache. Raises CompileError, ToolchainError."""
    flags, code = options.for_nvrtc(arch), options.with_macros(text)
    name_expressions = tuple(expressions)

    def compile_module() -> tuple[bytes, str]:
        result = program.compile_module(code, text.name, flags, name_expressions)
        if isinstance(result, str):
            raise_compile_error(result, text, "NVRTC")
        declarations = compiled.entry_declarations(result.ptx.decode())
        metadata = json.dumps({"heads": declarations, "names": result.names, "log": result.log})
        return result.cubin or result.ptx + b"\0", metadata

    parts = (code, text.name, "module", *flags, "", *name_expressions, header_settings(text.code))
    files = included_files_identity(text.code, options.folders)
    binary = nvrtc.cached((*parts, files), ".cubin", compile_module)
    metadata = json.loads(binary.log)
    return CompiledCubin(binary.data, metadata["heads"], metadata["names"], metadata["log"])


def is_compiled(data: bytes) -> bool:
    """Return whether data are a cubin, a fatbin or PTX, not source text."""
    return data.startswith((b"\x7fELF", b"\x50\xed\x55\xba")) or _is_ptx(data)


def _is_ptx(data: bytes) -> bool:
    return re.search(rb"(?m)^\s*\.version\s", data[:4096]) is not None


def precompiled_code(data: bytes) -> CompiledCubin:
    """Return precompiled code: a cubin, a fatbin, or PTX."""
    if not _is_ptx(data):
        return CompiledCubin(data, "", {}, "")
    return CompiledCubin(data + b"\0", compiled.entry_declarations(data.decode()), {}, "")


class GpuCode:
    """The kernels of a text on the calling thread's current GPU."""

    def __init__(self, cubin: CompiledCubin) -> None:
        self._cubin, self.log = cubin, cubin.log
        self._entries = compiled.entry_parameters(cubin.entry_declarations)
        self._has_declarations = bool(self._entries)
        self._library = kernel_api.load_library(cubin.data, "load CUDA C")
        self._loaded_kernels: dict[str, CudaKernel] = {}

    @property
    def kernels(self) -> Sequence[str]:
        return [*self._cubin.names, *self._entries]

    def entry(self, name: str) -> str | None:
        if not self._has_declarations:  # a cubin without PTX: ask the driver
            return name if kernel_api.has_kernel(self._library, name) else None
        return entry_named(name, self._cubin, self._entries)

    def parameters(self, entry: str) -> tuple[KernelParameter, ...] | None:
        if entry not in self._entries:
            layout = kernel_api.parameter_layout(self._kernel(entry).loaded)
            return self._entries.setdefault(entry, compiled.parameters_of_layout(layout))
        return self._entries[entry]

    def _kernel(self, entry: str, cooperative: bool = False) -> CudaKernel:
        key = f"{entry} cooperative" if cooperative else entry
        if key not in self._loaded_kernels:
            binary = CompiledBinary("cubin", entry, "", b"", None, "")
            kernel = kernel_api.kernel_of(self._library, entry)
            self._loaded_kernels[key] = CudaKernel(binary, cooperative, loaded=kernel)
        return self._loaded_kernels[key]

    def runner(self, entry: str, packing: ArgumentPacking) -> Runner:
        kernel = self._kernel(entry, packing.cooperative)
        return CudaRunner(kernel.name, packing.writable, packing.layout, kernel)

    def attribute(self, entry: str, name: str) -> int:
        return kernel_api.kernel_attribute(self._kernel(entry).loaded, name)

    def set_attribute(self, entry: str, name: str, value: int) -> None:
        kernel_api.set_kernel_attribute(self._kernel(entry).loaded, name, value)

    def variable(self, name: str) -> tuple[int, int] | None:
        try:
            return kernel_api.variable_of(self._library, self._cubin.names.get(name, name))
        except CudaError as error:
            if error.name == "CUDA_ERROR_NOT_FOUND":
                return None
            raise


def entry_named(
    name: str, cubin: CompiledCubin, entries: dict[str, tuple[KernelParameter, ...]]
) -> str | None:
    """Return the mangled name of a kernel; None if there is none or several.

    A name is a name expression, a mangled name, or the source name of a unique function.
    """
    mangled = cubin.names.get(name, name)
    if mangled in entries:
        return mangled
    prefix = name_mangling.mangled_function_prefix(name)
    matches = [entry for entry in entries if entry.startswith(prefix)]
    return matches[0] if len(matches) == 1 else None
