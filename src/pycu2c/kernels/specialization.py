"""Compile a kernel for one signature and one set of launch assumptions, on one backend."""

from __future__ import annotations

from collections.abc import Sequence

from pycu2c.analysis import write_coverage
from pycu2c.base.diagnostics import reporting_recursion_limit
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.output.tracing import log
from pycu2c.base.records import dataclass, replace
from pycu2c.base.recursion_limit import frames_for_calls
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Signature
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import KernelModule, KernelText, generate
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.frontend.function_builder import BuiltModule, build_device
from pycu2c.interpreter.interpreter import InterpretedKernel
from pycu2c.ir.nodes import Module
from pycu2c.ir.verifier import verified
from pycu2c.kernels import kernel_cache
from pycu2c.kernels.source_map import errors_at_source_lines
from pycu2c.pipeline import TARGETS, Target
from pycu2c.runtime import print_log
from pycu2c.runtime.arguments.arguments import layout_of
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.cpu.coroutine_scheduler import CoroutineKernel, CoroutineRunner
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.cuda.cuda_runner import CudaRunner
from pycu2c.runtime.launch_configuration import Extent, Launch
from pycu2c.runtime.runner import Runner, SpecializationKey
from pycu2c.toolchain.cc import cc

_DEVICE_QUALIFIERS = ('extern "C"', "__device__")  # a device function of a linked program


@dataclass(frozen=True, slots=True)
class Specialization:
    """A kernel for one signature; ``names`` are the names of the arguments' leaves in errors."""

    source: Source
    built: BuiltModule
    signature: Signature
    names: tuple[str, ...]
    options: Options


# ---- text ----------------------------------------------------------------------------------


def generate_text(
    built: BuiltModule,
    target: str,
    options: Options = DEFAULT_OPTIONS,
    comments: Comments = "none",
    block: Extent | None = None,
) -> KernelText:
    """Generate the text for launches of fewer than 2**30 threads and at most 2**30 elements."""
    assumptions = LaunchAssumptions(index32_safe=True, block=block)
    return generate(built.module, target_of(target, options), assumptions, options, comments)


def cuda_module(built: BuiltModule, options: Options) -> KernelModule:
    """Return a kernel as one of several of a CUDA C file, for launches as ``generate_text``."""
    assumptions = LaunchAssumptions(index32_safe=True)
    return KernelModule(built.module, target_of("cuda", options), assumptions, options)


def generate_device(
    source: Source, signature: Signature, options: Options, name: str
) -> tuple[KernelText, ParameterType]:
    """Generate a device function in CUDA C under a given name; return its result type too.

    Raises CompileError.
    """
    with reporting_recursion_limit(source.span(source.tree)):
        module, result = build_device(source, signature.parameters)
    named = replace(module.kernel, name=f"{name}.", python_name=name)
    module = verified(replace(module, kernel=named), "build")
    target = TARGETS["cuda"]
    dialect = replace(target.dialect, kernel_qualifiers=_DEVICE_QUALIFIERS)
    generated = generate(module, replace(target, dialect=dialect), LaunchAssumptions(), options)
    return generated, result


def target_of(name: str, options: Options) -> Target:
    """Return a target with the launch bounds of the options."""
    target = TARGETS[name]
    if not options.launch_bounds or not target.dialect.launch_bounds:
        return target
    bounds = target.dialect.launch_bounds.format(", ".join(map(str, options.launch_bounds)))
    dialect = replace(target.dialect, kernel_qualifiers=(*target.dialect.kernel_qualifiers, bounds))
    return replace(target, dialect=dialect)


# ---- runners -------------------------------------------------------------------------------


def compile_runner(kernel: Specialization, key: SpecializationKey, cache: bool) -> Runner:
    """Compile a kernel for a backend and load it. Raises ToolchainError, CudaError."""
    if key.backend == "python":
        return _interpreter_runner(kernel)
    target = target_of(key.backend, kernel.options)

    def generate_with(comments: Comments) -> KernelText:
        module = kernel.built.module
        return generate(module, target, key.assumptions, kernel.options, comments)

    generated = generate_with("lines" if kernel.options.lineinfo else "none")
    with errors_at_source_lines(lambda comments: generate_with(comments).text):
        runner = _load(kernel, generated, key, cache)
    if not key.assumptions.index32_safe:
        log("compile", "%s: indices have 64 bits", kernel.source.name)
    if generated.has_coroutines:
        log("compile", "%s: threads are coroutines", kernel.source.name)
    if not generated.prints:
        return runner
    printing = print_log.log_of(runner.kernel)
    return print_log.PrintingRunner(runner, printing, generated.prints, kernel.source.name)


def _load(
    kernel: Specialization, generated: KernelText, key: SpecializationKey, cache: bool
) -> CpuRunner | CudaRunner | CoroutineRunner:
    name, names, options = kernel.source.name, kernel.names, kernel.options
    if not generated.has_coroutines:
        code = code_of(generated, kernel.built.module, key.backend)
        return kernel_cache.load_code(code, key, name, names, options, cache)
    options = options.with_links(generated.links)
    binary = cc.compile(generated.text, generated.entry, options=options, cache=cache)
    coroutine = CoroutineKernel(binary, name, generated.waits)
    inner = CpuRunner(names, layout_of(generated.parameters), coroutine)
    return CoroutineRunner(inner, coroutine)


def code_of(generated: KernelText, module: Module, backend: str) -> kernel_cache.GeneratedCode:
    """Return what a runner needs of the generated code of a kernel."""
    overwritten = write_coverage.find_overwritten_arrays(module) if backend == "cuda" else ()
    return kernel_cache.GeneratedCode(
        generated.text,
        generated.entry,
        generated.parameters,
        generated.links,
        generated.needs_cooperative_launch,
        generated.written,
        overwritten,
    )


@dataclass(frozen=True, slots=True)
class InterpreterRunner(Runner):
    """Run a kernel with the interpreter."""

    kernel: InterpretedKernel
    device_function_count: int

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        values = [
            a.interpreted if isinstance(a, ArrayArgument | HandleArgument) else a for a in arguments
        ]
        with frames_for_calls(self.device_function_count):
            self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, values)


def _interpreter_runner(kernel: Specialization) -> InterpreterRunner:
    count = len(kernel.built.module.device_functions)
    with reporting_recursion_limit(kernel.source.span(kernel.source.tree)), frames_for_calls(count):
        interpreted = InterpretedKernel(kernel.built.module)
    return InterpreterRunner(interpreted, count)
