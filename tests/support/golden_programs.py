"""Golden kernels as one program in C, with data and expected results from the reference."""

from __future__ import annotations

import functools
import struct
import warnings
from pathlib import Path

import numpy as np

from pycu2c import CompileWarning
from pycu2c.declarations.signatures import parse_signature
from pycu2c.ir.nodes import ArgumentPart
from pycu2c.kernels.specialization import generate_text
from pycu2c.runtime.arguments.arguments import layout_of, pack
from pycu2c.runtime.arguments.array_argument import ArrayArgument
from pycu2c.runtime.cpu import cpu_kernel
from pycu2c.runtime.launch_configuration import LAUNCH_HEADER, extent
from support.golden_kernels import kernel_of, module_of
from support.launching import run
from support.paths import TESTS

# barriers, shared memory, atomics, reductions, early returns, library functions, halves
CASES = (
    ("activations", ""),
    ("bitonic_sort", ""),
    ("black_scholes", ""),
    ("block_max", ""),
    ("complex_multiply", ""),
    ("dot_product", ""),
    ("early_return", ""),
    ("floor_division", ""),
    ("histogram_global", ""),
    ("histogram_shared", ""),
    ("integer_hash", ""),
    ("life", ""),
    ("monte_carlo", ""),
    ("reduce_sum", "f32"),
    ("saxpy_half", "f16"),
    ("scan", ""),
    ("softmax", ""),
)


def write_program(folder: Path) -> tuple[list[str], Path]:
    """The C files of a program, and the data to call it with."""
    texts, data = _program()
    for name, text in texts.items():
        (folder / name).write_text(text)
    path = folder / "launches"
    path.write_bytes(data)
    return list(texts), path


@functools.cache
def _program() -> tuple[dict[str, str], bytes]:
    texts = {
        "golden_program.c": (TESTS / "support" / "golden_program.c").read_text(),
        "pool.c": cpu_kernel.pool_text(),
    }
    entries, data = [], b""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for name, chosen in CASES:
            variant = chosen or next(iter(module_of(name).SIGNATURES))
            entry, text, launch = _kernel(name, variant)
            entries.append(entry)
            texts[f"kernel_{entry}.c"] = text
            data += launch
    texts["table.c"] = _table(entries)
    return texts, data


def _table(entries: list[str]) -> str:
    declared = "".join(f"void {e}(const void *, int64_t, int64_t);\n" for e in entries)
    rows = "".join(f'    {{"{e}", {e}}},\n' for e in entries)
    return (
        f"#include <stdint.h>\n{declared}"
        "const struct {\n    const char *name;\n"
        "    void (*body)(const void *, int64_t, int64_t);\n"
        f"}} kernels[] = {{\n{rows}}};\nconst int kernel_count = {len(entries)};\n"
    )


def _kernel(name: str, variant: str) -> tuple[str, str, bytes]:
    kernel = kernel_of(name)
    grid, block, values = module_of(name).case(np.random.default_rng(1), variant)
    expected = run(kernel, (grid, block), values, "python")
    signature = parse_signature(module_of(name).SIGNATURES[variant])
    blocks, threads = extent(grid, "grid", name), extent(block, "block", name)
    made = generate_text(
        kernel.launcher.compiler.build(signature), "cpu", kernel.options, block=threads
    )
    layout = layout_of(made.parameters)
    leaves = kernel.launcher.flatten(values).leaves
    head = LAUNCH_HEADER.pack(*blocks, *threads, 0)
    packed = head + pack(layout, leaves, [0] * len(leaves))
    arrays = b""
    pointers = [
        (offset, p.argument)
        for offset, p in zip(layout.offsets, made.parameters)
        if p.part is ArgumentPart.DATA
    ]
    for offset, position in pointers:
        assert isinstance(leaves[position], ArrayArgument)
        before, after = values[position], expected[position]
        assert before.flags.c_contiguous
        kind = before.dtype.itemsize if before.dtype in (np.float32, np.float64) else 0
        arrays += struct.pack("<3q", LAUNCH_HEADER.size + offset, before.nbytes, kind)
        arrays += before.tobytes() + after.tobytes()
    count = blocks[0] * blocks[1] * blocks[2]
    return (
        made.entry,
        made.text,
        struct.pack("<3q", count, len(packed), len(pointers)) + packed + arrays,
    )
