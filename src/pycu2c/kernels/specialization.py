"""A kernel for one combination of argument types, on one backend: compiled once, run often."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycu2c.analysis import write_coverage
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.diagnostics import reporting_recursion_limit
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType, Signature
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import Generated, Piece, generate
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.frontend.function_builder import BuiltModule, build_device
from pycu2c.ir.verifier import verified
from pycu2c.kernels.source_map import naming_origins
from pycu2c.ops.intrinsics import library
from pycu2c.pipeline import TARGETS, Target
from pycu2c.reference import device_variants, interpreter
from pycu2c.runtime import print_log
from pycu2c.runtime.arguments.arguments import Layout, layout_of
from pycu2c.runtime.arguments.array_argument import Argument, ArrayArgument, HandleArgument
from pycu2c.runtime.arguments.flattened_arguments import unflatten
from pycu2c.runtime.cpu import coroutine_scheduler
from pycu2c.runtime.cpu.cpu_kernel import CpuKernel
from pycu2c.runtime.cpu.cpu_runner import CpuRunner
from pycu2c.runtime.cuda import cuda_kernel, cuda_runner
from pycu2c.runtime.direct_launch import Direct
from pycu2c.runtime.launch_configuration import Extent, Launch
from pycu2c.runtime.runner import Runner, SpecializationKey
from pycu2c.toolchain.binary import CompiledBinary
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import nvrtc


@dataclass(frozen=True, slots=True)
class Specialized:
    """A kernel for one signature. ``names`` are what errors call the arguments' leaves."""

    source: Source
    built: BuiltModule
    signature: Signature
    names: tuple[str, ...]
    options: Options


def generate_text(
    built: BuiltModule,
    target: str,
    options: Options = DEFAULT_OPTIONS,
    comments: Comments = "none",
    block: Extent | None = None,
) -> Generated:
    """The text for an ordinary launch: of fewer than 2**30 threads and elements, but some."""
    assumptions = LaunchAssumptions(index32_safe=True, block=block)
    return generate(built.module, _target(target, options), assumptions, options, comments)


def piece_of(built: BuiltModule, options: Options) -> Piece:
    """A kernel of a file of CUDA C, for ordinary launches."""
    assumptions = LaunchAssumptions(index32_safe=True)
    return Piece(built.module, _target("cuda", options), assumptions, options)


FOR_OTHERS = ('extern "C"', "__device__")
FOR_ONE_TEXT = ("static", "__device__", "__forceinline__")


def generate_device(
    source: Source,
    signature: Signature,
    options: Options,
    name: str,
    qualifiers: tuple[str, ...] = FOR_OTHERS,
) -> tuple[Generated, ParameterType]:
    """A device function as CUDA C for other programs, which know it by a name of theirs; and what
    it gives. Raises CompileError."""
    with reporting_recursion_limit(source.span(source.tree)):
        module, result = build_device(source, signature.parameters)
    named = replace(module.kernel, name=f"{name}.", python_name=name)
    module = verified(replace(module, kernel=named), "build")
    target = TARGETS["cuda"]
    dialect = replace(target.dialect, kernel=qualifiers)
    generated = generate(module, replace(target, dialect=dialect), LaunchAssumptions(), options)
    return generated, result


def _target(name: str, options: Options) -> Target:
    """A target, with what the kernel is declared to keep within."""
    target = TARGETS[name]
    if not options.launch_bounds or not target.dialect.bounds:
        return target
    bounds = target.dialect.bounds.format(", ".join(map(str, options.launch_bounds)))
    dialect = replace(target.dialect, kernel=(*target.dialect.kernel, bounds))
    return replace(target, dialect=dialect)


@dataclass(frozen=True, slots=True)
class SteppingRunner:
    """Runs a kernel whose threads go in steps: with it goes where its arrays lie."""

    inner: CpuRunner
    kernel: coroutine_scheduler.CoroutineKernel

    @property
    def direct(self) -> Direct | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        arrays = [a for a in arguments if isinstance(a, ArrayArgument) and a.where == "host"]
        kept = self.kernel.watch([a.region for a in arrays])
        self.inner.run(launch, arguments)
        del kept


@dataclass(frozen=True, slots=True)
class ReferenceRunner:
    kernel: interpreter.ReferenceKernel
    types: tuple[ParameterType, ...]

    @property
    def direct(self) -> Direct | None:
        return None

    def run(self, launch: Launch, arguments: Sequence[Argument]) -> None:
        owners = iter(
            [a.owner if isinstance(a, (ArrayArgument, HandleArgument)) else a for a in arguments]
        )
        values = [unflatten(kind, owners) for kind in self.types]
        self.kernel.launch(launch.grid, launch.block, launch.shared_bytes, values)


def runner_for(wanted: Specialized, key: SpecializationKey, cache: bool) -> Runner:
    """Compile for a backend and load. Raises ToolchainError, CudaError."""
    built, source, options = wanted.built, wanted.source, wanted.options
    backend, assumptions = key.backend, key.assumptions
    if backend == "python":
        types = wanted.signature.parameters
        single = options.weak_float is not None
        inferred = device_variants.inferred_from(
            built.inferred_types, source, wanted.signature, single
        )
        with reporting_recursion_limit(source.span(source.tree)):
            kernel = interpreter.ReferenceKernel(
                source, inferred, types, library.device_source, options
            )
        return ReferenceRunner(kernel, types)
    target, comments = _target(backend, options), _comments(options)
    made = generate(built.module, target, assumptions, options, comments)
    layout = layout_of(made.parameters)
    with naming_origins(lambda c: generate(built.module, target, assumptions, options, c).text):
        binary = _compiled(made, backend, options.with_links(made.links), cache)
        if backend in CPU_BACKENDS:
            on_cpu, runner = _on_cpu(binary, wanted, made, layout, assumptions)
            return _printing(runner, made, source, lambda: print_log.HostPrintLog(on_cpu))
    on_gpu = cuda_kernel.CudaKernel(binary, made.needs_cooperative_launch, options.cluster)
    whole = write_coverage.find_overwritten_arrays(built.module)
    on_device = cuda_runner.CudaRunner(source.name, made.written, layout, on_gpu, whole)
    return _printing(on_device, made, source, lambda: print_log.DevicePrintLog(on_gpu))


def _comments(options: Options) -> Comments:
    """What a compiler is told of the Python."""
    return "lines" if options.lineinfo else "none"


def _compiled(made: Generated, backend: str, options: Options, cache: bool) -> CompiledBinary:
    if backend in CPU_BACKENDS:
        return cc.compile(made.text, made.entry, options=options, cache=cache)
    return nvrtc.compile(made.text, made.entry, driver.arch(), options=options, cache=cache)


def _on_cpu(
    binary: CompiledBinary,
    wanted: Specialized,
    made: Generated,
    layout: Layout,
    assumptions: LaunchAssumptions,
) -> tuple[CpuKernel, Runner]:
    if not made.has_coroutines:
        kernel = CpuKernel(binary, bool(assumptions.unaliased_accumulators))
        return kernel, CpuRunner(wanted.names, layout, kernel)
    in_steps = coroutine_scheduler.CoroutineKernel(binary, wanted.source.name, made.waits)
    return in_steps, SteppingRunner(CpuRunner(wanted.names, layout, in_steps), in_steps)


def _printing(
    runner: Runner, made: Generated, source: Source, log: Callable[[], print_log.PrintLog]
) -> Runner:
    """A kernel that prints is waited for, and what it prints is written."""
    if not made.prints:
        return runner
    return print_log.PrintingRunner(runner, log(), made.prints, source.name)
