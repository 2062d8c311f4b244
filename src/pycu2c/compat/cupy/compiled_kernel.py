"""Compile and load generated text; report compiler errors at the user's text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass
from pycu2c.compat.cuda_text.options import included_file_identities, options_of
from pycu2c.compat.cupy.bound_parameters import KernelField
from pycu2c.compat.cupy.diagnostics import translate_errors
from pycu2c.cuda_driver import driver, kernel_api
from pycu2c.declarations.options import DEFAULT_OPTIONS
from pycu2c.runtime.arguments.arguments import layout_of
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.cuda import cuda_kernel
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.runner import Runner
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cc import cxx
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import RejectedCode

_STANDARD = "gnu++17"
DEFAULT_ARCH = "sm_90"  # without a GPU


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """Generated text and its parameters.

    name: the user's name of the kernel.
    written: the parts of the text that the user has written, by their role.
    """

    text: str
    entry: str
    fields: tuple[KernelField, ...]
    name: str
    written: Mapping[str, str]
    elements_per_thread: int = 1  # of an elementwise kernel; on the CPU per chunk


@dataclass(frozen=True, slots=True)
class LoadedKernelText:
    """A loaded kernel. ``size_of_part``: the bytes of a block's partial result of a reduction."""

    runner: Runner
    size_of_part: int = 0
    elements_per_thread: int = 1


def load_text(
    text: GeneratedText, backend: str, names: tuple[str, ...], options: Sequence[str]
) -> LoadedKernelText:
    """Compile and load a text. Raises CompileError, ToolchainError, CudaError."""
    layout = layout_of([field.parameter for field in text.fields])
    part = f"{text.entry}_partial"
    has_parts = any(field.parameter.name == "_partials" for field in text.fields)
    with translate_errors(text.written, text.name):
        if backend == "cpu":
            kernel = CpuKernel(cpu_binary(text, options))
            size = int(kernel.words(part)[0]) if has_parts else 0
            runner: Runner = CpuRunner(names, layout, kernel)
            return LoadedKernelText(runner, size, text.elements_per_thread)
        on_gpu = cuda_kernel.CudaKernel(cuda_binary(text, driver.arch(), options))
    written = frozenset(
        f.parameter.argument
        for f in text.fields
        if f.parameter.part is ArgumentPart.DATA and not f.ctype.startswith("const")
    )
    size = kernel_api.variable_of(on_gpu.loaded.library, part)[1] if has_parts else 0
    runner = CudaRunner(text.entry, written, layout, on_gpu)
    return LoadedKernelText(runner, size, text.elements_per_thread)


def cpu_binary(text: GeneratedText, options: Sequence[str]) -> CompiledBinary:
    parsed = options_of(options)
    arithmetic = cxx.arithmetic_flags(contracts=parsed.contracts, fast=parsed.is_fast)
    standard = parsed.standard.replace("c++", "gnu++") if parsed.standard else _STANDARD
    folders = (f"-I{folder}" for folder in parsed.folders)
    flags = (f"-std={standard}", "-fopenmp-simd", *arithmetic, *folders)
    files = included_file_identities(text.text, parsed.folders)
    try:
        return cxx.compile(text.text, text.entry, flags, files, first="g++")
    except cxx.CxxCompileError as error:
        raise RejectedCode(error.compiler, text.text, error.log) from None


def cuda_binary(
    text: GeneratedText, arch: str, options: Sequence[str], kind: nvrtc.BinaryKind = "cubin"
) -> CompiledBinary:
    more = options_of(options).without_macros
    return nvrtc.compile(
        text.text, text.entry, arch, kind=kind, options=DEFAULT_OPTIONS, extra_flags=more
    )
