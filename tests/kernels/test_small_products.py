"""Launches in which products of integer arguments are small, and in which they may wrap."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, kernel
from pycu2c.base.backends import CPU_BACKENDS
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.compiler import generate
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels.assumption_checks import integer_ranges, small_products
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.runner import KernelMetadata, SpecializationKey
from pycu2c.toolchain.nvrtc import nvrtc


@kernel
def shifted(image, out, rows, columns):
    x, y = cuda.grid(2)
    if y < rows - 1 and x < columns:
        at = y * columns + x
        out[at] = image[(y + 1) * columns + x] + 1


@kernel
def brick(a, out, depth, height, width):
    x, y, z = cuda.grid(3)
    if x >= width or y >= height or z >= depth:
        return
    out[(z * height + y) * width + x] = a[z * height * width + y * width + x] + 1


@kernel
def by_number(a, out, rows, columns):
    for k in range(cuda.grid(1), rows * columns, cuda.gridsize(1)):
        y = k // columns
        x = k - y * columns
        if y > 0 and x > 0:
            out[k] = a[(y - 1) * columns + x - 1]


@kernel
def square(a, out, n):
    for i in range(n):
        out[i * n + cuda.grid(1)] = a[cuda.grid(1) * n + i]


@kernel
def reassigned(a, out, rows, columns):
    x, y = cuda.grid(2)
    columns *= 2
    if y < rows and x < columns:
        out[y * columns + x] = a[y * columns + x]


@kernel
def unrelated(a, out, rows, columns):
    out[rows] = a[columns] + rows


@pytest.mark.parametrize("kind", ["int32", "int"])
@pytest.mark.parametrize(
    ("tested", "integers", "expected"),
    [
        (shifted, 2, {(2, 3)}),
        (by_number, 2, {(2, 3)}),
        (square, 1, {(2, 2)}),
        (reassigned, 2, set()),
        (unrelated, 2, set()),
    ],
)
def test_the_products_that_the_compiler_needs(
    tested: Kernel, integers: int, kind: str, expected: set[tuple[int, ...]]
) -> None:
    numbers = f", {kind}" * integers
    metadata = metadata_of(tested, f"void(float32[::1], float32[::1]{numbers})")
    assert set(metadata.integer_products) == expected


def metadata_of(tested: Kernel, signature: str) -> Any:
    return tested.launcher.typed_kernel(parse_signature(signature)).metadata


@pytest.mark.parametrize(
    ("tested", "integers", "axes"), [(shifted, 2, 2), (brick, 3, 3), (by_number, 2, 1)]
)
@pytest.mark.parametrize("target", ["cuda", "cpu"])
def test_int32_indices_of_small_products_need_no_test(
    tested: Kernel, integers: int, axes: int, target: str
) -> None:
    signature = parse_signature(f"void(float32[::1], float32[::1]{', int32' * integers})")
    built = tested.launcher.compiler.build(signature)
    products = tested.launcher.typed_kernel(signature).metadata.integer_products
    block = (8, 8, 8)[:axes] + (1,) * (3 - axes) if target in CPU_BACKENDS else None
    texts = [
        generate(built.module, TARGETS[target], LaunchAssumptions(True, block, small_products=p))
        for p in ((), products)
    ]
    assert [is_guarded(t.text) for t in texts] == [True, False]
    if target == "cuda":
        for text in texts:
            nvrtc.compile(text.text, text.entry, "sm_90", cache=False)


def is_guarded(text: str) -> bool:
    return "a_len" in text or "image_len" in text


def in_numpy(rows: int, columns: int, image: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``shifted`` of the threads of one block of 4 x 4."""
    expected = out.copy()
    for y in range(min(4, rows - 1)):
        for x in range(min(4, columns)):
            with np.errstate(over="ignore"):
                at = np.int32(y) * np.int32(columns) + np.int32(x)
                below = np.int32(y + 1) * np.int32(columns) + np.int32(x)
            expected[at] = image[below] + 1
    return expected


SIZES = [
    (3, 4), (4, 3), (3, 4), (0, 4), (4, 0), (-3, 4), (4, -3), (3, 4), (2, 2**29), (2, 2**30 - 1),
    (2**29, 1), (2**29 + 1, 1), (2**30 - 1, 2), (3, 4), (2**31 - 1, 3), (2**15, 4), (2**28, 2),
    (1, 1),
]  # fmt: skip


