"""Compile one kernel: typed IR for each signature, generated text, and runners.

``launcher`` imports this module, and with it the compiler, when the first kernel is compiled.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from pycu2c.analysis.effects import dynamic_shared_arrays, written_arguments
from pycu2c.analysis.grid_extent import infer_grid_extent
from pycu2c.analysis.ranges.range_analysis import required_products
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.diagnostics import CompileWarning, render, warn
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.output.tracing import INFO, span
from pycu2c.base.records import replace
from pycu2c.base.source import Source
from pycu2c.base.types import Array, Signature
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import KernelModule, KernelText, build_module
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options
from pycu2c.explain import kernel_report
from pycu2c.explain.notes import Note, format_notes
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.ir import printer
from pycu2c.ir.forms import summarize_module
from pycu2c.ir.nodes import Module
from pycu2c.ir.walk import operations
from pycu2c.kernels import checked_runner, specialization
from pycu2c.kernels.source_map import errors_at_source_lines
from pycu2c.runtime import launch_observers
from pycu2c.runtime.launch_configuration import Extent, Language
from pycu2c.runtime.runner import NO_AXIS, KernelMetadata, Runner, SpecializationKey
from pycu2c.toolchain.cc import cc
from pycu2c.toolchain.nvrtc import disassembly, nvrtc, resource_usage
from pycu2c.transforms.common import fix_short_axes
from pycu2c.transforms.cpu.memory import privatize_accumulators
from pycu2c.transforms.cuda import restrict_pointers

TARGETS_BY_LANGUAGE = {"cuda": "cuda", "c": "cpu", "c-resumable": "cpu-resumable"}
_DEFAULT_ARCH = "sm_90"  # of PTX and SASS on a machine without a GPU


class KernelCompiler:
    """Compile one kernel for its signatures."""

    def __init__(self, source: Source, cache: bool, options: Options) -> None:
        self._source, self._cache, self._options = source, cache, options
        self._built: dict[Signature, BuiltModule] = {}

    def build(self, signature: Signature) -> BuiltModule:
        """Return the typed IR for a signature. Raises CompileError with all diagnostics."""
        built = self._built.get(signature)
        if built is None:
            built = build_module(self._source, signature, self._options)
            for diagnostic in built.warnings:
                warn(render(diagnostic), CompileWarning)
            self._built[signature] = built
        return built

    def text(
        self,
        language: Language,
        signature: Signature,
        block: Extent | None = None,
        arch: str | None = None,
    ) -> str:
        """Return the IR, the generated source, PTX or SASS for a signature.

        block: the shape of the blocks for which C is generated; None for any.
        arch: the architecture of PTX and SASS; None for that of the current GPU.
        """
        if language == "ir":
            return printer.print_module(self.build(signature).module)
        if language == "ptx":
            return self.gpu_code("ptx", signature, arch).decode()
        if language == "sass":
            return disassembly.disassemble(self.gpu_code("cubin", signature, arch))
        if language not in TARGETS_BY_LANGUAGE:
            languages = ", ".join((*TARGETS_BY_LANGUAGE, "ptx", "sass"))
            raise ValueError(f"the language is one of {languages} or ir, not {language!r}")
        return self.generate(TARGETS_BY_LANGUAGE[language], signature, block=block).text

    def gpu_code(
        self,
        kind: nvrtc.BinaryKind,
        signature: Signature,
        arch: str | None,
        comments: Comments = "lines",
    ) -> bytes:
        """Return PTX or a cubin, by default with the lines of Python."""
        generated = self.generate("cuda", signature, comments)
        has_lines = self._options.lineinfo or comments == "lines"
        options = replace(self._options, lineinfo=has_lines).with_links(generated.links)
        with self._errors_at_source_lines(signature):
            return nvrtc.compile(
                generated.text, generated.entry, arch or _arch(), kind=kind, options=options
            ).data

    def cpu_assembly(self, signature: Signature, block: Extent | None) -> str:
        """Return the assembly language of the CPU with the lines of Python."""
        generated = self.generate("cpu", signature, "lines", block)
        return cc.assembly(generated.text, replace(self._options, lineinfo=True))

    def attributes(self, signature: Signature, arch: str | None) -> resource_usage.KernelAttributes:
        """Return the registers and the memory that the kernel uses on a GPU."""
        generated = self.generate("cuda", signature)
        options = self._options.with_links(generated.links)
        with self._errors_at_source_lines(signature):
            return resource_usage.attributes(
                generated.text, generated.entry, arch or _arch(), options
            )

    def _errors_at_source_lines(self, signature: Signature) -> AbstractContextManager[None]:
        return errors_at_source_lines(lambda c: self.generate("cuda", signature, c).text)

    def generate(
        self,
        target: str,
        signature: Signature,
        comments: Comments = "none",
        block: Extent | None = None,
    ) -> KernelText:
        """Return the generated text for a target; ``block`` applies to C only."""
        fixed_block = block if target in CPU_BACKENDS else None
        return specialization.generate_text(
            self.build(signature), target, self._options, comments, fixed_block
        )

    def cuda_module(self, signature: Signature) -> KernelModule:
        """Return the kernel as a module that can be merged with others into one CUDA C file."""
        return specialization.cuda_module(self.build(signature), self._options)

    def notes(self, signature: Signature) -> list[Note]:
        """Return notes about the cost of source lines on a GPU."""
        module = self.build(signature).module
        products = required_products(module.kernel)
        assumptions = LaunchAssumptions(index32_safe=True, small_products=products)
        return kernel_report.explain_module(module, assumptions, self._options)

    def explanation(self, signature: Signature) -> str:
        """Return ``notes`` as text."""
        return format_notes(self.notes(signature))

    def metadata(self, signature: Signature) -> KernelMetadata:
        module = self.build(signature).module
        summary = summarize_module(module)
        return KernelMetadata(
            written_arguments(module),
            tuple(
                (length.argument, NO_AXIS if length.axis is None else length.axis)
                for length in infer_grid_extent(module)
            ),
            _uses_threads(module),
            bool(dynamic_shared_arrays(module)),
            privatize_accumulators.accumulator_arguments(module)
            if summary.has_memory_intrinsics
            else (),
            _bytes_per_thread(module) if summary.only_loads_and_stores else 0,
            module.kernel.overlap_rules,
            restrict_pointers.aliasing_matters(module),
            fix_short_axes.short_axis_candidates(module),
            required_products(module.kernel),
        )

    def runner(
        self, signature: Signature, names: tuple[str, ...], key: SpecializationKey
    ) -> Runner:
        """Compile and load the kernel; ``names`` are the names of the arguments in errors."""
        built = self.build(signature)
        kernel = specialization.Specialization(self._source, built, signature, names, self._options)
        records_lines = bool(launch_observers.line_recorders())
        if key.backend != "python" and (self._options.check or records_lines):
            if records_lines:
                marked = build_module(self._source, signature, self._options, line_marks=True)
                kernel = replace(kernel, built=marked)
            return checked_runner.CheckedRunner(kernel, key, self._cache)
        with span("compile", f"compile {self._source.name} for {key.backend}", INFO):
            runner = specialization.compile_runner(kernel, key, self._cache)
        for observer in launch_observers.OBSERVERS:
            runner = observer.wrap(kernel, runner) if observer.wrap else runner
        return runner


def _arch() -> str:
    return driver.arch() if driver.available() else _DEFAULT_ARCH


def _bytes_per_thread(module: Module) -> int:
    """Return the bytes that a thread accesses if it accesses one element of each array argument."""
    types = (p.type for p in module.kernel.parameters)
    return sum(t.dtype.size for t in types if isinstance(t, Array))


def _uses_threads(module: Module) -> bool:
    """Return whether a kernel uses CUDA intrinsics; without them it is plain loops."""
    return any(e.intrinsic.name.startswith("cuda.") for e in operations(module.functions))
