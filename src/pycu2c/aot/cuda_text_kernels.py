"""Export kernels of CUDA C text: RawKernel, RawModule, SourceModule.

On the CPU, a text is C++ with names of its own: C++ merges functions from several files.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pycu2c.aot.cuda_text_arguments import CudaTextKernel, arguments_of
from pycu2c.aot.exported_library import (
    ExportedArgument,
    ExportedKernel,
    ExportedSignature,
    ExportError,
    KernelFunction,
    KernelRequest,
    TargetName,
    TranslationUnit,
    Variant,
)
from pycu2c.base.diagnostics import CompileError
from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.compat.cuda_text import cpu_build, cuda_build
from pycu2c.compat.cuda_text.compiled import KernelParameter, ParameterKind, entry_parameters
from pycu2c.compat.cuda_text.host_source import ThreadExecution, check_supported
from pycu2c.compat.cuda_text.includes import IncludeExpander
from pycu2c.compat.cuda_text.module import DEFAULT_ARCH
from pycu2c.compat.cuda_text.options import CompilerOptions
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.cuda_text.unique_names import renaming_macros
from pycu2c.toolchain.nvrtc.flags import BinaryKind

_Typed: TypeAlias = tuple[CudaTextKernel, tuple[ExportedArgument, ...]]


def export_cuda_text(
    library: str,
    unit_count: int,
    requests: Sequence[KernelRequest[CudaTextKernel]],
    targets: Sequence[TargetName],
) -> tuple[list[TranslationUnit], list[ExportedKernel]]:
    """Export the kernels of one text.

    unit_count: the translation units that are already exported. Raises ExportError if a library
    cannot have one of the kernels; CompileError, ToolchainError if the text does not compile.
    """
    kernels = [request.kernel for request in requests]
    module, unit = kernels[0].module, f"{library}_{kernels[0].name}"
    if module.binary or module.options.arch:
        raise ExportError(f"{module.text.name} is compiled for one GPU: pass its text, and --arch")
    typed = [(r.kernel, arguments_of(r.kernel, r.signatures)) for r in requests]
    cpp, functions = "", {}
    if "cpu" in targets:
        cpp, functions["cpu"] = _export_cpp(library, unit, typed)
    if "cuda" in targets:
        functions["cuda"] = _export_cuda(unit_count + 1, typed)
    exported = [
        _exported(*each, {target: own[position] for target, own in functions.items()})
        for position, each in enumerate(typed)
    ]

    def compile(arch: str, kind: BinaryKind) -> bytes:
        return module.ptx(arch).encode() if kind == "ptx" else module.cubin(arch).data

    cuda = module.options.with_macros(module.text)
    return [
        TranslationUnit(unit, cuda, cpp, "clang++", cpp_flags(module.options), compile)
    ], exported


def _exported(
    kernel: CudaTextKernel,
    arguments: tuple[ExportedArgument, ...],
    functions: dict[TargetName, KernelFunction],
) -> ExportedKernel:
    text, definition = kernel.module.text, kernel.definition
    start, end = text.tokens[definition.start].start, text.tokens[definition.body[0]].start
    file, line, _ = text.origins.locate(start)
    variant = Variant(LaunchAssumptions(), functions)
    return ExportedKernel(
        kernel.name,
        " ".join(text.code[start:end].split()),
        f"{os.path.basename(file)}:{line}" if os.path.exists(file) else f"line {line} of CUDA C",
        (ExportedSignature(kernel.name, arguments, (variant,)),),
        is_cooperative=kernel.is_cooperative,
    )


# ---- targets ----


def _export_cpp(
    library: str, unit: str, typed: Sequence[_Typed]
) -> tuple[str, list[KernelFunction]]:
    """Return the C++ of a text, and the functions of its kernels."""
    module = typed[0][0].module
    options, name = module.options, module.text.name
    code = IncludeExpander(options.folders, lambda *_: True).expand(module.text.code, name)
    text = CudaSource(code, name)
    try:
        check_supported(text)
    except CompileError as error:
        raise ExportError(f"{error}\n\nbuild it with --targets cuda") from None
    cpu = cpu_build.compile_text(text, options, module.name_expressions)
    entries = {f"kernel {e.number}": e for e in cpu.entries}
    functions = []
    for kernel, arguments in typed:
        key = _found(kernel, cpu.entry(kernel.expression))
        runs = _RUNS_FIBERS.get(entries[key].execution, "")
        if kernel.is_cooperative and runs and cpu.source.needs_cooperative_launch:
            raise ExportError(f"{kernel.name} waits for all blocks: build it with --targets cuda")
        symbol = f"{unit}_{'kernel' if runs else 'run'}_{entries[key].number}"
        compiled = cpu.parameters(key) or ()
        functions.append(_function(kernel, arguments, symbol, compiled, fiber_runner=runs))
    symbols = [f"{kind}_{e.number}" for e in cpu.entries for kind in ("run", "kernel")]
    renamed = {f"pycu2c_{symbol}": f"{unit}_{symbol}" for symbol in symbols}
    return isolated_cpp(library, unit, cpu.source.text, text, renamed), functions


_RUNS_FIBERS = {ThreadExecution.FIBERS: "run_fibers", ThreadExecution.WARPS: "run_split"}


def isolated_cpp(
    library: str, unit: str, cpp: str, user_text: CudaSource, symbols: Mapping[str, str]
) -> str:
    """Return C++ whose names no other file of the library has.

    user_text: its part with the functions of the user. symbols: names for what it exports.
    """
    names = {"pycu2c": unit, "PYCU2C_SERVICES": f"{library}_pycu2c_services", **symbols}
    macros = [f"#define {name} {value}" for name, value in names.items()]
    cpp = cpp.replace('visibility("default")', 'visibility("hidden")')
    return "\n".join((*macros, *renaming_macros(user_text, unit), cpp))


def cpp_flags(options: CompilerOptions) -> tuple[str, ...]:
    """Return the flags of C++, with GNU's extensions, for the options of a text."""
    return tuple(f.replace("-std=c++", "-std=gnu++") for f in cpu_build.language_flags(options))


