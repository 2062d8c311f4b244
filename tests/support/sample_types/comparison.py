"""Compare the types that the compiler infers with those of samples, node by node."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from pycu2c.base.recursion_limit import frames_for_calls
from pycu2c.base.source import Source
from pycu2c.base.types import ParameterType
from pycu2c.declarations.options import DEFAULT_OPTIONS, Options
from pycu2c.frontend.function_context import BuildOptions
from pycu2c.kernels import specialization
from support.ast_interpreter.weak_floats import ReferenceTypes
from support.sample_types.recording import compiled_types
from support.sample_types.type_inference import inferred_from


class DifferentTypes(AssertionError):
    """The compiler and the samples give a syntax node different types."""


def check_types(
    source: Source, types: Sequence[ParameterType], options: Options = DEFAULT_OPTIONS
) -> ReferenceTypes:
    """Return the types of samples; raise DifferentTypes if the compiler's are others."""
    checked = bool(options.check)
    samples = inferred_from(source, types, checked=checked)
    compiled = compiled_types(source, types, BuildOptions(options.cluster, checked))
    found = [*differences(compiled, samples)]
    if found:
        raise DifferentTypes("\n".join(found))
    return samples


def check_launches() -> None:
    """Check the types of each kernel that the interpreter runs from now on."""
    new_runner = specialization._interpreter_runner

    def checked_runner(kernel: specialization.Specialization) -> specialization.InterpreterRunner:
        with frames_for_calls(2 * len(kernel.built.module.device_functions)):
            check_types(kernel.source, kernel.signature.parameters, kernel.options)
        return new_runner(kernel)

    specialization._interpreter_runner = checked_runner


def differences(
    ours: ReferenceTypes, samples: ReferenceTypes, *, all_reached: bool = False
) -> Iterator[str]:
    """Yield the nodes with different types in a kernel and in its device functions.

    Nodes without a type of samples are not compared. Nodes that the compiler finds unreachable have
    no type; ``all_reached``: there are none.
    """
    yield from _differences_in("kernel", ours, samples, all_reached)
    for source, by_kinds in ours.variants.items():
        for kinds, types in by_kinds.items():
            others = samples.variants.get(source, {})
            is_only_one = len(others) == len(by_kinds) == 1
            other = others.get(kinds) or (next(iter(others.values())) if is_only_one else None)
            if other is not None:
                yield from _differences_in(source.name, types, other, all_reached)


def _differences_in(
    name: str, ours: ReferenceTypes, samples: ReferenceTypes, all_reached: bool
) -> Iterator[str]:
    assert ours.tree is not None
    assert samples.tree is not None
    nodes = ast.walk(ours.tree)
    calls_itself = any(isinstance(n, ast.Call) and _called(n) == name for n in nodes)
    for a, b in _pairs(ours.tree, samples.tree):
        if calls_itself and isinstance(a, ast.Return):
            continue  # samples may have the result of an earlier step of the inference
        for table in ("local_types", "join_types"):
            compiled, sampled = getattr(ours, table), getattr(samples, table)
            is_compared = b in sampled and (all_reached or a in compiled)
            if is_compared and compiled.get(a) != sampled[b]:
                text = f"{name}, line {getattr(a, 'lineno', 0)}, {type(a).__name__}"
                yield f"{text}: {compiled.get(a)}, by samples {sampled[b]}"


def _called(call: ast.Call) -> str | None:
    return call.func.id if isinstance(call.func, ast.Name) else None


def _pairs(a: ast.AST, b: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield corresponding nodes; those of loops that only one of the two unrolls have none."""
    if type(a) is type(b):
        yield a, b
        for x, y in zip(ast.iter_child_nodes(a), ast.iter_child_nodes(b)):
            yield from _pairs(x, y)
