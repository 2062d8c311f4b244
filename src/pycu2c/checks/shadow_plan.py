"""Plan how shadows reach the functions of a kernel, as hidden parameters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set

from pycu2c.base.records import dataclass, field, replace
from pycu2c.base.types import Array
from pycu2c.checks.barrier_skips import BARRIER_EFFECTS
from pycu2c.checks.block_order import has_order, has_unknown_accesses
from pycu2c.checks.shadow_arrays import (
    BARRIERS,
    BLOCK_INDEX,
    CLOCK,
    ORDER,
    ORDERED_WORDS,
    WORDS,
    Shadow,
    ShadowParameter,
    allocated_in_calls,
    global_shadows,
    has_shadow,
    shared_shadows,
)
from pycu2c.declarations.options import CheckGroup
from pycu2c.ir import nodes as ir
from pycu2c.ir.walk import all_expressions


@dataclass(slots=True)
class ShadowPlan:
    """The shadows of a kernel.

    kernel: its name. callees: the device functions with one caller, which have shadows too, by
    name. parameters: the hidden parameters of the kernel.
    """

    kernel: str
    callees: Mapping[str, ir.Function]
    parameters: tuple[ShadowParameter, ...]
    cluster: tuple[int, ...]
    has_unknown_accesses: bool
    allocated: Collection[str] = ()  # the parameters that are shadows of shared arrays
    shadows: dict[str, dict[str, Shadow]] = field(default_factory=dict)  # by function and array
    polled: Mapping[str, Set[str]] = field(default_factory=dict)  # arrays, by function
    hidden: dict[str, tuple[ir.Var, ...]] = field(default_factory=dict)  # parameters, by function

    @property
    def has_barriers(self) -> bool:
        """Whether the barriers of blocks are checked."""
        return BARRIERS in self.parameters

    @property
    def order(self) -> tuple[ir.Var, ...]:
        """The clocks of blocks, if the kernel needs them."""
        return (ORDER.var,) if ORDER in self.parameters else ()

    @property
    def word_count(self) -> int:
        return ORDERED_WORDS if self.order else WORDS

    def reaches(self, function: str) -> bool:
        """Return whether a function has a clock, and may have shadows."""
        return bool(self.parameters) and (function == self.kernel or function in self.callees)

    def hidden_arguments(self, call: ir.Call, caller: str) -> tuple[ir.Expr, ...]:
        """Return the arguments for the hidden parameters of a callee, which this declares."""
        callee = self.callees.get(call.function)
        if callee is None or not self.reaches(caller):
            return ()
        variables: list[ir.Var] = [CLOCK, BLOCK_INDEX, *self.order]
        if self.has_barriers:
            variables.append(BARRIERS.var)
        arguments: list[ir.Expr] = [*variables]
        shadows = self.own_shadows(callee)
        for p, argument in zip(callee.parameters, call.arguments):
            shadow = self._shadow_of(argument, p, caller)
            if shadow is not None and isinstance(argument, ir.Var | ir.View):
                view = shadow.of_argument(argument)
                var = ir.Var(f"{p.name}.shadow", view.type, argument.span)
                arguments.append(view)
                variables.append(var)
                shadows[p.name] = replace(shadow, array=var, prefix=(), size=0)
        inner = allocated_in_calls(self.callees, callee)
        variables += [p.var for name, p in inner.items() if name in self.allocated]
        arguments += [p.var for name, p in inner.items() if name in self.allocated]
        self.shadows[callee.name] = shadows
        self.hidden[callee.name] = tuple(variables)
        return tuple(arguments)

    def own_shadows(self, function: ir.Function) -> dict[str, Shadow]:
        """Return the shadows of the shared arrays that a function allocates."""
        return {
            name: Shadow(p.var, (BLOCK_INDEX,), p.size, False, self.word_count)
            for name, p in shared_shadows(function)
            if p.var.name in self.allocated
        }

    def _shadow_of(self, argument: ir.Expr, p: ir.Parameter, caller: str) -> Shadow | None:
        """Return the shadow of an argument, if elements of both have the same type."""
        if not isinstance(argument, ir.Var | ir.View) or not isinstance(p.type, Array):
            return None
        array = argument.array if isinstance(argument, ir.View) else argument
        is_same_type = isinstance(array.type, Array) and array.type.dtype == p.type.dtype
        has_path = isinstance(argument, ir.View) and bool(argument.path)
        if not is_same_type or has_path or not has_shadow(p.type):
            return None
        return self.shadows[caller].get(array.name)


def plan_shadows(
    module: ir.Module,
    own_callees: Collection[str],
    groups: frozenset[CheckGroup],
    without_conflicts: Collection[str],
) -> ShadowPlan:
    """Return the shadows of a kernel, with those of its own parameters and shared arrays.

    ``without_conflicts``: the arrays that need no shadow for races.
    """
    callees = {f.name: f for f in module.device_functions if f.name in own_callees}
    kernel = module.kernel
    found = global_shadows(module) if "race" in groups else {}
    arguments = {name: p for name, p in found.items() if name not in without_conflicts}
    # other blocks of a cluster write the shared arrays of a block: these have no shadows
    has_shared = groups & {"race", "init"} and not module.cluster
    allocated = allocated_in_calls(callees, kernel) if has_shared else {}
    barriers = (BARRIERS,) if "sync" in groups and _has_barriers(module) else ()
    order = (ORDER,) if "race" in groups and has_order(module) else ()
    parameters = *arguments.values(), *allocated.values(), *barriers, *order
    unknown = has_unknown_accesses(module, callees)
    plan = ShadowPlan(kernel.name, callees, parameters, module.cluster, unknown, allocated)
    plan.shadows[kernel.name] = plan.own_shadows(kernel) | {
        name: Shadow(p.var, word_count=plan.word_count) for name, p in arguments.items()
    }
    return plan


def _has_barriers(module: ir.Module) -> bool:
    return any(
        isinstance(e, ir.Apply) and e.intrinsic.effect in BARRIER_EFFECTS
        for f in module.functions
        for e in all_expressions(f.body)
    )
