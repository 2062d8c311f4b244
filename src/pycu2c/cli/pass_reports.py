"""``pycu2c emit --print-after``: the IR after each pass."""

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
from pycu2c.kernels.kernel_compiler import TARGETS_BY_LANGUAGE
from pycu2c.pipeline import FRONTEND, TARGETS
from pycu2c.runtime.launch_configuration import Extent

ALL = "all"


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
    if target not in TARGETS_BY_LANGUAGE:
        languages = ", ".join(TARGETS_BY_LANGUAGE)
        raise click.ClickException(f"--print-after is for --target {languages}")
    selected = TARGETS[TARGETS_BY_LANGUAGE[target]]
    names = [step.name for step in (*FRONTEND, *selected.passes)]
    if printer.name not in (ALL, *names):
        hint = did_you_mean(printer.name, names, f"there are {', '.join(names)}")
        raise click.ClickException(f"{target} has no pass `{printer.name}`: {hint}")
    built = build_module(kernel.source, signature, kernel.options, printer.observe)
    assumptions = LaunchAssumptions(index32_safe=True, block=None if target == "cuda" else block)
    lower(built.module, selected, assumptions, kernel.options, printer.observe)
    return printer.text()
