"""The vocabulary in which barriers and warp operations declare their result on the CPU.

The ``collective=`` of a declaration is a function of a ``Collective``, which stands for the call of
one thread. It says what the thread contributes before the threads wait, and returns the value that
the thread computes from all contributions::

    @_vote(collective=lambda call: call.ballot("holds", call["predicate"]) != 0)
    def any_sync(mask: int, predicate: bool) -> bool: ...

``transforms/cpu/barriers/collective_ir.py`` implements both classes for IR. CUDA C texts have the
functions of ``compat/cuda_text/headers/synchronization.h``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from pycu2c.ops import operators as ops
from pycu2c.ops.intrinsics.reference_thread import WARP

Operand: TypeAlias = "Value | int"


class Value(Protocol):
    """An expression of one thread. Operators return expressions; an int is a literal."""

    @property
    def constant(self) -> int | None:
        """The value if it is a literal, else None."""

    def literal(self, value: int) -> Value:
        """Return a literal of the same type."""

    def binary(self, op: ops.Operator, other: Value) -> Value: ...

    def as_int32(self) -> Value: ...

    def logical_not(self) -> Value: ...

    def logical_or(self, other: Value) -> Value: ...

    def select(self, if_true: Operand, if_false: Value) -> Value:
        """Return ``if_true`` where this condition holds, else ``if_false``."""

    def wrapping_add(self, other: Value) -> Value:
        """Return the sum, with wraparound instead of overflow."""

    def _apply(self, op: ops.Operator, other: Operand) -> Value:
        return self.binary(op, self.literal(other) if isinstance(other, int) else other)

    def __add__(self, other: Operand) -> Value:
        return self._apply(ops.ADD, other)

    def __sub__(self, other: Operand) -> Value:
        return self._apply(ops.SUB, other)

    def __rsub__(self, other: int) -> Value:
        return self.literal(other).binary(ops.SUB, self)

    def __and__(self, other: Operand) -> Value:
        return self._apply(ops.AND, other)

    def __or__(self, other: Operand) -> Value:
        return self._apply(ops.OR, other)

    def __xor__(self, other: Operand) -> Value:
        return self._apply(ops.XOR, other)

    def __rlshift__(self, other: int) -> Value:
        return self.literal(other).binary(ops.C_SHL, self)

    def __rshift__(self, other: Operand) -> Value:
        return self._apply(ops.C_SHR, other)

    def __lt__(self, other: Operand) -> Value:
        return self._apply(ops.LT, other)

    def __gt__(self, other: Operand) -> Value:
        return self._apply(ops.GT, other)

    def __ge__(self, other: Operand) -> Value:
        return self._apply(ops.GE, other)

    def __eq__(self, other: Operand) -> Value:  # type: ignore[override]
        return self._apply(ops.EQ, other)

    def __ne__(self, other: Operand) -> Value:  # type: ignore[override]
        return self._apply(ops.NE, other)


class Collective(Protocol):
    """The call of one thread. ``name`` names a contribution in generated code."""

    def __getitem__(self, parameter: str) -> Value:
        """Return an argument of the call."""

    @property
    def thread(self) -> Value:
        """The rank of the thread in its block."""

    @property
    def lane(self) -> Value:
        return self.thread & (WARP - 1)

    @property
    def participants(self) -> Value:
        """The mask of the lanes that take part in a match."""

    def count(self, name: str, condition: Value) -> Value:
        """Return the number of threads of the block for which a condition holds."""

    def ballot(self, name: str, condition: Value | None = None) -> Value:
        """Return the mask of the lanes of the call, or of those for which a condition holds.

        If the operation has a parameter ``mask``, other lanes are left out.
        """

    def shuffle(
        self, source: Value, is_in_range: Value | None = None, otherwise: Value | None = None
    ) -> Value:
        """Return the argument ``value`` of the thread ``source``.

        If ``source`` is not in range, it is that of the thread ``otherwise``, by default its own.
        """

    def matching_lanes(self) -> Value:
        """Return the mask of the participating lanes with the same argument ``value``."""

    def reduce(self, combine: Callable[[Value, Value], Value], start: int | None = None) -> Value:
        """Combine the arguments ``value`` of the participating lanes, from ``start`` on.

        By default the combination starts with the thread's own value, which it then includes twice.
        """


CollectiveResult: TypeAlias = Callable[[Collective], Value]
