"""``pycu2c emit --print-after`` and ``--time-passes``: the IR after each pass, and its time."""

from __future__ import annotations

import time
from difflib import unified_diff
from typing import Any

import click

from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.records import dataclass, field
from pycu2c.base.spelling_suggestions import did_you_mean
from pycu2c.base.types import Signature
from pycu2c.codegen.emit import emit
from pycu2c.compiler import build_module, lower
from pycu2c.ir.nodes import Module
from pycu2c.ir.printer import print_module
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import FRONTEND, TARGETS
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


@dataclass(slots=True)
class PassTimer:
    """Measures the time of type inference ("build"), of each pass, and of code generation.

    The time of a pass includes the analyses that it is the first to use.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def observe(self, name: str, _before: Module, _after: Module) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now

    def text(self) -> str:
        """Return a table in the order of the passes."""
        total = sum(self.seconds.values())
        rows = [*self.seconds.items(), ("total", total)]
        width = max(len(name) for name, _ in rows)
        lines = [
            f"{name:{width}} {1000 * seconds:9.2f} ms {100 * seconds / total:5.1f} %"
            for name, seconds in rows
        ]
        return "\n".join(lines) + "\n"


def report_passes(
    kernel: Kernel[Any],
    target: str,
    signature: Signature,
    block: Extent | None,
    report: PassPrinter | PassTimer,
) -> str:
    """Compile a kernel and return the report on its passes. Raises ClickException, CompileError."""
    if target not in _TARGETS:
        raise click.ClickException(
            f"--print-after and --time-passes are for --target {', '.join(_TARGETS)}"
        )
    compile_target = TARGETS[_TARGETS[target]]
    names = [step.name for step in (*FRONTEND, *compile_target.passes)]
    if isinstance(report, PassPrinter) and report.name not in (ALL, *names):
        hint = did_you_mean(report.name, names, f"there are {', '.join(names)}")
        raise click.ClickException(f"{target} has no pass `{report.name}`: {hint}")
    built = build_module(kernel.source, signature, kernel.options, report.observe)
    assumptions = LaunchAssumptions(index32_safe=True, block=None if target == "cuda" else block)
    lowered = lower(built.module, compile_target, assumptions, kernel.options, report.observe)
    emit(lowered, compile_target.dialect)
    report.observe("emit", lowered, lowered)
    return report.text()
