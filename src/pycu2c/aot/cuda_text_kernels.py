"""Export kernels of CUDA C text: RawKernel, RawModule, SourceModule.

On the CPU, a text is C++ with names of its own: C++ merges functions from several files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

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
    c_name,
    check_arguments,
)
from pycu2c.base import dtypes
from pycu2c.base.diagnostics import CompileError
from pycu2c.base.dtypes import FLOAT32, FLOAT64
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.parameters import ArgumentPart, Parameter
from pycu2c.base.records import dataclass
from pycu2c.base.types import Array, ParameterType, Scalar, Signature
from pycu2c.compat.cuda_text import cpu_build, cuda_build
from pycu2c.compat.cuda_text.compiled import KernelParameter, ParameterKind, entry_parameters
from pycu2c.compat.cuda_text.host_source import ThreadExecution, check_supported
from pycu2c.compat.cuda_text.includes import IncludeExpander
from pycu2c.compat.cuda_text.module import DEFAULT_ARCH, TextModule
from pycu2c.compat.cuda_text.options import CompilerOptions
from pycu2c.compat.cuda_text.parse.declarations import split_at_commas
from pycu2c.compat.cuda_text.parse.functions import FunctionDefinition, ParsedParameter
from pycu2c.compat.cuda_text.parse.macros import Macros
from pycu2c.compat.cuda_text.parse.tokens import Token
from pycu2c.compat.cuda_text.source_text import CudaSource
from pycu2c.compat.cuda_text.unique_names import renaming_macros
from pycu2c.compat.pycuda.c_types import VectorArg, parse_c_arg
from pycu2c.toolchain.nvrtc.flags import BinaryKind


@dataclass(frozen=True, slots=True)
class CudaTextKernel:
    """A kernel of a CUDA C text.

    expression: the name of the kernel, or of an instance of a template, such as ``add<int>``.
    """

    module: TextModule
    expression: str
    is_cooperative: bool = False

    @property
    def name(self) -> str:
        """Return the name of the kernel in C."""
        return re.sub(r"\W+", "_", self.expression).strip("_")

    @property
    def definition(self) -> FunctionDefinition:
        """Return the definition in the text. Raises ExportError."""
        name = self.expression.partition("<")[0].strip().lstrip("&:")
        found = [f for f in self.module.kernels if name in (f.path, f.name)]
        if len(found) == 1:
            return found[0]
        reason = "is defined more than once" if found else "is not defined, or a macro defines it"
        raise ExportError(f"{self.module.text.name}: {self.expression} {reason}")


_Typed: TypeAlias = tuple[CudaTextKernel, tuple[ExportedArgument, ...]]


def export_cuda_text(
    library: str,
    unit_count: int,
    requests: Sequence[KernelRequest[CudaTextKernel]],
    targets: Sequence[TargetName],
) -> tuple[list[TranslationUnit], list[ExportedKernel]]:
    """Export the kernels of one text.

    Parameters
    ----------
    library
        The name of the library.
    unit_count
        The number of translation units that are already exported.
    requests
        The kernels, all of one text.
    targets
        "cpu", "cuda" or both.

    Raises
    ------
    ExportError
        If a library cannot have one of the kernels.
    CompileError, ToolchainError
        If the text does not compile.
    """
    kernels = [request.kernel for request in requests]
    module, unit = kernels[0].module, f"{library}_{kernels[0].name}"
    if module.binary or module.options.arch:
        raise ExportError(f"{module.text.name} is compiled for one GPU: pass its text, and --arch")
    typed = [(r.kernel, _arguments(r.kernel, r.signatures)) for r in requests]
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


# ---- arguments ----


def _arguments(
    kernel: CudaTextKernel, signatures: Sequence[Signature]
) -> tuple[ExportedArgument, ...]:
    """Return the arguments, with the types of the signature or of the text. Raises ExportError."""
    parameters = kernel.definition.parameters
    types = signatures[0].parameters if signatures else _types_in_text(kernel)
    if len(signatures) > 1 or len(types) != len(parameters):
        raise ExportError(
            f"{kernel.name} takes one signature, with a type for each of "
            f"({', '.join(p.name for p in parameters)})"
        )
    arguments = tuple(map(_argument, parameters, types, range(len(types))))
    check_arguments(kernel.name, arguments)
    return arguments


def _argument(parameter: ParsedParameter, kind: ParameterType, position: int) -> ExportedArgument:
    name = c_name(parameter.name or f"argument_{position}")
    if not isinstance(kind, Array):
        assert isinstance(kind, Scalar)
        return ExportedArgument(name, kind, False)
    array = Array(kind.dtype, 1, "C")
    return ExportedArgument(name, array, not parameter.is_read_only, has_any_axes=True)


def _types_in_text(kernel: CudaTextKernel) -> list[ParameterType]:
    """Return the types of the parameters of a kernel, as its text names them."""
    text = kernel.module.text
    macros = Macros(text, kernel.module.options.macros)
    names = dict(_template_arguments(kernel))
    types: list[ParameterType] = []
    for parameter in kernel.definition.parameters:
        tokens = [Token("identifier", word, 0, 0) for word in parameter.text.split()]
        words = [names.get(t.text, t.text) for word in tokens for t in macros.expand(word)]
        kind = _type_of(" ".join(words))
        if kind is None:
            raise ExportError(
                f"`{parameter.text}` of {kernel.name} is no number and no pointer to numbers: pass "
                f"--signature '{kernel.name}=...', one type for each parameter, such as "
                '"float32[:], int32"'
            )
        types.append(kind)
    return types


def _template_arguments(kernel: CudaTextKernel) -> Iterator[tuple[str, str]]:
    """Yield the parameters of a template, and the arguments of its instance."""
    definition, tokens = kernel.definition, kernel.module.text.tokens
    if not definition.is_template:
        return
    head = tokens[definition.start : definition.body[0]]
    end = next(i for i, t in enumerate(head) if t.text in ("__global__", "extern", "static"))
    parameters = split_at_commas(head[2 : end - 1])
    arguments = CudaSource(kernel.expression.partition("<")[2].rstrip().removesuffix(">")).tokens
    for parameter, argument in zip(parameters, split_at_commas(arguments)):
        yield parameter[1].text, " ".join(t.text for t in argument)


def _type_of(declaration: str) -> ParameterType | None:
    """Return the type of a parameter in C; None if a launch function cannot take it."""
    is_array = re.search(r"[*\[]", declaration) is not None
    if len(re.findall(r"[*\[&(]", declaration)) > is_array:
        return None
    vector = next((dtypes.VECTORS[w] for w in declaration.split() if w in dtypes.VECTORS), None)
    if vector is not None:
        return Array(vector, 1, "C") if is_array else None
    try:
        argument = parse_c_arg(re.sub(r"(\w+ :: )*complex <", "pycuda::complex<", declaration))
    except ValueError:
        return None
    dtype = dtypes.from_numpy(argument.dtype)
    if dtype is None:
        return None
    return Array(dtype, 1, "C") if isinstance(argument, VectorArg) else Scalar(dtype)
