"""Compile and load generated text; report compiler errors at the user's text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pycu2c.base.diagnostics import CompileError, Diagnostic, Label
from pycu2c.base.parameters import ArgumentPart
from pycu2c.base.records import dataclass
from pycu2c.base.spans import Span
from pycu2c.compat.cuda_text.options import options_of
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.cupy.bound_parameters import KernelField
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
from pycu2c.toolchain.cc.flags import arithmetic_flags
from pycu2c.toolchain.link.file_identity import included_files_identity
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import CompilerDiagnostic, RejectedCodeError

_STANDARD = "gnu++17"
_MAX_DIAGNOSTICS = 8
DEFAULT_ARCH = "sm_90"  # without a GPU


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """Generated text and its parameters.

    name: the user's name of the kernel.
    user_texts: the texts of the user that it contains, by their role.
    """

    text: str
    entry: str
    fields: tuple[KernelField, ...]
    name: str
    user_texts: Mapping[str, str]
    elements_per_thread: int = 1  # elementwise kernels only; on the CPU: elements per chunk


@dataclass(frozen=True, slots=True)
class LoadedKernelText:
    """A loaded kernel.

    sizes: the names of the sizes that it takes after the user's arguments.
    partial_size: bytes of a partial result, if it is a reduction.
    """

    runner: Runner
    sizes: tuple[str, ...]
    partial_size: int
    elements_per_thread: int


def load_text(
    text: GeneratedText, backend: str, names: tuple[str, ...], options: Sequence[str]
) -> LoadedKernelText:
    """Compile and load a text. Raises CompileError, ToolchainError, CudaError."""
    layout = layout_of([field.parameter for field in text.fields])
    partial_symbol = f"{text.entry}_partial"
    has_partials = any(field.parameter.name == "_partials" for field in text.fields)
    sizes = tuple(field.parameter.name for field in text.fields if field.is_size)
    with translate_errors(text.user_texts, text.name):
        if backend == "cpu":
            kernel = CpuKernel(cpu_binary(text, options))
            size = int(kernel.uint64_array(partial_symbol)[0]) if has_partials else 0
            runner: Runner = CpuRunner(names, layout, kernel)
            return LoadedKernelText(runner, sizes, size, text.elements_per_thread)
        on_gpu = cuda_kernel.CudaKernel(cuda_binary(text, driver.native_arch(), options))
    written = frozenset(
        f.parameter.argument
        for f in text.fields
        if f.parameter.part is ArgumentPart.DATA and not f.ctype.startswith("const")
    )
    size = kernel_api.variable_of(on_gpu.loaded.library, partial_symbol)[1] if has_partials else 0
    runner = CudaRunner(text.entry, written, layout, on_gpu)
    return LoadedKernelText(runner, sizes, size, text.elements_per_thread)


def cpu_binary(text: GeneratedText, options: Sequence[str]) -> CompiledBinary:
    parsed = options_of(options)
    arithmetic = arithmetic_flags(contracts=parsed.allows_contraction, fast=parsed.uses_fast_math)
    standard = parsed.standard.replace("c++", "gnu++") if parsed.standard else _STANDARD
    folders = (f"-I{folder}" for folder in parsed.folders)
    flags = (f"-std={standard}", "-fopenmp-simd", *arithmetic, *folders)
    files = included_files_identity(text.text, parsed.folders)
    try:
        return cxx.compile(text.text, text.entry, flags, (files,), first="g++")
    except cxx.CxxCompileError as error:
        raise RejectedCodeError(error.compiler, text.text, error.log) from None


def cuda_binary(
    text: GeneratedText, arch: str, options: Sequence[str], kind: nvrtc.BinaryKind = "cubin"
) -> CompiledBinary:
    extra_flags = options_of(options).without_macros
    return nvrtc.compile(
        text.text, text.entry, arch, kind=kind, options=DEFAULT_OPTIONS, extra_flags=extra_flags
    )


# ---- errors ------------------------------------------------------------------------------------


@contextmanager
def translate_errors(user_texts: Mapping[str, str], name: str) -> Iterator[None]:
    """Raise CompileError for compiler errors; ``user_texts``: the user's texts by role."""
    try:
        yield
    except RejectedCodeError as error:
        raise CompileError(_diagnostics(error, user_texts, name)) from None


def _diagnostics(
    error: RejectedCodeError, user_texts: Mapping[str, str], name: str
) -> list[Diagnostic]:
    compiler = error.compiler.split("/")[-1].split()[0]
    hint = f"the error message is from {compiler}"
    lines = error.text.splitlines()
    labels: dict[Span, list[str]] = {}
    others: list[str] = []
    for diagnostic in error.diagnostics:
        line = lines[diagnostic.line - 1] if diagnostic.line <= len(lines) else ""
        span = _span(line, user_texts, name)
        if span is not None:
            labels.setdefault(span, []).append(_message(diagnostic))
        else:
            others.append(f"{_message(diagnostic)}: {line.strip()}")
    located = [
        Diagnostic("inline-c", (Label(span, "; ".join(dict.fromkeys(messages))),), hint)
        for span, messages in labels.items()
    ]
    if located:
        return located[:_MAX_DIAGNOSTICS]
    messages = [f"      {message}" for message in dict.fromkeys(others)] or [f"      {error.error}"]
    summary = f"correct the text of {name}; {compiler} reports"
    return [Diagnostic("inline-c", (), "\n".join([summary, *messages]))]


def _message(diagnostic: CompilerDiagnostic) -> str:
    """Return a message without the name of the warning option."""
    return diagnostic.text.partition(" [-W")[0]


def _span(line: str, user_texts: Mapping[str, str], name: str) -> Span | None:
    """Return the longest of the user's lines that a generated line contains."""
    best: tuple[int, Span] | None = None
    for role, text in user_texts.items():
        file = f"<{role} of {name}>"
        for number, user_line in enumerate(text.splitlines(), 1):
            code = user_line.strip().rstrip(";")
            if code and code in line and (best is None or len(code) > best[0]):
                CudaSource(text, file, {file: text})  # registers the text for the diagnostic
                column = len(user_line) - len(user_line.lstrip())
                best = len(code), Span(file, number, column, number, column + len(code))
    return best[1] if best else None
