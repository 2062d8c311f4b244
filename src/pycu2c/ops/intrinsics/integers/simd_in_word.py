"""CUDA's SIMD-in-a-word arithmetic on 2 numbers of 16 bits or 4 of 8 bits: ``cuda.vadd4``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pycu2c.ops.intrinsics.integers.simd_in_word_operations import OPERATIONS, Operation
from pycu2c.ops.intrinsics.registry import Intrinsic, intrinsic
from pycu2c.ops.intrinsics.spelling import overloaded


def parts_of(word: int, bits: int, signed: bool) -> list[int]:
    """Return the numbers in a word, the lowest first."""
    found = []
    for at in range(0, 32, bits):
        part = word >> at & ((1 << bits) - 1)
        found.append(part - (1 << bits) if signed and part >> (bits - 1) else part)
    return found


def _computed(op: Operation, bits: int, x: Any, y: Any) -> Any:
    pairs = zip(parts_of(int(x), bits, op.signed), parts_of(int(y), bits, op.signed))
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if op.signed else (0, (1 << bits) - 1)
    word = 0
    for place, (a, b) in enumerate(pairs):
        value = op.compute(a, b)
        value = min(max(value, least), most) if op.saturates else value
        word |= (value & ((1 << bits) - 1)) << place * bits
    return np.uint32(word)


def _declare(name: str, body: Callable[..., Any], doc: str, takes: int) -> Intrinsic:
    body.__doc__ = doc
    body.__annotations__ = dict.fromkeys(("x", "y")[:takes], "uint32") | {"return": "uint32"}
    return intrinsic(
        f"cuda.{name}", cuda=overloaded(f"__{name}"), c=overloaded(name), c_helpers=(name,)
    )(body)


def _of_parts(op: Operation, count: int) -> Intrinsic:
    bits = 32 // count

    def of_one(x: Any) -> Any:
        return _computed(op, bits, x, 0)

    def of_two(x: Any, y: Any) -> Any:
        return _computed(op, bits, x, y)

    kind = "with a sign" if op.signed else "without a sign"
    end = ", not beyond the ends" if op.saturates else ""
    doc = f"{op.said}, of {count} numbers of {bits} bits {kind} each{end}."
    return _declare(f"{op.name}{count}", of_one if op.takes == 1 else of_two, doc, op.takes)


def _sum_of_differences(count: int, signed: bool) -> Intrinsic:
    bits = 32 // count

    def body(x: Any, y: Any) -> Any:
        pairs = zip(parts_of(int(x), bits, signed), parts_of(int(y), bits, signed))
        return np.uint32(sum(abs(a - b) for a, b in pairs))

    kind = "with a sign" if signed else "without a sign"
    doc = f"The sum of ``|a - b|``, of {count} numbers of {bits} bits {kind} each."
    return _declare(f"vsad{'s' if signed else 'u'}{count}", body, doc, 2)


PACKED = tuple(_of_parts(op, count) for op in OPERATIONS for count in (2, 4))
SUMS = tuple(_sum_of_differences(count, signed) for count in (2, 4) for signed in (True, False))
