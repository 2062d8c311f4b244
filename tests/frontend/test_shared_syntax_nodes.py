"""Syntax nodes that all trees of a process share, and that other packages set attributes of."""

# mypy: ignore-errors

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.base.source import copy_tree
from pycu2c.cupy import jit
from support.launching import run

EVERY_SHARED_NODE = """
x = -x + x * x - x / x // x % x ** x << x >> x & x | x ^ x
y = not x and x or ~x < x <= x == x != x > x >= x
del x
"""


class OtherTree:
    """In place of the tree of another file, which may be any size."""

    def __deepcopy__(self, memo: object) -> None:
        raise AssertionError("the compiler copied the tree of another file")


@pytest.fixture(autouse=True)
def nodes_with_a_parent() -> Iterator[None]:
    """As ``executing`` sets it, which IPython formats each traceback with."""
    shared = [node for node in ast.walk(ast.parse(EVERY_SHARED_NODE)) if not node._attributes]
    shared = [node for node in shared if not node._fields]
    for node in shared:
        node.parent = OtherTree()
    assert vars(ast.parse("z").body[0].value.ctx)
    yield
    for node in shared:
        vars(node).pop("parent", None)


def unrolled():
    @kernel
    def k(out):
        i = cuda.grid(1)
        for step in (1, 2.5):
            for nested in (3, 4.5):
                out[i] = out[i] + nested * step
            if not (step > 2 and out[i] < 0):
                out[i] -= -step

    return k


def of_numba():
    @cuda.jit(device=True)
    def positive(x):
        x + 1
        if x > 0:
            return x

    @cuda.jit
    def k(out):
        i = cuda.grid(1)
        out[i] = positive(out[i] + i)

    return k


def of_cupy():
    @jit.rawkernel()
    def k(out):
        for _ in jit.range(3, unroll=True):
            out[jit.threadIdx.x] -= 1

    return k


@pytest.mark.filterwarnings("ignore::pycu2c.CompileWarning")
@pytest.mark.parametrize(
    ("make", "expected"),
    [(unrolled, [29.75] * 4), (of_numba, [0, 1, 2, 3]), (of_cupy, [-3] * 4)],
)
def test_kernels_whose_syntax_trees_are_copied(target: str, make, expected: list[float]) -> None:
    """The tree is copied when the kernel is decorated, or when it is compiled."""
    assert run(make(), (1, 4), [np.zeros(4)], target)[0].tolist() == expected


def test_a_copied_tree_is_independent() -> None:
    tree = ast.parse("def f(x, *y, z=3):\n    return [x + 1, *y][z]\n")
    copied = copy_tree(tree)
    assert ast.dump(copied, include_attributes=True) == ast.dump(tree, include_attributes=True)
    of_tree = {id(n) for n in ast.walk(tree)}
    assert of_tree.isdisjoint(id(n) for n in ast.walk(copied))
