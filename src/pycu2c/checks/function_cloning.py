"""Clone device functions, so that each has one caller, and each statement one chain of calls."""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.source import Span
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import callees, recursive_functions
from pycu2c.ir.walk import map_expr, with_kernel_body

_MAX_CLONES = 200  # further calls share functions


@dataclass(frozen=True, slots=True)
class ClonedModule:
    """A module of clones, and by their names the spans of the calls that lead to them."""

    module: ir.Module
    calls: Mapping[str, tuple[Span, ...]]


def clone_callees(module: ir.Module) -> ClonedModule:
    """Clone each device function for each call of it, but not recursive functions."""
    cloner = _Cloner({f.name: f for f in module.device_functions}, recursive_functions(module))
    body = cloner.with_clones(module.kernel.body, ())
    shared = {f.name: f for f in module.device_functions if f.name in cloner.shared}
    functions = (*shared.values(), *cloner.clones)
    rewritten = replace(with_kernel_body(module, body), device_functions=functions)
    return ClonedModule(rewritten, cloner.cloned)


@dataclass(slots=True)
class _Cloner:
    functions: Mapping[str, ir.Function]
    recursive: frozenset[str]
    clones: list[ir.Function] = field(default_factory=list)  # callees before callers
    cloned: dict[str, tuple[Span, ...]] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)  # functions that are not cloned

    def with_clones(self, body: ir.Body, chain: tuple[Span, ...]) -> ir.Body:
        """Return a body that calls clones of its device functions."""

        def with_clone(e: ir.Expr) -> ir.Expr:
            if not isinstance(e, ir.Call):
                return e
            if e.function in self.recursive or len(self.cloned) >= _MAX_CLONES:
                self._share(e.function)
                return e
            return replace(e, function=self._clone(self.functions[e.function], (*chain, e.span)))

        return map_expr(body, with_clone)

    def _clone(self, function: ir.Function, chain: tuple[Span, ...]) -> str:
        name = f"{function.name}.k{len(self.cloned)}"
        self.cloned[name] = chain
        body = self.with_clones(function.body, chain)
        self.clones.append(replace(function, name=name, body=body))
        return name

    def _share(self, name: str) -> None:
        """Do not clone a function and its callees."""
        if name in self.shared:
            return
        self.shared.add(name)
        for callee in callees(self.functions[name]):
            self._share(callee)
