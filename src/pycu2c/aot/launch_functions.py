"""Write the tables that describe the kernels of a library, and its launch functions."""

from __future__ import annotations

from collections.abc import Iterator

from pycu2c.aot.exported_library import (
    ExportedArgument,
    ExportedKernel,
    ExportedLibrary,
    ExportedSignature,
    KernelFunction,
    TargetName,
    Variant,
)
from pycu2c.aot.headers import export_macro, number_type, prototype, wrapped
from pycu2c.base.dtypes import BFLOAT16, DType, DTypeKind
from pycu2c.base.types import Array

_DLPACK_CODES = {
    DTypeKind.BOOL: "kDLBool",
    DTypeKind.SIGNED: "kDLInt",
    DTypeKind.UNSIGNED: "kDLUInt",
    DTypeKind.FLOAT: "kDLFloat",
    DTypeKind.COMPLEX: "kDLComplex",
}


def write_launch_functions(library: ExportedLibrary) -> str:
    """Return the text of ``NAME_launch.c``."""
    has_cpu, has_cuda = "cpu" in library.targets, "cuda" in library.targets
    lines = [
        "#define _GNU_SOURCE  /* for the cores of the process */",
        f'#include "{library.name}.h"',
    ]
    lines += ["#define PYCU2C_HAS_CPU"] * has_cpu
    if library.has_coroutines:
        lines.append(f"#define PYCU2C_COROUTINES(name) {library.name}_pycu2c_##name")
    if library.cpp_units:
        lines.append(f"#define PYCU2C_FIBERS(name) {library.name}_pycu2c_##name")
    lines += [f'#define PYCU2C_IMAGES "../{library.name}_images.h"'] * has_cuda
    kinds = {k.inferred_grid.kind for k in library.kernels if k.inferred_grid}
    lines += [f"#define PYCU2C_{kind.upper()}" for kind in sorted(kinds)]
    lines += ['#include "runtime/launch.h"']
    lines += ['#include "runtime/inferred_grids.h"'] * bool(kinds)
    for kernel in library.kernels:
        lines += ["", *_kernel_tables(kernel)]
    lines += [
        "",
        f"{export_macro(library)} const char *{library.name}_last_error(void) {{",
        "    return message;",
        "}",
    ]
    for kernel in library.kernels:
        lines += ["", f"{prototype(library, kernel)} {{", *_launch(kernel), "}"]
    return "\n".join(lines) + "\n"


def _kernel_tables(kernel: ExportedKernel) -> Iterator[str]:
    yield f"/* ---- {kernel.name} ---- */"
    for signature in kernel.signatures:
        yield from _signature_tables(kernel, signature)
    yield ""
    yield f"static const struct signature {kernel.name}_signatures[] = {{"
    for signature in kernel.signatures:
        count = len(signature.variants)
        yield f"    {{{signature.name}_arguments, {signature.name}_variants, {count}}},"
    yield "};"
    rules = "NULL"
    if kernel.rules:
        rules = f"{kernel.name}_rules"
        items = ", ".join(
            f"{{{r.written}, {r.read}, {str(r.may_be_same).lower()}}}" for r in kernel.rules
        )
        yield f"static const struct overlap_rule {rules}[] = {{{items}}};"
    yield f"static const struct kernel {kernel.name}_kernel = {{"
    fields = {
        "name": f'"{kernel.name}"',
        "argument_count": len(kernel.signatures[0].arguments),
        "signatures": f"{kernel.name}_signatures",
        "signature_count": len(kernel.signatures),
        "rules": rules,
        "rule_count": len(kernel.rules),
        "max_threads": kernel.max_threads,
        "cluster": f"{{{', '.join(map(str, kernel.cluster))}}}",
        "is_cooperative": str(kernel.is_cooperative).lower(),
    }
    for field, value in fields.items():
        yield f"    .{field} = {value},"
    yield "};"


def _signature_tables(kernel: ExportedKernel, signature: ExportedSignature) -> Iterator[str]:
    yield f"static const struct argument {signature.name}_arguments[] = {{"
    for position, argument in enumerate(signature.arguments):
        is_double = not argument.is_array and number_type(kernel, position) == "double"
        yield f"    {_argument(argument, is_double)},"
    yield "};"
    tables = [
        "\n".join(_function_tables(target, function))
        for variant in signature.variants
        for target, function in variant.functions.items()
    ]
    yield from dict.fromkeys(tables)  # several variants may have the same function
    yield f"static const struct variant {signature.name}_variants[] = {{"
    yield from (f"{_variant(variant)}," for variant in signature.variants)
    yield "};"


