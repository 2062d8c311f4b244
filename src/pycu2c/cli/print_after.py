"""``pycu2c emit --print-after``: the IR of a kernel after its passes."""

from __future__ import annotations

from difflib import unified_diff
from typing import Any

import click

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Signature
from pycu2c.compiler import build_module, lower
from pycu2c.ir.nodes import Module
from pycu2c.ir.printer import print_module
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import FRONTEND, TARGETS, Target
from pycu2c.runtime.launch_configuration import Extent

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


def print_after(
    kernel: Kernel[Any],
    target: str,
    signature: Signature,
    block: Extent | None,
    printer: PassPrinter,
) -> str:
    """Return the IR of a kernel after passes. Raises ClickException, CompileError."""
    compile_target = target_of(target, "--print-after")
    names = [step.name for step in (*FRONTEND, *compile_target.passes)]
    if printer.name not in (ALL, *names):
        hint = did_you_mean(printer.name, names, f"there are {', '.join(names)}")
        raise click.ClickException(f"{target} has no pass `{printer.name}`: {hint}")
    built = build_module(kernel.source, signature, kernel.options, printer.observe)
    assumptions = assumptions_of(target, block)
    lower(built.module, compile_target, assumptions, kernel.options, printer.observe)
    return printer.text()


def target_of(name: str, option: str) -> Target:
    """Return the compilation target of ``--target``. Raises ClickException if it has no passes."""
    if name not in _TARGETS:
        raise click.ClickException(f"{option} is for --target {', '.join(_TARGETS)}")
    return TARGETS[_TARGETS[name]]


def assumptions_of(target: str, block: Extent | None) -> LaunchAssumptions:
    """Return what the emitted text assumes of launches."""
    return LaunchAssumptions(index32_safe=True, block=None if target == "cuda" else block)
