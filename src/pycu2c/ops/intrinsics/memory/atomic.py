"""Atomic read-modify-write operations on array elements.

They use CUDA's functions or gcc's builtins where these exist, else helpers with compare-exchange
loops (``codegen/helpers/atomic_helpers.py``). The intrinsics ``block.atomic.…`` are non-atomic
variants for memory of one OS thread. ``transforms/cpu/memory/plain_memory_operations`` selects
them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pycu2c.base.dtypes import (
    BFLOAT16,
    DTYPES,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT32,
    INT64,
    UINT16,
    UINT32,
    UINT64,
    DType,
)
from pycu2c.base.records import dataclass
from pycu2c.base.values import convert, scalar_of
from pycu2c.base.vectors import vector
from pycu2c.csyntax import nodes as c
from pycu2c.ops.intrinsics.kinds import T, array, index
from pycu2c.ops.intrinsics.registry import Effect, Intrinsic, intrinsic

INTEGERS = tuple(dtype for dtype in DTYPES if dtype.is_integer)
UNSIGNED = tuple(dtype for dtype in INTEGERS if not dtype.is_signed)
FLOATS = (FLOAT16, BFLOAT16, FLOAT32, FLOAT64)
NUMBERS = (*INTEGERS, *FLOATS)


def _function_by_dtype(function: str, *dtypes: DType) -> dict[DType, str]:
    return dict.fromkeys((INT32, UINT32, *dtypes), function)


@dataclass(frozen=True, slots=True, eq=False)
class _AtomicOperation:
    """An atomic operation: CUDA's functions by type, gcc's builtin for integers."""

    name: str
    cuda: Mapping[DType, str]
    builtin: str = ""
    negates: tuple[DType, ...] = ()  # types for which CUDA only has the inverse operation

    def cuda_call(self, a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        """Return the call in CUDA; unsigned atomics replace ``long long`` ones, which it lacks."""
        address, *values = _operands(a)
        if dtype in self.cuda:
            if dtype in self.negates:
                values = [c.UnaryExpr("-", value) for value in values]
            return c.CallExpr(self.cuda[dtype], (address, *values))
        if dtype is not INT64 or UINT64 not in self.cuda:
            return c.CallExpr(f"atomic_{self.name}_{dtype.short}", (address, *values))
        uint64 = c.NamedType(UINT64.cuda)
        unsigned_values = {str(i): _as_uint64(value) for i, value in enumerate(values)}
        call = self.cuda_call(
            {"array": c.CastExpr(c.PointerType(uint64), address), **unsigned_values}, UINT64
        )
        return c.CastExpr(c.NamedType(INT64.cuda), call)

    def c_call(self, a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        """Return the call in C, with acquire order: programs in CUDA's guide read data that other
        threads published with a fence after an atomic, without a second fence."""
        if self.builtin and dtype.is_integer:
            return c.CallExpr(self.builtin, (*_operands(a), c.Name("__ATOMIC_ACQUIRE")))
        return c.CallExpr(f"atomic_{self.name}_{dtype.short}", _operands(a))


def _as_uint64(value: c.Expr) -> c.Expr:
    """Return an int64 as a uint64: ``1LL`` as ``1ULL``."""
    match value:
        case c.Number(text) if text.removesuffix(INT64.suffix).isdecimal():
            return c.Number(f"{text.removesuffix(INT64.suffix)}{UINT64.suffix}")
        case _:
            return c.CastExpr(c.NamedType(UINT64.cuda), value)


def _operands(a: Mapping[str, c.Expr]) -> tuple[c.Expr, ...]:
    return tuple(value for name, value in a.items() if name != "index")


def _declare(
    operation: _AtomicOperation, dtypes: tuple[DType, ...], body: Callable[..., Any], name: str = ""
) -> Intrinsic:
    """Declare an atomic intrinsic, and its non-atomic variant."""
    declared = intrinsic(
        f"cuda.atomic.{name or operation.name}",
        effect=Effect.MEMORY,
        dtypes=dtypes,
        cuda=operation.cuda_call,
        c=operation.c_call,
    )(body)
    plain = f"plain_{operation.name}"
    NONATOMIC[declared] = intrinsic(
        f"block.atomic.{name or operation.name}",
        effect=Effect.MEMORY,
        dtypes=dtypes,
        c=lambda a, dtype: c.CallExpr(f"{plain}_{dtype.short}", _operands(a)),
    )(body)
    return declared


NONATOMIC: dict[Intrinsic, Intrinsic] = {}


def _declare_update(
    operation: _AtomicOperation, dtypes: tuple[DType, ...], new: Callable[[Any, Any], Any], doc: str
) -> Intrinsic:
    """Declare an atomic update of an element with a value."""

    def body(array: array, index: index, value: T) -> T:
        element = scalar_of(array[index])
        assert element is not None
        if element.dtype.is_vector:
            return _update_components(array, index, convert(value, element), new)
        old = array[index]
        with np.errstate(all="ignore"):
            array[index] = convert(new(old, convert(value, element)), element)
        return old

    body.__doc__ = f"{doc}; return the old element."
    return _declare(operation, dtypes, body)


def _update_components(array: Any, index: Any, value: Any, new: Callable[[Any, Any], Any]) -> Any:
    dtype = value.vector_type
    old = vector(dtype, array[index].item())
    with np.errstate(all="ignore"):
        array[index] = vector(dtype, [new(a, b) for a, b in zip(old, value)])
    return old


_NEGATED = (UINT64, FLOAT32, FLOAT64)
ADD = _declare_update(
    _AtomicOperation("add", _function_by_dtype("atomicAdd", UINT64, *FLOATS), "__atomic_fetch_add"),
    NUMBERS,
    lambda old, value: old + value,
    "Add ``value`` to ``array[index]`` atomically; complex numbers and vectors by component",
)
SUB = _declare_update(
    _AtomicOperation(
        "sub",
        _function_by_dtype("atomicSub") | dict.fromkeys(_NEGATED, "atomicAdd"),
        "__atomic_fetch_sub",
        _NEGATED,
    ),
    NUMBERS,
    lambda old, value: old - value,
    "Subtract ``value`` from ``array[index]`` atomically; complex numbers and vectors by component",
)
AND = _declare_update(
    _AtomicOperation("and_", _function_by_dtype("atomicAnd", UINT64), "__atomic_fetch_and"),
    INTEGERS,
    lambda old, value: old & value,
    "Clear the bits of ``array[index]`` that ``value`` does not have, atomically",
)
OR = _declare_update(
    _AtomicOperation("or_", _function_by_dtype("atomicOr", UINT64), "__atomic_fetch_or"),
    INTEGERS,
    lambda old, value: old | value,
    "Set the bits of ``value`` in ``array[index]``, atomically",
)
XOR = _declare_update(
    _AtomicOperation("xor", _function_by_dtype("atomicXor", UINT64), "__atomic_fetch_xor"),
    INTEGERS,
    lambda old, value: old ^ value,
    "Flip the bits of ``value`` in ``array[index]``, atomically",
)
INC = _declare_update(
    _AtomicOperation("inc", {UINT32: "atomicInc"}),
    UNSIGNED,
    lambda old, value: 0 if old >= value else old + old.dtype.type(1),
    "Add 1 to ``array[index]``, or set it to 0 if it is at least ``value``, atomically",
)
DEC = _declare_update(
    _AtomicOperation("dec", {UINT32: "atomicDec"}),
    UNSIGNED,
    lambda old, value: value if old == 0 or old > value else old - old.dtype.type(1),
    "Subtract 1 from ``array[index]``, or set it to ``value`` if it is 0 or greater than that, "
    "in one step",
)
EXCHANGE = _declare_update(
    _AtomicOperation(
        "exch", _function_by_dtype("atomicExch", UINT64, FLOAT32), "__atomic_exchange_n"
    ),
    NUMBERS,
    lambda old, value: value,
    "Set ``array[index]`` to ``value`` atomically",
)
MAX = _declare_update(
    _AtomicOperation("max", _function_by_dtype("atomicMax", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value > old else old,
    "Set ``array[index]`` to ``value`` if that is greater, atomically",
)
MIN = _declare_update(
    _AtomicOperation("min", _function_by_dtype("atomicMin", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value < old else old,
    "Set ``array[index]`` to ``value`` if that is less, atomically",
)
NANMAX = _declare_update(
    _AtomicOperation("nanmax", _function_by_dtype("atomicMax", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value > old or old != old else old,
    "Set ``array[index]`` to ``value`` if that is greater, or it is NaN, atomically",
)
NANMIN = _declare_update(
    _AtomicOperation("nanmin", _function_by_dtype("atomicMin", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value < old or old != old else old,
    "Set ``array[index]`` to ``value`` if that is less, or it is NaN, atomically",
)


def _compare_and_swap(array: array, index: index, old: T, value: T) -> T:
    """Set ``array[index]`` to ``value`` if it is ``old``, atomically; return what it was."""
    found = array[index]
    if found == old:
        array[index] = value
    return found


def _compare_and_swap_first(array: array, old: T, value: T) -> T:
    """Set the first element to ``value`` if it is ``old``, atomically; return what it was."""
    return _compare_and_swap(array, (0,) * array.ndim, old, value)


_COMPARE_AND_SWAP = _AtomicOperation("cas", _function_by_dtype("atomicCAS", UINT16, UINT64))
COMPARE_AND_SWAP = _declare(_COMPARE_AND_SWAP, NUMBERS, _compare_and_swap)
FIRST_COMPARE_AND_SWAP = _declare(
    _COMPARE_AND_SWAP, NUMBERS, _compare_and_swap_first, "compare_and_swap"
)

# operations on complex numbers and vectors, atomic for each component
COMPONENTWISE = (ADD, SUB)
