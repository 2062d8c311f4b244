"""What has been compiled of a kernel: typed once for each signature, compiled for each kind of
launch.

Everything that compiling needs is imported here; ``launching.py`` opens this room when there is
something to compile.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from pycu2c.analysis.effects import uses_dynamic_shared, written_arguments
from pycu2c.analysis.grid_extent import data_extent
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.diagnostics import CompileWarning, render, warn
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, replace
from pycu2c.base.source import Source
from pycu2c.base.types import Array, Signature
from pycu2c.codegen.statements import Comments
from pycu2c.compiler import Generated, Piece, build_module
from pycu2c.cuda_driver import driver
from pycu2c.declarations.options import Options
from pycu2c.explain import kernel_report
from pycu2c.explain.notes import Note
from pycu2c.explain.notes import format_notes as explanation
from pycu2c.frontend.function_builder import BuiltModule
from pycu2c.ir import printer
from pycu2c.ir.forms import summarize_module
from pycu2c.ir.nodes import Apply, Module
from pycu2c.ir.walk import all_expressions
from pycu2c.kernels.source_map import naming_origins
from pycu2c.kernels.specialization import (
    Specialized,
    generate_text,
    piece_of,
    runner_for,
)
from pycu2c.runtime.launch_configuration import Extent, Language
from pycu2c.runtime.runner import NUMBER, KernelMetadata, Runner, SpecializationKey
from pycu2c.toolchain.nvrtc import disassembly, nvrtc, resource_usage
from pycu2c.transforms.cpu.memory import privatize_accumulators

__all__ = ["Builder", "Form", "explanation"]

_TARGETS = {"cuda": "cuda", "c": "cpu", "c-resumable": "cpu-resumable"}


USUAL_ARCH = "sm_90"  # what is shown where there is no GPU


@dataclass(frozen=True, slots=True)
class Form:
    """What a text is for: a shape of blocks, if it is C; an architecture, if it is a GPU's own.
    None stands for any, and for that of this machine."""

    block: Extent | None = None
    arch: str | None = None


ANY = Form()


class Builder:
    """The compiler's side of one kernel."""

    def __init__(self, source: Source, cache: bool, options: Options) -> None:
        self._source, self._cache, self._options = source, cache, options
        self._built: dict[Signature, BuiltModule] = {}

    def built(self, signature: Signature) -> BuiltModule:
        """The typed IR for a signature. Raises CompileError with every mistake."""
        built = self._built.get(signature)
        if built is None:
            built = build_module(self._source, signature, self._options)
            for found in built.warnings:
                warn(render(found), CompileWarning)
            self._built[signature] = built
        return built

    def text(self, what: Language, signature: Signature, form: Form = ANY) -> str:
        """The IR, the generated source or what a GPU runs, for a signature."""
        if what == "ir":
            return printer.print_module(self.built(signature).module)
        if what in ("ptx", "sass"):
            return self._assembly(what, signature, form.arch)
        if what not in _TARGETS:
            known = ", ".join((*_TARGETS, "ptx", "sass"))
            raise ValueError(f"there is {known} or ir to look at, not {what!r}")
        return self.generated(_TARGETS[what], signature, block=form.block).text

    def _assembly(self, what: Language, signature: Signature, arch: str | None) -> str:
        """PTX or SASS, with the lines of Python."""
        options = replace(self._options, lineinfo=True)
        made = self.generated("cuda", signature, "lines")
        options = options.with_links(made.links)
        chosen = arch or _arch()
        kind: nvrtc.BinaryKind = "ptx" if what == "ptx" else "cubin"
        with self._naming_origins(signature):
            binary = nvrtc.compile(made.text, made.entry, chosen, kind=kind, options=options)
        return binary.data.decode() if what == "ptx" else disassembly.disassemble(binary.data)

    def _naming_origins(self, signature: Signature) -> AbstractContextManager[None]:
        return naming_origins(lambda c: self.generated("cuda", signature, c).text)

    def attributes(self, signature: Signature, arch: str | None) -> resource_usage.KernelAttributes:
        """What the kernel takes of a GPU."""
        made = self.generated("cuda", signature)
        with self._naming_origins(signature):
            options = self._options.with_links(made.links)
            return resource_usage.attributes(made.text, made.entry, arch or _arch(), options)

    def generated(
        self,
        target: str,
        signature: Signature,
        comments: Comments = "none",
        block: Extent | None = None,
    ) -> Generated:
        """The text for a target, and what a launch needs to know of it."""
        fixed = block if target in CPU_BACKENDS else None
        return generate_text(self.built(signature), target, self._options, comments, fixed)

    def piece(self, signature: Signature) -> Piece:
        """The kernel as a part of a file with several."""
        return piece_of(self.built(signature), self._options)

    def notes(self, signature: Signature) -> list[Note]:
        """What the lines cost on a GPU, for a signature."""
        assumptions = LaunchAssumptions(index32_safe=True)
        return kernel_report.explain_module(
            self.built(signature).module, assumptions, self._options
        )

    def metadata(self, signature: Signature) -> KernelMetadata:
        """What a launch needs to know before anything is compiled."""
        module = self.built(signature).module
        lengths = data_extent(module.kernel) or ()
        axes = tuple((n.argument, NUMBER if n.axis is None else n.axis) for n in lengths)
        takes_shared = uses_dynamic_shared(module)
        written = written_arguments(module)
        there = summarize_module(module)
        own = (
            privatize_accumulators.accumulator_arguments(module)
            if there.has_memory_intrinsics
            else ()
        )
        streamed = _bytes_for_each_thread(module) if there.only_loads_and_stores else 0
        return KernelMetadata(written, axes, _uses_threads(module), takes_shared, own, streamed)

    def runner(
        self, signature: Signature, names: tuple[str, ...], key: SpecializationKey
    ) -> Runner:
        """The kernel, compiled and loaded. ``names`` are what errors call the arguments."""
        built = self.built(signature)
        wanted = Specialized(self._source, built, signature, names, self._options)
        return runner_for(wanted, key, self._cache)


def _arch() -> str:
    return driver.arch() if driver.available() else USUAL_ARCH


def _bytes_for_each_thread(module: Module) -> int:
    """Of the arrays that a kernel is given, if each thread has an element of each."""
    kinds = (p.type for p in module.kernel.parameters)
    return sum(kind.dtype.size for kind in kinds if isinstance(kind, Array))


def _uses_threads(module: Module) -> bool:
    """Whether it is a kernel of CUDA's, and not plain loops."""
    return any(
        isinstance(e, Apply) and e.intrinsic.name.startswith("cuda.")
        for f in (module.kernel, *module.devices)
        for e in all_expressions(f.body)
    )
