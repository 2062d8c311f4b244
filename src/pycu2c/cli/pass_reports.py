"""``pycu2c emit --print-after`` and ``--time-passes``: the IR after each pass, and its time."""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

import click

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.output.tracing import collecting_spans
from pycu2c.base.records import dataclass, field
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Signature
from pycu2c.codegen.emit import emit
from pycu2c.compiler import build_module, lower
from pycu2c.ir.nodes import Module
from pycu2c.ir.printer import print_module
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import FRONTEND, TARGETS, Target
from pycu2c.runtime.launch_configuration import Extent
from pycu2c.transforms.pass_contract import Observer

ALL = "all"
_TARGETS = {"cuda": "cuda", "c": "cpu", "c-resumable": "cpu-resumable"}


@dataclass(slots=True)
class PassPrinter:
    """Prints the IR after the pass ``name`` or after all; with ``diff``, what the pass changed."""

    name: str
    diff: bool
    parts: list[str] = field(default_factory=list)

    def observe(self, name: str, before: Module, after: Module) -> None:
        if self.name not in (name, ALL) or before is after:
            return
        old, new = print_module(before), print_module(after)
        if old == new:
            return
        if self.diff:
            names = f"before {name}", f"after {name}"
            lines = unified_diff(old.splitlines(), new.splitlines(), *names, lineterm="")
            self.parts.append("\n".join(lines) + "\n")
        else:
            self.parts.append(f"# after {name}\n{new}")

    def text(self) -> str:
        return "\n".join(self.parts) or f"# {self.name} does not change this kernel\n"


def print_passes(
    kernel: Kernel[Any],
    target: str,
    signature: Signature,
    block: Extent | None,
    printer: PassPrinter,
) -> str:
    """Compile a kernel; return the IR after passes. Raises ClickException, CompileError."""
    names = [step.name for step in (*FRONTEND, *_target(target).passes)]
    if printer.name not in (ALL, *names):
        hint = did_you_mean(printer.name, names, f"there are {', '.join(names)}")
        raise click.ClickException(f"{target} has no pass `{printer.name}`: {hint}")
    _compile(kernel, target, signature, block, printer.observe)
    return printer.text()


def time_passes(
    kernel: Kernel[Any], target: str, signature: Signature, block: Extent | None
) -> str:
    """Compile a kernel; return a table of the times of type inference, passes and code generation.

    The time of a pass includes the analyses that it is the first to use. Raises ClickException,
    CompileError.
    """
    seconds: dict[str, float] = {}
    with collecting_spans() as spans:
        _compile(kernel, target, signature, block)
    for span in spans:
        if span.category == "compile.passes":
            seconds[span.name] = seconds.get(span.name, 0.0) + span.duration / 1e9
    total = sum(seconds.values())
    rows = [*seconds.items(), ("total", total)]
    width = max(len(name) for name, _ in rows)
    lines = [
        f"{name:{width}} {1000 * time:9.2f} ms {100 * time / total:5.1f} %" for name, time in rows
    ]
    return "\n".join(lines) + "\n"


def _target(name: str) -> Target:
    if name not in _TARGETS:
        raise click.ClickException(
            f"--print-after and --time-passes are for --target {', '.join(_TARGETS)}"
        )
    return TARGETS[_TARGETS[name]]


def _compile(
    kernel: Kernel[Any],
    name: str,
    signature: Signature,
    block: Extent | None,
    observe: Observer | None = None,
) -> None:
    target = _target(name)
    built = build_module(kernel.source, signature, kernel.options, observe)
    assumptions = LaunchAssumptions(index32_safe=True, block=None if name == "cuda" else block)
    lowered = lower(built.module, target, assumptions, kernel.options, observe)
    emit(lowered, target.dialect)
