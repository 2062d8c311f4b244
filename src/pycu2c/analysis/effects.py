"""Side effects of functions and expressions: written arrays, synchronization, memory access.

``may_be_contracted`` tells which expressions passes must not move, as their results may change.
"""

from __future__ import annotations

from collections.abc import Mapping

from pycu2c.analysis.busy_wait import is_busy_wait, may_busy_wait, polling_functions
from pycu2c.base.types import Array, MemorySpace
from pycu2c.ir import nodes as ir
from pycu2c.ir.call_graph import (
    callees,
    fixed_point_summaries,
    functions_that,
    recursive_functions,
    transitive_callees,
)
from pycu2c.ir.verify_expressions import is_integer
from pycu2c.ir.walk import all_expressions, contains, expressions, operations, statements
from pycu2c.ops.intrinsics.builtins import MIN_MAX_INTRINSICS
from pycu2c.ops.intrinsics.registry import Effect
from pycu2c.ops.operators import C_DIV, C_REM


def written_arrays(module: ir.Module) -> dict[str, frozenset[str]]:
    """Map each function to the array variables that it or its callees may write."""
    parameters = {f.name: tuple(p.name for p in f.parameters) for f in module.device_functions}

    def written(function: ir.Function, by_name: Mapping[str, frozenset[str]]) -> frozenset[str]:
        result = {s.array.name for s in statements(function.body) if isinstance(s, ir.Store)}
        if inline_c_has_effect(function):
            result |= {p.name for p in function.parameters}
        kinds = (ir.Call, ir.Apply, ir.ElementOf)
        found = [e for e in all_expressions(function.body) if isinstance(e, kinds)]
        calls = [e for e in found if isinstance(e, ir.Call)]
        passed_ids = {id(a) for e in calls for a in e.arguments}
        readers = (e for e in found if isinstance(e, ir.Apply) and e.intrinsic.reads)
        passed_ids |= {id(a) for e in readers for a in e.arguments}
        for e in found:
            if isinstance(e, ir.ElementOf) and id(e) not in passed_ids:
                result.add(e.array.name)
        for e in calls:
            for name, argument in zip(parameters[e.function], e.arguments):
                array = (
                    argument.array if isinstance(argument, (ir.View, ir.ElementOf)) else argument
                )
                if isinstance(array, ir.Var) and name in by_name[e.function]:
                    result.add(array.name)
        return frozenset(result)

    return fixed_point_summaries(module.functions, written, frozenset())


def written_arguments(module: ir.Module) -> frozenset[int]:
    """Return the positions of the kernel's array arguments that it may write."""
    written = written_arrays(module)[module.kernel.name]
    return frozenset(p.argument for p in module.kernel.parameters if p.name in written)


def effectful_functions(module: ir.Module) -> frozenset[str]:
    """Return the device functions with side effects, whose calls must be kept in order."""

    def has_side_effect(function: ir.Function, effectful: frozenset[str]) -> bool:
        return (
            contains(function.body, ir.Store | ir.Print)
            or inline_c_has_effect(function)
            or any(has_effect(e, effectful) for e in all_expressions(function.body))
        )

    return functions_that(module.device_functions, has_side_effect)


def inline_c_has_effect(function: ir.Function) -> bool:
    """Return whether the inline C of a function may write arrays or have another effect."""
    found = function.external_code or inline_c_body(function)
    return found is not None and not found.is_pure


def inline_c_body(function: ir.Function) -> ir.InlineC | None:
    """Return the inline C that is the body of a function, or None."""
    return next((s for s in function.body if isinstance(s, ir.InlineC)), None)


def has_effect(e: ir.Expr, effectful: frozenset[str]) -> bool:
    """Return whether this node itself, without its operands, has a side effect.

    ``effectful``: the device functions with side effects.
    """
    if isinstance(e, ir.Apply):
        return e.intrinsic.has_effect
    return isinstance(e, ir.Call) and e.function in effectful


def any_effect(e: ir.Expr, effectful: frozenset[str]) -> bool:
    """Return whether evaluating an expression has a side effect."""
    calls = [x for x in expressions(e) if isinstance(x, (ir.Apply, ir.Call))]
    return any(has_effect(x, effectful) for x in calls)


def reads_memory(e: ir.Expr) -> bool:
    """Return whether the value of an expression depends on memory."""
    return any(isinstance(x, (ir.Load, ir.Call)) for x in expressions(e))


def dynamic_shared_arrays(module: ir.Module) -> tuple[Array, ...]:
    """Return the types of the arrays in dynamic shared memory."""
    functions = module.functions
    arrays = (s.var for f in functions for s in statements(f.body) if isinstance(s, ir.Allocate))
    return tuple(a.type for a in arrays if isinstance(a.type, Array) and is_dynamic(a))