def _function_tables(target: TargetName, function: KernelFunction) -> Iterator[str]:
    if function.is_coroutine:
        yield f"extern const struct coroutine_kernel {function.name};"
    elif function.runs_fibers:
        yield f"extern const struct fiber_kernel {function.name};"
    elif function.has_avx512:
        yield f"kernel_body {function.name}, {function.avx512_name};"
    elif target == "cpu":
        yield f"kernel_body {function.name};"
    else:
        yield f"static loaded_kernel {function.name}_loaded[IMAGE_COUNT];"
    parameters = [
        f"{{{p.part.name}, {p.argument}, {p.axis}, {size}}}"
        for p, size in zip(function.parameters, function.sizes())
    ]
    start = f"static const struct parameter {_table(target, function)}[] = {{"
    yield wrapped(start, parameters or ["{VALUE, 0, 0, 1}"], "};")


def _table(target: TargetName, function: KernelFunction) -> str:
    """Return the name of the table of the parameters of a function."""
    return f"{function.name}_on_{'cpu' if target == 'cpu' else 'gpu'}"


def _argument(argument: ExportedArgument, is_double: bool) -> str:
    kind = argument.type
    axes = str(kind.ndim) if isinstance(kind, Array) else "IS_NUMBER"
    axes = "ANY_AXES" if argument.has_any_axes else axes
    contiguous = isinstance(kind, Array) and kind.layout == "C"
    limit = f"INT64_C({argument.index_limit})" if argument.index_limit else "0"
    flags = f"{contiguous}, {is_double}".lower()
    dlpack_type = _dlpack_type(kind.dtype, argument.lanes)
    return f'{{"{argument.name}", {dlpack_type}, {axes}, {flags}, {limit}}}'


def _dlpack_type(dtype: DType, lanes: int) -> str:
    code = "kDLBfloat" if dtype is BFLOAT16 else _DLPACK_CODES[dtype.kind]
    return f"{{{code}, {dtype.bits}, {lanes}}}"


def _variant(variant: Variant) -> str:
    parts = []
    if variant.assumptions.index32_safe:
        parts.append(".needs_small_indices = true")
    if variant.assumptions.block is not None:
        parts.append(f".block = {{{', '.join(map(str, variant.assumptions.block))}}}")
    for target, function in variant.functions.items():
        parameters = f"{{{_table(target, function)}, {len(function.parameters)}}}"
        if target == "cpu":
            code = ".coroutines = &" if function.is_coroutine else ".body = "
            if function.runs_fibers:
                code = f".run = PYCU2C_FIBERS({function.runs_fibers}), .fibers = &"
            parts += [f"{code}{function.name}", f".cpu_parameters = {parameters}"]
            if function.has_avx512:
                parts.append(f".avx512 = AVX512({function.avx512_name})")
        else:
            parts += [f'.entry = "{function.name}"', f".loaded = {function.name}_loaded"]
            parts += [f".module = {function.module}", f".gpu_parameters = {parameters}"]
    return wrapped("    {", parts, "}")


def _launch(kernel: ExportedKernel) -> Iterator[str]:
    addresses = []
    for position, argument in enumerate(kernel.arguments):
        if argument.is_array:
            addresses.append(argument.name)
            continue
        name = argument.name
        if number_type(kernel, position) == "bool":
            name = f"{argument.name}_number"
            yield f"    const int64_t {name} = {argument.name};"
        addresses.append(f"&{name}")
    fields = ["arguments", "grid", "block", "shared_bytes", "stream"]
    call = "launch(&l)"
    if kernel.inferred_grid:
        kind, state = kernel.inferred_grid.kind, kernel.inferred_grid.state
        fields, call = ["arguments", "stream"], f"launch_{kind}(&l, &state)"
        initial = [f".{field} = {value}" for field, value in state.items()]
        yield wrapped(f"    struct {kind} state = {{", initial, "};")
        addresses += [f"&state.{field}" for field in kernel.inferred_grid.implicit]
    yield wrapped("    const void *const arguments[] = {", addresses, "};")
    initial = [f".kernel = &{kernel.name}_kernel", *(f".{field} = {field}" for field in fields)]
    yield wrapped("    struct launch l = {", initial, "};")
    yield f"    return {call};"