def _export_cuda(module: int, typed: Sequence[_Typed]) -> list[KernelFunction]:
    cubin = typed[0][0].module.cubin(DEFAULT_ARCH)
    compiled = entry_parameters(cubin.entry_declarations)
    functions = []
    for kernel, arguments in typed:
        name = _found(kernel, cuda_build.entry_named(kernel.expression, cubin, compiled))
        functions.append(_function(kernel, arguments, name, compiled[name], module=module))
    return functions


def _found(kernel: CudaTextKernel, name: str | None) -> str:
    if name is None:
        raise ExportError(f"{kernel.module.text.name} has no kernel {kernel.expression}")
    return name


def _function(
    kernel: CudaTextKernel,
    arguments: Sequence[ExportedArgument],
    symbol: str,
    compiled: Sequence[KernelParameter],
    **fields: Any,
) -> KernelFunction:
    """Return a function, whose parameters have the sizes of the compiled ones."""
    parts = {True: ArgumentPart.DATA, False: ArgumentPart.VALUE}
    parameters = (Parameter(a.name, a.type, i, parts[a.is_array]) for i, a in enumerate(arguments))
    function = KernelFunction(symbol, tuple(parameters), **fields)
    is_float = [not a.is_array and a.type.dtype in (FLOAT32, FLOAT64) for a in arguments]
    if list(zip(function.sizes(), is_float)) != [
        (p.size, p.kind is ParameterKind.FLOAT) for p in compiled
    ]:
        raise ExportError(
            f"the parameters of {kernel.name} do not have the types that the text or --signature "
            f"names: they have {', '.join(str(p.size) for p in compiled)} bytes"
        )
    return function
