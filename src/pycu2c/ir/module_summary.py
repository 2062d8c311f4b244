"""Summarize the contents of a module, so that the pipeline can skip passes without work."""

from __future__ import annotations

from pycu2c.base.records import dataclass
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions, statements
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic
from pycu2c.ops.operators import Operator


@dataclass(frozen=True, slots=True)
class ModuleSummary:
    """The classes of the nodes of a module, its binary operators, the intrinsics that it calls."""

    kinds: frozenset[type[ir.Stmt | ir.Expr]]
    intrinsics: frozenset[Intrinsic]
    operators: frozenset[Operator]
    has_device_functions: bool
    has_inline_c: bool

    def any_of(self, *kinds: type[ir.Stmt | ir.Expr]) -> bool:
        return not self.kinds.isdisjoint(kinds)

    @property
    def has_memory_intrinsics(self) -> bool:
        """Whether the module calls intrinsics that access memory, such as atomics."""
        return any(i.effect is Effect.MEMORY for i in self.intrinsics)

    @property
    def only_loads_and_stores(self) -> bool:
        """Whether threads only compute, load and store, without communication or other effects."""
        has_effects = any(i.has_effect for i in self.intrinsics)
        return not has_effects and not self.has_inline_c and not self.any_of(ir.Allocate, ir.Print)

    @property
    def needs_cpu_lowering(self) -> bool:
        """Whether the module calls intrinsics that CPU passes replace."""
        return any(i.synchronizes or i.c is None for i in self.intrinsics)


def summarize_module(module: ir.Module) -> ModuleSummary:
    """Return the summary of a module."""
    functions = (module.kernel, *module.devices)
    kinds: set[type[ir.Stmt | ir.Expr]] = set()
    intrinsics: set[Intrinsic] = set()
    operators: set[Operator] = set()
    for function in functions:
        for s in statements(function.body):
            kinds.add(type(s))
        for e in all_expressions(function.body):
            kinds.add(type(e))
            if isinstance(e, ir.Apply):
                intrinsics.add(e.intrinsic)
            elif isinstance(e, ir.Binary):
                operators.add(e.op)
    has_inline_c = any(function.external_code is not None for function in functions)
    found = frozenset(kinds), frozenset(intrinsics), frozenset(operators)
    return ModuleSummary(*found, bool(module.devices), has_inline_c)
