"""Give each device function one caller, so that each statement has one chain of calls."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import callees, recursive_functions
from pycu2c.ir.walk import map_expr, with_kernel_body

_MAX_COPIES = 200  # of device functions; further calls share them


@dataclass(frozen=True, slots=True)
class CallChains:
    """A module, and by the name of a function the spans of the calls that lead to it."""

    module: ir.Module
    calls: Mapping[str, tuple[Span, ...]]


def copy_callees(module: ir.Module) -> CallChains:
    """Copy each device function for each call of it. Recursive functions are not copied."""
    copier = _Copier({f.name: f for f in module.device_functions}, recursive_functions(module))
    body = copier.with_own_callees(module.kernel.body, ())
    uncopied = {f.name: f for f in module.device_functions if f.name in copier.shared}
    functions = (*uncopied.values(), *copier.copies)
    rewritten = replace(with_kernel_body(module, body), device_functions=functions)
    return CallChains(rewritten, copier.chains)


@dataclass(slots=True)
class _Copier:
    functions: Mapping[str, ir.Function]
    recursive: frozenset[str]
    copies: list[ir.Function] = field(default_factory=list)  # callees before callers
    chains: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)  # functions that are called as they are

    def with_own_callees(self, body: ir.Body, chain: tuple[Span, ...]) -> ir.Body:
        """Return a body that calls copies of its device functions."""

        def with_copy(e: ir.Expr) -> ir.Expr:
            if not isinstance(e, ir.Call):
                return e
            if e.function in self.recursive or len(self.chains) >= _MAX_COPIES:
                self._share(e.function)
                return e
            return replace(e, function=self._copy(self.functions[e.function], (*chain, e.span)))

        return map_expr(body, with_copy)

    def _copy(self, function: ir.Function, chain: tuple[Span, ...]) -> str:
        name = f"{function.name}.k{len(self.chains)}"
        self.chains[name] = chain
        body = self.with_own_callees(function.body, chain)
        self.copies.append(replace(function, name=name, body=body))
        return name

    def _share(self, name: str) -> None:
        """Keep a function and its callees as they are."""
        if name in self.shared:
            return
        self.shared.add(name)
        for callee in callees(self.functions[name]):
            self._share(callee)
