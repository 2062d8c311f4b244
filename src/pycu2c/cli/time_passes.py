"""``pycu2c emit --time-passes``: the time that each part of a compilation takes."""

from __future__ import annotations

import time
from typing import Any

from pycu2c.base.records import dataclass, field
from pycu2c.base.types import Signature
from pycu2c.cli.print_after import assumptions_of, target_of
from pycu2c.codegen.emit import emit
from pycu2c.compiler import build_module, lower
from pycu2c.ir.nodes import Module
from pycu2c.kernels.kernel import Kernel
from pycu2c.runtime.launch_configuration import Extent


@dataclass(slots=True)
class PassTimer:
    """Measures the seconds from one observation to the next, by the name of the pass."""

    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def observe(self, name: str, _before: Module, _after: Module) -> None:
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self.last
        self.last = now

    def table(self) -> str:
        """Return a table in the order of the passes."""
        total = sum(self.seconds.values())
        rows = [*self.seconds.items(), ("total", total)]
        width = max(len(name) for name, _ in rows)
        lines = [
            f"{name:{width}} {1000 * seconds:9.2f} ms {100 * seconds / total:5.1f} %"
            for name, seconds in rows
        ]
        return "\n".join(lines) + "\n"


def time_passes(
    kernel: Kernel[Any], target: str, signature: Signature, block: Extent | None
) -> str:
    """Return the times of type inference ("build"), of each pass and of the code generation.

    A pass includes the analyses that it is the first to use. Raises ClickException, CompileError.
    """
    compile_target = target_of(target, "--time-passes")
    timer = PassTimer()
    built = build_module(kernel.source, signature, kernel.options, timer.observe)
    assumptions = assumptions_of(target, block)
    lowered = lower(built.module, compile_target, assumptions, kernel.options, timer.observe)
    emit(lowered, compile_target.dialect)
    timer.observe("emit", lowered, lowered)
    return timer.table()
