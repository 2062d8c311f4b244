"""A synchronization program: a kernel, its launches, and their expected results from numpy.

@program(2, 64, ints(100), zeros(100))
def doubled(a, out):
    ...the kernel...

@doubled.gives
def _(a, out):
    out[:] = 2 * a
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from pycu2c.declarations.options import parse_options
from pycu2c.kernels.kernel import Kernel

Made: TypeAlias = "Callable[[np.random.Generator], Any]"
Extent: TypeAlias = "int | tuple[int, ...]"


def ints(*shape: int, low: int = -50, high: int = 50, dtype: Any = np.int32) -> Made:
    """An array of random whole numbers."""
    return lambda rng: rng.integers(low, high, shape).astype(dtype)


def zeros(*shape: int, dtype: Any = np.int32) -> Made:
    return lambda _: np.zeros(shape, dtype)


def full(*shape: int, value: int, dtype: Any = np.int32) -> Made:
    return lambda _: np.full(shape, value, dtype)


def shuffled(count: int) -> Made:
    """The numbers from 0 in another order."""
    return lambda rng: rng.permutation(count).astype(np.int32)


def array(values: Any, dtype: Any = np.int32) -> Made:
    return lambda _: np.array(values, dtype)


@dataclass(frozen=True)
class Case:
    """A launch. ``arguments`` are numbers, or what makes arrays."""

    grid: Extent
    block: Extent
    arguments: tuple[Any, ...]
    shared: int = 0  # bytes of dynamic shared memory

    @property
    def configuration(self) -> tuple[Any, ...]:
        return (self.grid, self.block, None, self.shared)[: 4 if self.shared else 2]

    def given(self) -> list[Any]:
        rng = np.random.default_rng(len(self.arguments))
        return [a(rng) if callable(a) else a for a in self.arguments]


@dataclass
class Program:
    """``unordered``: the arguments whose elements may come in any order."""

    kernel: Kernel
    cases: list[Case]
    unordered: tuple[int, ...] = ()
    expected: Callable[..., None] = field(init=False)

    @property
    def name(self) -> str:
        return self.kernel.name

    def gives(self, expected: Callable[..., None]) -> Callable[..., None]:
        """``expected`` changes its arguments as the kernel does."""
        self.expected = expected
        return expected

    def also(self, grid: Extent, block: Extent, *arguments: Any) -> None:
        """Another launch."""
        self.cases.append(Case(grid, block, arguments))

    def compared(self, arguments: list[Any]) -> list[Any]:
        """The arrays in the order in which they are compared."""
        return [
            np.sort(a, axis=None) if i in self.unordered else a
            for i, a in enumerate(arguments)
            if isinstance(a, np.ndarray)
        ]


def program(
    grid: Extent,
    block: Extent,
    *arguments: Any,
    unordered: tuple[int, ...] = (),
    shared: int = 0,
    **options: object,
) -> Callable[[Callable[..., Any]], Program]:
    """Declare a program by its kernel, which has these options."""

    def declare(python: Any) -> Program:
        made = Kernel(python, options=parse_options(options))
        return Program(made, [Case(grid, block, arguments, shared)], unordered)

    return declare
