"""Cache the analyses of a module while passes change it.

An analysis is computed at most once for the parts of a module that it reads. A pass that replaces
such a part invalidates it, unless the pass declares that it preserves the analysis. Source: LLVM's
and MLIR's analysis managers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, cast

from pycu2c.base.records import dataclass
from pycu2c.ir import nodes as ir

Inputs = TypeVar("Inputs")
Result = TypeVar("Result")


def whole_module(module: ir.Module) -> tuple[object, ...]:
    return (module,)


def kernel_body(module: ir.Module) -> tuple[object, ...]:
    return (module.kernel.body,)


def device_functions(module: ir.Module) -> tuple[object, ...]:
    return module.devices


def no_part(module: ir.Module) -> tuple[object, ...]:
    """For values that do not depend on the IR, such as launch assumptions."""
    return ()


@dataclass(frozen=True, slots=True, eq=False)
class Analysis(Generic[Inputs, Result]):
    """A function of a module, and the parts of the module that it reads."""

    name: str
    run: Callable[[AnalysisManager[Inputs]], Result]
    reads: Callable[[ir.Module], tuple[object, ...]] = whole_module

    def __repr__(self) -> str:
        return self.name


class AnalysisManager(Generic[Inputs]):
    """The analyses of one module. ``inputs`` is what a compilation is given besides the IR."""

    def __init__(self, module: ir.Module, inputs: Inputs) -> None:
        self.module, self.inputs = module, inputs
        self._results: dict[Analysis[Inputs, Any], tuple[tuple[object, ...], Any]] = {}

    def get(self, analysis: Analysis[Inputs, Result]) -> Result:
        """Return the result for the module, computed if it is not cached."""
        parts = analysis.reads(self.module)
        read, result = self._results.get(analysis, (None, None))
        if read is None or not _same(read, parts):
            result = analysis.run(self)
            self._results[analysis] = (parts, result)
        return cast(Result, result)

    def replace_module(
        self, module: ir.Module, preserved: Iterable[Analysis[Inputs, Any]] = ()
    ) -> None:
        """Take what a pass has returned; ``preserved`` analyses keep their results."""
        for analysis in preserved:
            parts, result = self._results.get(analysis, (None, None))
            if parts is not None and _same(parts, analysis.reads(self.module)):
                self._results[analysis] = (analysis.reads(module), result)
        self.module = module


def _same(read: tuple[object, ...], parts: tuple[object, ...]) -> bool:
    return len(read) == len(parts) and all(a is b for a, b in zip(read, parts))
