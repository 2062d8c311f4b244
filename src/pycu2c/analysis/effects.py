"""What functions do to memory: which arrays they write, whether a call has an effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pycu2c.analysis.busy_wait import spins
from pycu2c.base.types import Array, Space
from pycu2c.ir.call_graph import called, summarized
from pycu2c.ir.nodes import (
    Allocate,
    Apply,
    Body,
    Call,
    CText,
    ElementOf,
    Expr,
    For,
    Function,
    Load,
    Module,
    Print,
    Store,
    Var,
    View,
    While,
    in_cluster,
)
from pycu2c.ir.walk import all_expressions, expressions, statements
from pycu2c.ops.intrinsics.registry import Effect


def writes(module: Module) -> dict[str, frozenset[str]]:
    """For each function by name, the array variables that it or its callees may write."""
    parameters = {f.name: tuple(p.name for p in f.parameters) for f in module.devices}

    def written(function: Function, by_name: Mapping[str, frozenset[str]]) -> frozenset[str]:
        found = {s.array.name for s in statements(function.body) if isinstance(s, Store)}
        if acts_in_c(function):
            found |= {p.name for p in function.parameters}
        calls = [e for e in all_expressions(function.body) if isinstance(e, Call)]
        passed = {id(a) for e in calls for a in e.arguments}
        passed |= {id(a) for e in _reads(function.body) for a in e.arguments}
        for e in all_expressions(function.body):
            if isinstance(e, ElementOf) and id(e) not in passed:
                found.add(e.array.name)
        for e in calls:
            for name, given in zip(parameters[e.function], e.arguments):
                array = given.array if isinstance(given, (View, ElementOf)) else given
                if isinstance(array, Var) and name in by_name[e.function]:
                    found.add(array.name)
        return frozenset(found)

    return summarized((*module.devices, module.kernel), written, frozenset())


def _reads(body: Body) -> Iterator[Apply]:
    """Intrinsics that are given the place of an element and write nothing there."""
    for e in all_expressions(body):
        if isinstance(e, Apply) and e.intrinsic.reads:
            yield e


def written_arguments(module: Module) -> frozenset[int]:
    """The positions of the kernel's arguments that are arrays it may write."""
    written = writes(module)[module.kernel.name]
    return frozenset(p.argument for p in module.kernel.parameters if p.name in written)


def effectful(module: Module) -> frozenset[str]:
    """The device functions whose calls must be kept and kept in order."""

    def acts(function: Function, known: Mapping[str, bool]) -> bool:
        devices = frozenset(name for name, is_so in known.items() if is_so)
        writes = any(isinstance(s, (Store, Print)) for s in statements(function.body))
        return (
            writes
            or acts_in_c(function)
            or any(has_effect(e, devices) for e in all_expressions(function.body))
        )

    return frozenset(
        name for name, is_so in summarized(module.devices, acts, False).items() if is_so
    )


def acts_in_c(function: Function) -> bool:
    """Whether C of the user's may write through the function's arrays, or do anything else."""
    found = function.foreign or foreign_body(function)
    return found is not None and not found.is_pure


def foreign_body(function: Function) -> CText | None:
    """The C of the user's that is a function's body, if it is none of Python's."""
    return next((s for s in function.body if isinstance(s, CText)), None)


def has_effect(e: Expr, devices: frozenset[str]) -> bool:
    """Whether this node itself, not what is inside it, does more than give a value."""
    if isinstance(e, Apply):
        return e.intrinsic.has_effect
    return isinstance(e, Call) and e.function in devices


def any_effect(e: Expr, devices: frozenset[str]) -> bool:
    """Whether evaluating an expression does more than give a value."""
    return any(has_effect(x, devices) for x in expressions(e))


def reads_memory(e: Expr) -> bool:
    """Whether the value of an expression depends on when it is evaluated."""
    return any(isinstance(x, (Load, Call)) for x in expressions(e))


def takes_dynamic_shared(module: Module) -> bool:
    """Whether a block uses the shared memory that the launch gives."""
    functions = (*module.devices, module.kernel)
    made = (s.var for f in functions for s in statements(f.body) if isinstance(s, Allocate))
    return any(map(is_dynamic, made))


def is_dynamic(array: Var) -> bool:
    """Whether an array that a kernel makes is as long as the launch says."""
    return isinstance(array.type, Array) and array.type.shape is None


def is_block_level(function: Function) -> bool:
    """Whether threads meet in a device function, wait for others by a loop, or have shared memory
    of it or of other blocks: on the CPU such a function cannot be run thread by thread."""
    for s in statements(function.body):
        if isinstance(s, Allocate) and isinstance(s.var.type, Array):
            if s.var.type.space is Space.SHARED:
                return True
        elif isinstance(s, For | While) and spins(s):
            return True
    if reaches_cluster(function.body):
        return True
    return any(isinstance(e, Apply) and e.intrinsic.meets for e in all_expressions(function.body))


def reaches_cluster(body: Body) -> bool:
    """Whether threads read or write the shared memory of other blocks."""
    if any(isinstance(s, Store) and in_cluster(s.array) for s in statements(body)):
        return True
    return any(isinstance(e, Var) and in_cluster(e) for e in all_expressions(body))


def block_level(module: Module) -> frozenset[str]:
    """The device functions that a whole block runs together, those that call one included."""

    def together(function: Function, known: Mapping[str, bool]) -> bool:
        return is_block_level(function) or any(known[name] for name in called(function))

    found = summarized(module.devices, together, False)
    return frozenset(name for name, is_so in found.items() if is_so)


def meets_grid(module: Module) -> bool:
    """Whether all threads of a launch wait for one another somewhere."""
    functions = (module.kernel, *module.devices)
    found = (e for f in functions for e in all_expressions(f.body) if isinstance(e, Apply))
    return any(e.intrinsic.effect is Effect.GRID for e in found)


def names_in(*values: Expr) -> Iterator[str]:
    """The variables that expressions read."""
    return (e.name for value in values for e in expressions(value) if isinstance(e, Var))


def mentioned(body: Body) -> frozenset[str]:
    """The variables that a block reads, or stores elements of."""
    read = {e.name for e in all_expressions(body) if isinstance(e, Var)}
    return frozenset(read | {s.array.name for s in statements(body) if isinstance(s, Store)})