@pytest.mark.parametrize("kind", [np.int32, int])
def test_launches_of_any_sizes_in_turn(kind: type, target: str) -> None:
    """Each size three times: later launches are dispatched in C."""
    tested = kernel(shifted.python, backend=target)
    for rows, columns in SIZES:
        for _ in range(3):
            image, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
            if rows > 1 and columns * min(4, rows - 1) + 4 > 64:
                continue  # beyond the array
            tested[1, (4, 4)](image, out, kind(rows), kind(columns))
            np.testing.assert_array_equal(out, in_numpy(rows, columns, image, out * 0))


@kernel
def wrapping(out, rows, columns):
    y = cuda.grid(1) + 2**14
    if y < rows:
        at = y * columns
        out[at] = at


def test_a_product_that_wraps_to_an_index(target: str) -> None:
    """2**14 * 2**18 is 0 in int32, and 2**32 as a Python int."""
    tested = kernel(wrapping.python, backend=target)
    for columns, rows in ((2**18, 2**15), (0, 2**15), (2**18, 2**15), (0, 2**15)) * 2:
        out = np.full(4, 7)
        tested[1, 1](out, np.int32(rows), np.int32(columns))
        assert out.tolist() == [0, 7, 7, 7]


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        ((2**14, 2**15), True),
        ((2**14 + 1, 2**15), False),
        ((0, 1), False),
        ((-3, -5), False),
        ((2**29, 1), True),
    ],
)
def test_a_product_is_small_up_to_a_limit(factors: tuple[int, int], expected: bool) -> None:
    metadata = KernelMetadata(frozenset(), integer_products=((0, 1),))
    assert bool(small_products(metadata, factors)) is expected


PRODUCTS = [((0, 1),), ((0, 0),), ((0, 1), (1, 2)), ((0, 1, 2), (1, 2)), ((0, 0, 1), (2, 2))]
NUMBERS = (-5, 0, 1, 2, 700, 900, 2**14, 2**14 + 1, 30000, 2**20 + 3, 2**29, 2**29 + 1, 2**30 - 1)


@pytest.mark.parametrize("products", PRODUCTS)
def test_dispatched_launches_take_the_variant_of_the_recorded_one(products: Any) -> None:
    """Each range has the recorded integer, and no corner of the ranges needs another variant."""
    limits = dict.fromkeys(range(3), 2**30 - 1)
    metadata = KernelMetadata(frozenset(), integer_products=products)
    for leaves in itertools.product(NUMBERS, repeat=3):
        chosen = small_products(metadata, leaves)
        key = SpecializationKey("cpu", LaunchAssumptions(True, small_products=chosen))
        ranges = integer_ranges(key, leaves, metadata, limits)
        assert all(low <= leaves[i] <= high for i, (low, high) in ranges.items())
        for corner in itertools.product(*(ranges[i] for i in range(3))):
            assert small_products(metadata, corner) == chosen


def test_images_of_usual_sizes_share_an_entry_of_the_dispatch_table() -> None:
    tested = kernel(shifted.python, backend="cpu")
    for rows, columns in ((3, 4), (3, 4), (3, 4), (4, 3), (1, 1), (2, 20), (2, 60)):
        image, out = np.zeros(130, np.float32), np.zeros(130, np.float32)
        tested[1, (4, 4)](image, out, np.int32(rows), np.int32(columns))
    table = tested.launcher.dispatch_table
    assert table is not None
    assert len(table._recorded) == 1


def test_the_cpu_computes_indices_of_int32_sizes_in_64_bits() -> None:
    """Loop counters have 64 bits: conversions of them hide the stride from C compilers."""
    signature = parse_signature("void(float32[::1], float32[::1], int32, int32)")
    built = shifted.launcher.compiler.build(signature)
    assumptions = LaunchAssumptions(True, (8, 8, 1), small_products=((2, 3),))
    text = generate(built.module, TARGETS["cpu"], assumptions).text
    assert "int64_t at = y * columns + x;" in text
    assert "out[at] = image[(y + 1) * columns + x] + 1" in text
