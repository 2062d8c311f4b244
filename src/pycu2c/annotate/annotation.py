"""Collect what a page shows of a kernel: listings, types, notes on costs, resources."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pycu2c.annotate.execution_profile import ExecutionProfile
from pycu2c.annotate.instruction_costs import Costs, instruction_costs
from pycu2c.annotate.listings import (
    Listing,
    assembly_listing,
    generated_listing,
    python_listing,
    sass_listing,
)
from pycu2c.base.records import dataclass
from pycu2c.base.types import Signature
from pycu2c.explain.notes import Note
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.name_suffixes import source_name
from pycu2c.runtime.launch_configuration import Extent
from pycu2c.toolchain.nvrtc import disassembly
from pycu2c.toolchain.nvrtc.occupancy import Occupancy, limits_of, occupancy
from pycu2c.toolchain.nvrtc.resource_usage import KernelAttributes
from pycu2c.toolchain.toolchain_errors import ToolchainError

if TYPE_CHECKING:
    from pycu2c.kernels.kernel import Kernel
    from pycu2c.kernels.kernel_compiler import KernelCompiler

DEFAULT_ARCH = "sm_90"
_DEFAULT_THREADS = 256  # per block, for the occupancy of a kernel that declares no block


@dataclass(frozen=True, slots=True)
class Annotation:
    """A kernel in all its languages.

    ``types`` has the types of the names of each function, by the file and line of its definition.
    ``resources`` and ``occupancy`` are None without NVRTC, ``profile`` without a run.
    """

    name: str
    signature: str
    arch: str
    threads: int
    python: Listing
    generated: tuple[Listing, ...]  # CUDA C, C
    instructions: tuple[Listing, ...]  # SASS, PTX, CPU
    types: dict[tuple[str, int], Types]
    notes: tuple[Note, ...]
    costs: Costs
    resources: KernelAttributes | None
    occupancy: Occupancy | None
    profile: ExecutionProfile | None


@dataclass(frozen=True, slots=True)
class Request:
    """The variant of a kernel to show."""

    signature: Signature
    block: Extent | None
    arch: str
    profile: ExecutionProfile | None = None


def annotate(kernel: Kernel[Any], request: Request) -> Annotation:
    """Compile a kernel for all targets.

    A listing whose compiler is not installed says so. Raises CompileError, and ToolchainError for
    an unknown architecture.
    """
    limits_of(request.arch)
    compiler, signature = kernel.launcher.compiler, request.signature
    functions = compiler.build(signature).module.functions
    own = tuple(function for function in functions if function.span.file)
    sass = _listing("SASS", lambda: _sass(compiler, request))
    threads = math.prod(request.block) if request.block else _DEFAULT_THREADS
    resources = _resources(compiler, request)
    return Annotation(
        kernel.name,
        ", ".join(map(str, signature.parameters)),
        request.arch,
        threads,
        python_listing(reversed(own)),  # the kernel is the last
        (_text("CUDA C", "cuda", compiler, request), _text("C", "cpu", compiler, request)),
        (
            sass,
            _listing("PTX", lambda: _ptx(compiler, request)),
            _listing("CPU", lambda: _cpu_assembly(compiler, request)),
        ),
        {(f.span.file, f.span.line): variable_types(f) for f in own},
        tuple(compiler.notes(signature)),
        instruction_costs(sass.lines),
        resources,
        occupancy(resources, threads) if resources else None,
        request.profile,
    )


def _listing(name: str, make: Callable[[], Listing]) -> Listing:
    """Return a listing, or an empty one with the reason why there is none."""
    try:
        return make()
    except ToolchainError as error:
        return Listing(name, missing=str(error))


def _text(name: str, target: str, compiler: KernelCompiler, request: Request) -> Listing:
    def text(comments: Any) -> str:
        return compiler.generate(target, request.signature, comments, request.block).text

    return generated_listing(name, text("none"), text("positions"))


def _sass(compiler: KernelCompiler, request: Request) -> Listing:
    cubin = compiler.gpu_code("cubin", request.signature, request.arch)
    return sass_listing(disassembly.instructions(cubin))


def _ptx(compiler: KernelCompiler, request: Request) -> Listing:
    text = compiler.gpu_code("ptx", request.signature, request.arch).decode()
    return assembly_listing("PTX", text)


def _cpu_assembly(compiler: KernelCompiler, request: Request) -> Listing:
    return assembly_listing("CPU", compiler.cpu_assembly(request.signature, request.block))


def _resources(compiler: KernelCompiler, request: Request) -> KernelAttributes | None:
    try:
        return compiler.attributes(request.signature, request.arch)
    except ToolchainError:
        return None


Types = dict[str, dict[str, None]]  # of each name, its types in order of appearance


def variable_types(function: ir.Function) -> Types:
    """Return the types of each variable and parameter of a function, by its Python name."""
    types: Types = {}
    for name, kind in _typed_names(function):
        types.setdefault(source_name(name), {}).setdefault(kind)
    return types


def _typed_names(function: ir.Function) -> Iterator[tuple[str, str]]:
    for parameter in function.parameters:
        yield parameter.name, str(parameter.type)
    for statement in walk.statements(function.body):
        if isinstance(var := getattr(statement, "var", None), ir.Var):
            yield var.name, str(var.type)
    for expression in walk.all_expressions(function.body):
        if isinstance(expression, ir.Var):
            yield expression.name, str(expression.type)
