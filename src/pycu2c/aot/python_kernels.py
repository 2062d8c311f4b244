"""Export kernels in Python: lower each for its signatures, index widths and targets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias

from pycu2c.analysis.effects import needs_cooperative_launch
from pycu2c.analysis.suspension_points import coroutine_loop
from pycu2c.aot.exported_library import (
    ExportedKernel,
    ExportedLibrary,
    ExportedSignature,
    ExportError,
    KernelFunction,
    KernelRequest,
    TargetName,
    Variant,
)
from pycu2c.aot.record_types import names_of_records, unique_names
from pycu2c.aot.typed_kernels import KernelWithSignature, type_kernel
from pycu2c.base.dtypes import DType
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import MAX_BLOCK_THREADS
from pycu2c.base.records import dataclass, replace
from pycu2c.codegen import multi_module
from pycu2c.codegen.dialect import Dialect
from pycu2c.codegen.inline_c import links_of
from pycu2c.compiler import lower
from pycu2c.declarations.link_files import links_for_target
from pycu2c.declarations.options import Options
from pycu2c.ir import nodes as ir
from pycu2c.kernels.kernel import Kernel
from pycu2c.kernels.specialization import target_of

Lowered: TypeAlias = tuple[ir.Module, Dialect]
MAX_PARAMETERS = 256  # as in runtime/launch.h


def export_python(
    name: str,
    requests: Sequence[KernelRequest],
    targets: Sequence[TargetName],
) -> ExportedLibrary:
    """Lower kernels with the same options for their signatures.

    Raises ExportError if a library cannot have one of the kernels, CompileError if one is not valid
    for its signature.
    """
    options = _common_options([request.kernel for request in requests])
    names = {request.kernel.name for request in requests}
    typed = [list(type_kernel(request, names)) for request in requests]
    every = [kernel for group in typed for kernel in group]
    emitted = {target: _emit_target(name, target, every) for target in targets}
    texts = {target: text.text for target, text in emitted.items()}
    functions = {target: text.functions for target, text in emitted.items()}
    exported = tuple(_exported_kernel(group, functions) for group in typed)
    records = unique_names(name, _record_names(every), {*names, "LaunchError", "Library"})
    return ExportedLibrary(name, exported, texts, options, tuple(targets), records=records)


def _record_names(typed: Sequence[KernelWithSignature]) -> dict[DType, str]:
    """Return the names of the records in arrays; the first name of each."""
    names: dict[DType, str] = {}
    for each in typed:
        scope = each.kernel.python.__globals__
        for argument in each.arguments:
            fallback = f"{each.kernel.name}_{argument.name}"
            names = {**names_of_records(argument.type.dtype, fallback, scope), **names}
    return names


def _common_options(kernels: Sequence[Kernel[object]]) -> Options:
    """Return the options with which all kernels are compiled. Raises ExportError."""

    def of_file(options: Options) -> Options:
        return replace(
            options,
            cluster=(),
            launch_bounds=(),
            programmatic_stream_serialization=False,
            strict=False,
            wraparound=True,
            weak_float=None,
        )

    first, *others = kernels
    for kernel in others:
        if of_file(kernel.options) != of_file(first.options):
            raise ExportError(
                f"{first.name} and {kernel.name} have different options (fmad, fastmath, "
                "max_registers, lineinfo): build two libraries"
            )
    return first.options


@dataclass(frozen=True, slots=True)
class _EmittedTarget:
    """The text for a target, and its functions by the name of the variant."""

    text: str
    functions: dict[str, KernelFunction]


def _emit_target(
    library: str, target: TargetName, typed: Sequence[KernelWithSignature]
) -> _EmittedTarget:
    """Lower all variants of kernels and emit one text. Variants with equal code share it."""
    lowered: dict[str, Lowered] = {}
    for kernel in typed:
        variants = [
            (name, _lower_variant(library, target, kernel, name, assumed))
            for name, assumed in kernel.variants
            if target == "cpu" or assumed.block is None
        ]
        for name, pair in variants:
            same = (lowered[other] for other, _ in variants if other in lowered)
            lowered[name] = next((other for other in same if _have_same_text(other, pair)), pair)
    pairs = list({id(pair): pair for pair in lowered.values()}.values())
    file = multi_module.emit_file(pairs, "none")
    entries = {id(pair): entry for pair, entry in zip(pairs, file.entries)}
    functions = {
        name: _function(target, entries[id(pair)], pair[0].kernel) for name, pair in lowered.items()
    }
    for function in functions.values():
        if len(function.parameters) > MAX_PARAMETERS:
            raise ExportError(f"{function.name} has more than {MAX_PARAMETERS} parameters in C")
    return _EmittedTarget(file.text, functions)


def _function(target: TargetName, name: str, kernel: ir.Function) -> KernelFunction:
    is_coroutine = coroutine_loop(kernel.body) is not None
    has_avx512 = target == "cpu" and not is_coroutine
    return KernelFunction(name, kernel.parameters, is_coroutine, has_avx512=has_avx512)


def _lower_variant(
    library: str,
    target: TargetName,
    typed: KernelWithSignature,
    name: str,
    assumed: LaunchAssumptions,
) -> Lowered:
    entry = f"{library}_{name}_body" if target == "cpu" else name
    module = replace(typed.module, kernel=replace(typed.module.kernel, name=entry))
    options = typed.kernel.options
    chosen = target_of(target, options)
    lowered = lower(module, chosen, assumed, options)
    _check_has_no_links(typed.kernel, lowered, chosen.dialect)
    return lowered, chosen.dialect


def _check_has_no_links(kernel: Kernel[object], module: ir.Module, dialect: Dialect) -> None:
    options = kernel.options.with_links(links_of(module))
    for file in links_for_target(options.link, dialect.name):
        raise ExportError(
            f"{kernel.name} is linked with {file} (link=), which libraries do not support: pass "
            "the text of its functions to cuda.c_function"
        )


def _have_same_text(first: Lowered, second: Lowered) -> bool:
    """Return whether two variants of a kernel have the same text except for their names."""
    texts = (multi_module.emit_file([pair], "none") for pair in (first, second))
    (name, text), (other_name, other) = ((file.entries[0], file.text) for file in texts)
    return text == re.sub(rf"\b{other_name}(?=\b|_)", name, other)


def _exported_kernel(
    group: Sequence[KernelWithSignature], functions: dict[TargetName, dict[str, KernelFunction]]
) -> ExportedKernel:
    signatures = []
    for typed in group:
        variants = tuple(
            Variant(
                assumed, {t: by_name[name] for t, by_name in functions.items() if name in by_name}
            )
            for name, assumed in typed.variants
        )
        signatures.append(ExportedSignature(typed.name, typed.arguments, variants))
    first = group[0]
    kernel, options = first.kernel, first.kernel.options
    _check_same_interface(kernel.name, signatures)
    x, y, z = (*options.cluster, 1, 1, 1)[:3]
    span = first.module.kernel.span
    return ExportedKernel(
        kernel.name,
        (kernel.python.__doc__ or "").strip(),
        f"{re.sub(r'.*/', '', span.file)}:{span.line}",
        tuple(signatures),
        tuple(sorted({rule for typed in group for rule in typed.module.kernel.overlap_rules})),
        options.launch_bounds[0] if options.launch_bounds else MAX_BLOCK_THREADS,
        (x, y, z),
        any(needs_cooperative_launch(typed.module) for typed in group),
    )


def _check_same_interface(name: str, signatures: Sequence[ExportedSignature]) -> None:
    """Check that one C function can launch all signatures. Raises ExportError."""
    if len({tuple(a.is_array for a in s.arguments) for s in signatures}) > 1:
        raise ExportError(
            f"an argument of {name} is an array in one signature and a number in another: build "
            "two libraries"
        )
    arrays = [tuple(a.type for a in s.arguments if a.is_array) for s in signatures]
    if len(set(arrays)) < len(arrays):
        raise ExportError(
            f"two signatures of {name} have the same array types, by which a launch selects the "
            "signature: remove one"
        )
