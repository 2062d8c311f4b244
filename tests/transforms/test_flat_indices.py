"""The flat index of an element of a contiguous array, and of its neighbours."""

from __future__ import annotations

import ast
import itertools
import math
import re

import numpy as np

from pycu2c import cuda, kernel
from pycu2c.base.limits import INDEX32_LIMIT
from support.launching import run

VOLUMES = "float32[:, :, ::1], float32[:, :, ::1]"


@kernel
def neighbors(u, out):
    k, j, i = cuda.grid(3)
    if 1 < i < u.shape[0] - 1 and 0 < j < u.shape[1] - 1 and 0 < k < u.shape[2] - 1:
        rows = u[i - 1, j, k] + 2 * u[i + 1, j, k] + 3 * u[i, j - 1, k] + 4 * u[i, j + 1, k]
        corners = 5 * u[i - 1, j + 1, k] + 6 * u[i + 1, j - 1, k - 1] + 7 * u[i - 2, j, k + 1]
        out[i, j, k] = rows + corners


def flat_indices() -> list[str]:
    """Return the indices of ``u`` in CUDA C, in the order of the kernel's text."""
    text = neighbors.inspect("cuda", VOLUMES)
    for name in ("row", "offset"):
        (value,) = re.findall(rf"int {name} = (.*);", text)
        text = re.sub(rf"\b{name}\b", f"({value})", text)
    return re.findall(r"\bu\[(.*?)\]", text)


def evaluate(e: ast.expr, values: dict[str, int], largest: list[int]) -> int:
    """Return the value of ``e``; append the magnitude of each intermediate result."""
    match e:
        case ast.Name(name):
            return values[name]
        case ast.Constant(int(value)):
            return value
        case ast.BinOp(left, op, right):
            x, y = evaluate(left, values, largest), evaluate(right, values, largest)
            value = {ast.Add: x + y, ast.Sub: x - y, ast.Mult: x * y}[type(op)]
            largest.append(abs(value))
            return value
    raise AssertionError(ast.dump(e))


def test_neighbors(target: str) -> None:
    u = np.arange(5 * 4 * 6, dtype=np.float32).reshape(5, 4, 6)
    _, out = run(neighbors, ((3, 2, 2), (2, 2, 4)), [u, np.zeros_like(u)], target)
    expected = np.zeros_like(u)
    for i, j, k in itertools.product(range(2, 4), range(1, 3), range(1, 5)):
        rows = u[i - 1, j, k] + 2 * u[i + 1, j, k] + 3 * u[i, j - 1, k] + 4 * u[i, j + 1, k]
        corners = 5 * u[i - 1, j + 1, k] + 6 * u[i + 1, j - 1, k - 1] + 7 * u[i - 2, j, k + 1]
        expected[i, j, k] = rows + corners
    np.testing.assert_array_equal(out, expected)


def test_neighboring_rows_share_a_start() -> None:
    text = neighbors.inspect("cuda", VOLUMES)
    assert "int row = (i * u_shape1 + j) * u_shape2;" in text
    assert "int offset = u_shape1 * u_shape2;" in text
    for distance in ("- offset", "+ offset", "- u_shape2", "+ u_shape2"):
        assert f"u[row + k {distance}]" in text


def test_indices_of_the_largest_arrays_fit_into_32_bits() -> None:
    indices = flat_indices()
    assert len(indices) == 7
    offsets = [(-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (-1, 1, 0), (1, -1, -1), (-2, 0, 1)]
    lengths = [1, 2, 3, 1 << 10, 1 << 15, 1 << 20, 1 << 29, 1 << 30]
    shapes = [s for s in itertools.product(lengths, repeat=3) if math.prod(s) <= INDEX32_LIMIT]
    largest: list[int] = []
    for index, distance in zip(indices, offsets, strict=True):
        tree = ast.parse(index, mode="eval").body
        for shape in shapes:
            for element in itertools.product(*({0, n - 1} for n in shape)):
                values = dict(zip("ijk", np.subtract(element, distance).tolist(), strict=True))
                values |= {"u_shape1": shape[1], "u_shape2": shape[2]}
                assert evaluate(tree, values, largest) == np.ravel_multi_index(element, shape)
    assert INDEX32_LIMIT < max(largest) < 1 << 31
