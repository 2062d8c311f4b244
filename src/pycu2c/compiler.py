"""Compile a kernel from source to text: build typed IR, run the passes, generate code.

The IR is verified after each step.
"""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.analysis.effects import needs_cooperative_launch, written_arguments
from pycu2c.analysis.suspension_points import coroutine_loop
from pycu2c.base.diagnostics import CompileError, reporting_recursion_limit
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.output.tracing import span
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source
from pycu2c.base.types import Signature
from pycu2c.codegen import multi_module
from pycu2c.codegen.emit import emit
from pycu2c.codegen.statements import Comments
from pycu2c.declarations.link_files import Link
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.frontend.function_builder import BuiltModule, build
from pycu2c.frontend.function_context import BuildOptions
from pycu2c.ir import nodes as ir
from pycu2c.ir.print_format import PrintFormat
from pycu2c.pipeline import FRONTEND, Target
from pycu2c.transforms.analyses import Inputs
from pycu2c.transforms.pass_contract import Observer, run_passes


@dataclass(frozen=True, slots=True)
class KernelText:
    """The C text of a kernel for one target, and the properties of it that a launch uses."""

    text: str
    entry: str
    parameters: tuple[ir.Parameter, ...]
    written: frozenset[int]  # positions of the array arguments that the kernel may write
    prints: tuple[PrintFormat, ...] = ()  # formats, by their numbers in the text
    has_coroutines: bool = False  # whether threads are coroutines, which a scheduler runs
    waits: tuple[ir.BarrierWait, ...] = ()  # suspension points of coroutines; the first is number 1
    links: tuple[Link, ...] = ()  # files that inline C is linked with
    needs_cooperative_launch: bool = False  # whether all threads must run at the same time


def build_module(
    source: Source,
    signature: Signature,
    options: Options = DEFAULT_OPTIONS,
    observe: Observer | None = None,
    line_marks: bool = False,
) -> BuiltModule:
    """Build the typed IR of a kernel, which assigns the lines that it executes if ``line_marks``.

    ``observe`` is called with the name "build" after type inference, and after each pass. Raises
    CompileError.
    """
    with (
        span("compile", f"front end of {source.name}", signature=signature),
        reporting_recursion_limit(source.span(source.tree)),
    ):
        build_options = BuildOptions(options.cluster, bool(options.check), line_marks)
        with span("compile.passes", "build"):
            built = build(source, signature, build_options)
        if options.strict:
            _reject_undefined(built)
        if observe:
            observe("build", built.module, built.module)
        inputs = Inputs(LaunchAssumptions(), options)
        return replace(
            built, module=run_passes(built.module, FRONTEND, inputs, observe, created_by="build")
        )


def _reject_undefined(built: BuiltModule) -> None:
    """Raise CompileError for variables that are undefined on some path (``strict=True``)."""
    errors = [replace(d, severity="error") for d in built.warnings if d.code == "maybe-undefined"]
    if errors:
        raise CompileError(errors)


def lower(
    module: ir.Module,
    target: Target,
    assumptions: LaunchAssumptions,
    options: Options = DEFAULT_OPTIONS,
    observe: Observer | None = None,
) -> ir.Module:
    """Run the passes of a target. ``observe`` is called after each."""
    inputs = Inputs(assumptions, options, target.narrow_ints, target.strip_mine)
    return run_passes(module, target.passes, inputs, observe)


@dataclass(frozen=True, slots=True)
class KernelModule:
    """One kernel of a file with several kernels, as typed IR."""

    module: ir.Module
    target: Target
    assumptions: LaunchAssumptions
    options: Options


def generate_file(modules: Sequence[KernelModule], comments: Comments = "none") -> str:
    """Generate the text of one file from the typed IR of several kernels."""
    lowered = [
        (lower(m.module, m.target, m.assumptions, m.options), m.target.dialect) for m in modules
    ]
    return multi_module.emit_file(lowered, comments).text


def generate(
    module: ir.Module,
    target: Target,
    assumptions: LaunchAssumptions,
    options: Options = DEFAULT_OPTIONS,
    comments: Comments = "none",
) -> KernelText:
    """Generate the text of a kernel for one target."""
    with (
        span("compile", f"code generation of {module.kernel.python_name} for {target.name}"),
        reporting_recursion_limit(module.kernel.span),
    ):
        lowered = lower(module, target, assumptions, options)
        emitted = emit(lowered, target.dialect, comments)
        written = written_arguments(module)
        parameters = lowered.kernel.parameters
        return KernelText(
            emitted.text,
            emitted.entry,
            parameters,
            written,
            emitted.prints,
            coroutine_loop(lowered.kernel.body) is not None,
            emitted.waits,
            emitted.links,
            needs_cooperative_launch(module),
        )
