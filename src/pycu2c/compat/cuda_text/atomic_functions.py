"""Generate CUDA C's atomic updates from the declarations of intrinsics.

Each update has a function per type and scope (``atomicAdd``, ``atomicAdd_block``,
``atomicAdd_system``), and a variant without atomicity in the namespace ``non_atomic``, for shared
memory: only one OS thread accesses it (``fission/shared_atomics.py``).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from pycu2c.base.dtypes import FLOAT32, FLOAT64, INT32, INT64, UINT32, UINT64, DType
from pycu2c.codegen.helpers.catalog import helpers_in_text, texts_of
from pycu2c.csyntax import nodes as c
from pycu2c.csyntax.expression_printer import print_expr
from pycu2c.ops.intrinsics.memory import atomic
from pycu2c.ops.intrinsics.registry import Intrinsic

# exchange and compare-and-swap also yield in busy-wait loops: headers/atomics.h defines them
_UPDATES = (
    *(atomic.ADD, atomic.SUB, atomic.AND, atomic.OR, atomic.XOR),
    *(atomic.MIN, atomic.MAX, atomic.INC, atomic.DEC),
)
_INTEGERS: Mapping[str, DType] = {
    "int": INT32,
    "unsigned": UINT32,
    "long": INT64,
    "unsigned long": UINT64,
    "long long": INT64,
    "unsigned long long": UINT64,
}
_FLOATS: Mapping[str, DType] = {"float": FLOAT32, "double": FLOAT64}
_SCOPES = ("", "_block", "_system")


@functools.cache
def atomic_functions() -> str:
    """Return the definitions of all updates."""
    overloads = [(update, *overload) for update in _UPDATES for overload in _overloads(update)]
    atomic_texts = [
        _definition(update, _cuda_name(update) + scope, type_name, dtype)
        for update, type_name, dtype in overloads
        for scope in _SCOPES
    ]
    non_atomic_texts = [
        _definition(atomic.NONATOMIC[update], _cuda_name(update), type_name, dtype)
        for update, type_name, dtype in overloads
    ]
    using_declarations = [
        f"using pycu2c::{_cuda_name(u)}{scope};" for u in _UPDATES for scope in _SCOPES
    ]
    definitions = "\n".join((*atomic_texts, *non_atomic_texts))
    return "\n".join(
        (
            "namespace pycu2c {",
            *texts_of(helpers_in_text(definitions), "c"),
            *atomic_texts,
            "namespace non_atomic {",
            *non_atomic_texts,
            "} // namespace non_atomic",
            "} // namespace pycu2c",
            *using_declarations,
        )
    )


def _cuda_name(update: Intrinsic) -> str:
    return _cuda_function(update, UINT32)


def _overloads(update: Intrinsic) -> Iterator[tuple[str, DType]]:
    """Yield the C type and dtype of each overload: CUDA's, and signed 64-bit integers."""
    if INT32 not in update.dtypes:
        yield "unsigned", UINT32
        return
    yield from _INTEGERS.items()
    for type_name, dtype in _FLOATS.items():
        if dtype in update.dtypes and _cuda_function(update, dtype) == _cuda_name(update):
            yield type_name, dtype


def _cuda_function(update: Intrinsic, dtype: DType) -> str:
    """Return the name of the CUDA function for a dtype."""
    assert update.cuda is not None
    call = update.cuda({"array": c.Name("address"), "value": c.Name("value")}, dtype)
    assert isinstance(call, c.CallExpr)
    return call.function


def _definition(update: Intrinsic, name: str, type_name: str, dtype: DType) -> str:
    assert update.c is not None
    element = c.CastExpr(c.PointerType(c.NamedType(dtype.c)), c.Name("address"))
    result = print_expr(update.c({"array": element, "value": c.Name("value")}, dtype))
    head = f"static inline {type_name} {name}({type_name} *address, {type_name} value)"
    return f"{head} {{ return {result}; }}"
