"""Limits of a typed module: the memory of its arrays, and the width of its integer constants."""

from __future__ import annotations

import math
from typing import NoReturn

from pycu2c.base.diagnostics import Label, fail
from pycu2c.base.external_code import ExternalCode
from pycu2c.base.records import dataclass
from pycu2c.base.source import Span
from pycu2c.base.types import WEAK_INT, Array, MemorySpace
from pycu2c.frontend.expressions.arithmetic import fits_64_bits
from pycu2c.frontend.subset.unsupported_syntax import INTEGER_TOO_WIDE
from pycu2c.ir.nodes import Allocate, Const, Module
from pycu2c.ir.walk import all_expressions, statements


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """The owner of a memory space, its size in bytes, and the hint for more."""

    owner: str
    max_bytes: int
    hint: str


MEMORY_LIMITS = {
    MemorySpace.SHARED: MemoryLimit(
        "block",
        48 * 1024,
        "use dynamic shared memory: cuda.shared.array(0, dtype), k[grid, block, stream, bytes]",
    ),
    MemorySpace.LOCAL: MemoryLimit(
        "thread", 512 * 1024, "pass an array with a row for each thread"
    ),
}


def array_bytes(array_type: Array) -> int:
    """Return the bytes of an array; 0 for dynamic shared memory."""
    return 0 if array_type.shape is None else array_type.dtype.size * math.prod(array_type.shape)


def has_cuda_code(code: ExternalCode | None) -> bool:
    """Return whether the body of a function is for the CPU and the interpreter only."""
    return code is not None and code.code("cuda") is not None


def report_too_large(array_type: Array, size: int, span: Span, prefix: str = "") -> NoReturn:
    limit = MEMORY_LIMITS[array_type.space]
    fail(
        "shape",
        Label(span, f"{prefix}{size} bytes; a {limit.owner} has {limit.max_bytes}"),
        hint=limit.hint,
    )


def check_memory_limits(module: Module) -> None:
    """Check the sums of all arrays of a module's functions, except those that CUDA C replaces.

    Raises CompileError.
    """
    total = dict.fromkeys(MEMORY_LIMITS, 0)
    for function in (*module.device_functions, module.kernel):
        if has_cuda_code(function.external_code):
            continue
        for s in statements(function.body):
            if not isinstance(s, Allocate):
                continue
            array_type = s.var.type
            assert isinstance(array_type, Array)
            total[array_type.space] += array_bytes(array_type)
            if total[array_type.space] > MEMORY_LIMITS[array_type.space].max_bytes:
                report_too_large(
                    array_type, total[array_type.space], s.span, "with the arrays before it "
                )


def check_integer_constants(module: Module) -> None:
    """Check that each integer constant fits in 64 bits. Raises CompileError."""
    for function in (module.kernel, *module.device_functions):
        for e in all_expressions(function.body):
            if isinstance(e, Const) and e.type == WEAK_INT and not fits_64_bits(int(e.value)):
                INTEGER_TOO_WIDE.report(e.span)
