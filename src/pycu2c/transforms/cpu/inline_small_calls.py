"""Inline small device functions in loops that may be strip-mined or tiled (CPU).

``while norm(z) < 4: z = step(z, c)`` -> ``while (let x = z in x * x + …) < 4: …``. Only functions
that compute a value from their arguments alone are inlined, and only if the loop then neither
accesses memory nor calls functions that may. Elsewhere calls remain; the C compiler inlines them.
Requires the form TYPED (``ir/forms.py``). Guarantees that functions without callers are dropped.
Uses the heuristics of ``divergent_loops``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycu2c.base.records import dataclass, replace
from pycu2c.base.types import Scalar
from pycu2c.ir import nodes as ir
from pycu2c.ir import walk
from pycu2c.ir.builders import is_atom, scalar_type
from pycu2c.ir.call_graph import callees, recursive_functions
from pycu2c.transforms.cpu.simd.divergent_loops import early_exit_loops, is_vectorizable
from pycu2c.transforms.cpu.simd.narrow_integers_in_loops import only_computes

_MAX_NODES = 200  # of a function: above this, call overhead is negligible
_MAX_BRANCHES = 3  # the code after a branch is duplicated


def inline_small_calls(module: ir.Module) -> ir.Module:
    """Inline calls, and drop the functions that are no longer called."""
    recursive = recursive_functions(module)
    small = {f.name: f for f in module.device_functions if f.name not in recursive and _is_small(f)}
    if not small:
        return module
    rewritten = walk.map_functions(module, lambda f: walk.with_body(f, _inline_in_loops(f, small)))
    return replace(rewritten, device_functions=tuple(_reachable_devices(rewritten)))


def _is_small(f: ir.Function) -> bool:
    inner_statements = tuple(walk.statements(f.body))
    if not all(isinstance(s, ir.Assign | ir.If | ir.Return) for s in inner_statements):
        return False
    if not all(isinstance(t, Scalar) for t in (f.result, *(p.type for p in f.parameters))):
        return False
    nodes = sum(1 for _ in walk.all_expressions(f.body))
    branches = sum(isinstance(s, ir.If) for s in inner_statements)
    return nodes <= _MAX_NODES and branches <= _MAX_BRANCHES


def _reachable_devices(module: ir.Module) -> Iterator[ir.Function]:
    names = callees(module.kernel).union(*map(callees, module.device_functions))
    while True:
        devices = [f for f in module.device_functions if f.name in names]
        still_called = callees(module.kernel).union(*map(callees, devices))
        if still_called == names:
            return iter(devices)
        names = still_called


def _inline_in_loops(f: ir.Function, small: Mapping[str, ir.Function]) -> ir.Body:
    inliner = _CallInliner(small)

    def block(body: ir.Body) -> ir.Body:
        out: list[ir.Stmt] = []
        for s in body:
            rewritten = walk.map_expr((s,), inliner.inline_call)[0] if _is_candidate_loop(s) else s
            if rewritten is not s and only_computes(rewritten) and _is_profitable(rewritten):
                out.append(rewritten)
            else:
                out.append(walk.map_bodies(s, block))
        return tuple(out)

    return block(f.body)


def _is_candidate_loop(s: ir.Stmt) -> bool:
    """Return whether a loop may be strip-mined or tiled if it only computes."""
    return isinstance(s, ir.For) or any(early_exit_loops((s,)))


def _is_profitable(s: ir.Stmt) -> bool:
    """Return whether a loop may be strip-mined, or tiled because it can be vectorized."""
    return any(early_exit_loops((s,))) or (isinstance(s, ir.For) and is_vectorizable(s.body))


@dataclass(slots=True)
class _CallInliner:
    small: Mapping[str, ir.Function]
    _counter: int = 0

    def inline_call(self, e: ir.Expr) -> ir.Expr:
        """Return a call of a small function as an expression of its arguments."""
        if not isinstance(e, ir.Call) or e.function not in self.small:
            return e
        function = self.small[e.function]
        replacements: dict[str, ir.Expr] = {}
        bindings: list[tuple[ir.Var, ir.Expr]] = []
        for p, argument in zip(function.parameters, e.arguments):
            replacements[p.name] = argument
            if not is_atom(argument):
                var = self._variable(p.name, argument)
                replacements[p.name] = var
                bindings.append((var, argument))
        value = self._value(function.body, replacements)
        if value is None:
            return e
        for var, argument in reversed(bindings):
            value = ir.Let(var.name, argument, value, e.span)
        return value

    def _variable(self, name: str, value: ir.Expr) -> ir.Var:
        self._counter += 1
        return ir.Var(f"{name.split('.')[0]}.c{self._counter}", scalar_type(value), value.span)

    def _value(self, body: ir.Body, replacements: Mapping[str, ir.Expr]) -> ir.Expr | None:
        """Return the returned value as one expression, or None if the body is too complex."""
        match body:
            case (ir.Return(value), *_) if value is not None:
                return self._renamed(value, replacements)
            case (ir.Assign(var, value), *rest):
                variable = self._variable(var.name, var)
                assigned_value = self._renamed(value, replacements)
                rest_value = self._value(tuple(rest), {**replacements, var.name: variable})
                return (
                    assigned_value
                    and rest_value
                    and ir.Let(variable.name, assigned_value, rest_value, value.span)
                )
            case (ir.If(condition, then, orelse, span), *rest):
                branch_values = [
                    self._value((*side, *rest), replacements) for side in (then, orelse)
                ]
                test = self._renamed(condition, replacements)
                a, b = branch_values
                return test and a and b and ir.Select(test, a, b, scalar_type(a), span)
            case _:
                return None

    def _renamed(self, e: ir.Expr, replacements: Mapping[str, ir.Expr]) -> ir.Expr | None:
        match e:
            case ir.Var(name):
                return replacements.get(name)
            case ir.Let():
                variable = self._variable(e.name, e.value)
                value = self._renamed(e.value, replacements)
                body = self._renamed(e.body, {**replacements, e.name: variable})
                return value and body and replace(e, name=variable.name, value=value, body=body)
            case _:
                new = [self._renamed(child, replacements) for child in walk.children(e)]
                new_children = tuple(child for child in new if child is not None)
                if len(new_children) == len(new):
                    return self.inline_call(walk.with_children(e, new_children))
                return None