def is_dynamic(array: ir.Var) -> bool:
    """Return whether the launch sets the length of an array (dynamic shared memory)."""
    return isinstance(array.type, Array) and array.type.shape is None


def is_block_level(function: ir.Function) -> bool:
    """Return whether the CPU must run a device function for a whole block at once.

    This holds for barriers, busy-wait loops, shared memory, and access to the shared memory of
    other blocks.
    """
    for s in statements(function.body):
        if isinstance(s, ir.Allocate):
            if ir.memory_space(s.var) is MemorySpace.SHARED:
                return True
        elif isinstance(s, ir.For | ir.While) and is_busy_wait(s):
            return True
    if accesses_cluster(function.body):
        return True
    return any(
        isinstance(e, ir.Apply) and e.intrinsic.synchronizes for e in all_expressions(function.body)
    )


def accesses_cluster(body: ir.Body) -> bool:
    """Return whether a body accesses the shared memory of other blocks of the cluster."""
    if any(isinstance(s, ir.Store) and ir.in_cluster(s.array) for s in statements(body)):
        return True
    return any(isinstance(e, ir.Var) and ir.in_cluster(e) for e in all_expressions(body))


def block_level_functions(module: ir.Module) -> frozenset[str]:
    """Return the block-level device functions and those that call one.

    They include functions by which a loop reads what other threads write: the loop busy-waits.
    """
    polled, waiting = _functions_of_busy_waits(module)

    def is_or_calls_one(function: ir.Function, block_level: frozenset[str]) -> bool:
        if is_block_level(function) or function.name in waiting:
            return True
        return not block_level.isdisjoint(callees(function))

    return functions_that(module.device_functions, is_or_calls_one) | polled


def _functions_of_busy_waits(module: ir.Module) -> tuple[frozenset[str], frozenset[str]]:
    """Return the functions with atomics or fences that loops call, and those with such loops.

    Recursive functions are left out, as they cannot be inlined, and checks, which do not wait.
    """
    recursive = recursive_functions(module)
    names = polling_functions(module)
    polling = frozenset(name for name in names if not name.endswith(".check"))
    reached = transitive_callees(module.functions)
    polled, waiting = set[str](), set[str]()
    for function in module.functions:
        loops = tuple(s for s in statements(function.body) if may_busy_wait(s, frozenset(polling)))
        called = {e.function for e in all_expressions(loops) if isinstance(e, ir.Call)} & polling
        polled |= called.union(*(reached[name] & polling for name in called))
        if called - recursive:
            waiting.add(function.name)
    return frozenset(polled - recursive), frozenset(waiting - recursive)


def needs_cooperative_launch(module: ir.Module) -> bool:
    """Return whether the kernel synchronizes the whole grid."""
    codes = (function.external_code for function in module.device_functions)
    return any(code is not None and code.is_cooperative for code in codes) or any(
        e.intrinsic.effect is Effect.GRID for e in operations(module.functions)
    )


def may_be_contracted(e: ir.Expr) -> bool:
    """Return whether a node is floating-point arithmetic that contraction may change.

    A C compiler fuses a product and a sum into one FMA, rounded once, only where both are in the
    same expression. Under fastmath it also regroups products and multiplies by reciprocals. So
    recomputing such an expression elsewhere may give another result.
    """
    return isinstance(e, ir.Binary) and e.type.dtype.is_float


def is_speculatable(e: ir.Expr) -> bool:
    """Return whether an expression may be evaluated at another place, also for more threads.

    It is arithmetic on variables, without divisions that may be by 0.
    """
    return all(map(_is_speculatable_node, expressions(e)))


def _is_speculatable_node(e: ir.Expr) -> bool:
    match e:
        case ir.Binary(op=op, right=right):
            return op not in (C_DIV, C_REM) or isinstance(right, ir.Const)
        case ir.Apply(intrinsic=intrinsic):
            return intrinsic.is_pure and is_integer(e.type)
        case ir.Const() | ir.Var() | ir.Unary() | ir.Cast() | ir.Logical() | ir.Select():
            return True
        case _:
            return isinstance(e, ir.Dim | ir.Stride)


def is_rematerializable(e: ir.Expr) -> bool:
    """Return whether computing an expression again is as good as storing its value."""
    return is_speculatable(e) and not any(
        may_be_contracted(x)
        or (isinstance(x, ir.Apply) and x.arguments and x.intrinsic not in MIN_MAX_INTRINSICS)
        for x in expressions(e)
    )
