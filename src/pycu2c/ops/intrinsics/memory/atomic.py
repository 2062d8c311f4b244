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


def _called(function: str, *dtypes: DType) -> dict[DType, str]:
    return dict.fromkeys((INT32, UINT32, *dtypes), function)


@dataclass(frozen=True, slots=True, eq=False)
class _Spelling:
    """The spelling of an operation: CUDA's functions by type, gcc's builtin for integers."""

    name: str
    cuda: Mapping[DType, str]
    builtin: str = ""
    negates: tuple[DType, ...] = ()  # types for which CUDA only has the inverse operation

    def in_cuda(self, a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        """Spell in CUDA, which has no ``long long`` atomics; unsigned ones are equivalent."""
        place, *values = _operands(a)
        if dtype in self.cuda:
            if dtype in self.negates:
                values = [c.UnaryExpr("-", value) for value in values]
            return c.CallExpr(self.cuda[dtype], (place, *values))
        if dtype is not INT64 or UINT64 not in self.cuda:
            return c.CallExpr(f"atomic_{self.name}_{dtype.short}", (place, *values))
        word = c.NamedType(UINT64.cuda)
        words = {str(i): c.CastExpr(word, value) for i, value in enumerate(values)}
        call = self.in_cuda({"array": c.CastExpr(c.PointerType(word), place), **words}, UINT64)
        return c.CastExpr(c.NamedType(INT64.cuda), call)

    def in_c(self, a: Mapping[str, c.Expr], dtype: DType) -> c.Expr:
        """Spell in C, with acquire order: programs in CUDA's guide read data that other threads
        published with a fence after an atomic, without a second fence."""
        if self.builtin and dtype.is_integer:
            return c.CallExpr(self.builtin, (*_operands(a), c.Name("__ATOMIC_ACQUIRE")))
        return c.CallExpr(f"atomic_{self.name}_{dtype.short}", _operands(a))


def _operands(a: Mapping[str, c.Expr]) -> tuple[c.Expr, ...]:
    return tuple(value for name, value in a.items() if name != "index")


def _declare(
    spelling: _Spelling, dtypes: tuple[DType, ...], body: Callable[..., Any], name: str = ""
) -> Intrinsic:
    """Declare an atomic intrinsic, and its non-atomic variant."""
    stem = f"atomic_{spelling.name}"
    declared = intrinsic(
        f"cuda.atomic.{name or spelling.name}",
        effect=Effect.MEMORY,
        dtypes=dtypes,
        cuda=spelling.in_cuda,
        c=spelling.in_c,
        cuda_helpers=(stem,),
        c_helpers=(stem,),
    )(body)
    plain = f"plain_{spelling.name}"
    OWN[declared] = intrinsic(
        f"block.atomic.{name or spelling.name}",
        effect=Effect.MEMORY,
        dtypes=dtypes,
        c=lambda a, dtype: c.CallExpr(f"{plain}_{dtype.short}", _operands(a)),
        c_helpers=(plain,),
    )(body)
    return declared


OWN: dict[Intrinsic, Intrinsic] = {}


def _declare_update(
    spelling: _Spelling, dtypes: tuple[DType, ...], new: Callable[[Any, Any], Any], doc: str
) -> Intrinsic:
    """Declare an atomic update of an element with a value."""

    def body(array: array, index: index, value: T) -> T:
        element = scalar_of(array[index])
        assert element is not None
        if element.dtype.is_vector:
            return _part_by_part(array, index, convert(value, element), new)
        old = array[index]
        with np.errstate(all="ignore"):
            array[index] = convert(new(old, convert(value, element)), element)
        return old

    body.__doc__ = f"{doc}; return the old element."
    return _declare(spelling, dtypes, body)


def _part_by_part(array: Any, index: Any, value: Any, new: Callable[[Any, Any], Any]) -> Any:
    dtype = value.vector_type
    old = vector(dtype, array[index].item())
    with np.errstate(all="ignore"):
        array[index] = vector(dtype, [new(a, b) for a, b in zip(old, value)])
    return old


_NEGATED = (UINT64, FLOAT32, FLOAT64)
ADD = _declare_update(
    _Spelling("add", _called("atomicAdd", UINT64, *FLOATS), "__atomic_fetch_add"),
    NUMBERS,
    lambda old, value: old + value,
    "Add ``value`` to ``array[index]`` in one step, of complex numbers and vectors part by part",
)
SUB = _declare_update(
    _Spelling(
        "sub",
        _called("atomicSub") | dict.fromkeys(_NEGATED, "atomicAdd"),
        "__atomic_fetch_sub",
        _NEGATED,
    ),
    NUMBERS,
    lambda old, value: old - value,
    "Subtract ``value`` from ``array[index]`` in one step, part by part as ``add``",
)
AND = _declare_update(
    _Spelling("and_", _called("atomicAnd", UINT64), "__atomic_fetch_and"),
    INTEGERS,
    lambda old, value: old & value,
    "Keep the bits of ``array[index]`` that ``value`` has too, in one step",
)
OR = _declare_update(
    _Spelling("or_", _called("atomicOr", UINT64), "__atomic_fetch_or"),
    INTEGERS,
    lambda old, value: old | value,
    "Set the bits of ``value`` in ``array[index]``, in one step",
)
XOR = _declare_update(
    _Spelling("xor", _called("atomicXor", UINT64), "__atomic_fetch_xor"),
    INTEGERS,
    lambda old, value: old ^ value,
    "Flip the bits of ``value`` in ``array[index]``, in one step",
)
INC = _declare_update(
    _Spelling("inc", {UINT32: "atomicInc"}),
    UNSIGNED,
    lambda old, value: 0 if old >= value else old + old.dtype.type(1),
    "Add 1 to ``array[index]``, or set it to 0 from ``value`` on, in one step",
)
DEC = _declare_update(
    _Spelling("dec", {UINT32: "atomicDec"}),
    UNSIGNED,
    lambda old, value: value if old == 0 or old > value else old - old.dtype.type(1),
    "Subtract 1 from ``array[index]``, or set it to ``value`` if it is 0 or greater than that, "
    "in one step",
)
EXCHANGE = _declare_update(
    _Spelling("exch", _called("atomicExch", UINT64, FLOAT32), "__atomic_exchange_n"),
    NUMBERS,
    lambda old, value: value,
    "Set ``array[index]`` to ``value`` in one step",
)
MAX = _declare_update(
    _Spelling("max", _called("atomicMax", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value > old else old,
    "Set ``array[index]`` to ``value`` if that is greater, in one step",
)
MIN = _declare_update(
    _Spelling("min", _called("atomicMin", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value < old else old,
    "Set ``array[index]`` to ``value`` if that is less, in one step",
)
NANMAX = _declare_update(
    _Spelling("nanmax", _called("atomicMax", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value > old or old != old else old,
    "Set ``array[index]`` to ``value`` if that is greater, or it is NaN, in one step",
)
NANMIN = _declare_update(
    _Spelling("nanmin", _called("atomicMin", UINT64, INT64)),
    NUMBERS,
    lambda old, value: value if value < old or old != old else old,
    "Set ``array[index]`` to ``value`` if that is less, or it is NaN, in one step",
)


def _compare_and_swap(array: array, index: index, old: T, value: T) -> T:
    """Set ``array[index]`` to ``value`` if it is ``old``, in one step; return what it was."""
    found = array[index]
    if found == old:
        array[index] = value
    return found


def _of_the_first(array: array, old: T, value: T) -> T:
    """Set the first element to ``value`` if it is ``old``, in one step; return what it was."""
    return _compare_and_swap(array, (0,) * array.ndim, old, value)


_COMPARING = _Spelling("cas", _called("atomicCAS", UINT16, UINT64))
COMPARE_AND_SWAP = _declare(_COMPARING, NUMBERS, _compare_and_swap)
FIRST_COMPARE_AND_SWAP = _declare(_COMPARING, NUMBERS, _of_the_first, "compare_and_swap")

# operations on complex numbers and vectors, atomic for each component
BY_PARTS = (ADD, SUB)
