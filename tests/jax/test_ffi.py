"""Kernels as functions of JAX programs: ``pycu2c.jax.ffi``."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pycu2c.jax
from aot import exported, exported_records
from pycu2c import cuda, device, kernel
from pycu2c.aot.exported_library import ExportError
from pycu2c.base.diagnostics import LaunchError
from pycu2c.jax import foreign_functions
from pycu2c.toolchain.cache import artifact_store
from support.frameworks import jax_platforms

jax.config.update("jax_enable_x64", True)


@pytest.fixture(params=jax_platforms(), autouse=True)
def platform(request: pytest.FixtureRequest) -> Iterator[str]:
    """Run a test on each platform of JAX."""
    with jax.default_device(jax.devices(request.param)[0]):
        yield request.param


@kernel
def axpy(x, y, by):
    i = cuda.grid(1)
    if i < len(x):
        y[i] += x[i] * by


@kernel
def scale(x, out, by=2.0):
    i = cuda.grid(1)
    values, result = x.reshape(x.size), out.reshape(out.size)
    if i < x.size:
        result[i] = values[i] * by


@kernel
def add_and_subtract(x, total, y, difference):
    i = cuda.grid(1)
    if i < len(x):
        total[i] = x[i] + y[i]
        difference[i] = x[i] - y[i]


@kernel
def reads(x):
    assert x[0] >= 0


def blocks(x: Any, *_: Any) -> int:
    return -(-x.size // 128)


def check_equal(platform: str, result: Any, expected: np.ndarray) -> None:
    """Compare with a launch: bit for bit on the CPU."""
    assert result.dtype == expected.dtype
    if platform == "cpu":
        assert np.asarray(result).tobytes() == expected.tobytes()
    np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-6)


def numbers(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(7).uniform(0.5, 1.5, shape).astype(dtype)


IMAGE_BLOCK = (16, 8)


def image_grid(a: Any, weight: float) -> tuple[int, int]:
    height, width = a.shape
    return -(-width // 16), -(-height // 8)


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["eager", "jit"])
def test_kernel_with_declared_types(platform: str, wrap: Any) -> None:
    image, expected = numbers(70, 71), np.zeros((70, 71), np.float32)
    kernel(exported.stencil.python, backend=platform)[(5, 9), IMAGE_BLOCK](image, expected, 0.2)
    stencil = pycu2c.jax.ffi(exported.stencil, grid=image_grid, block=IMAGE_BLOCK)
    check_equal(platform, wrap(lambda a: stencil(a, 0.2))(jnp.asarray(image)), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_kernel_is_compiled_for_the_types_of_arguments(platform: str, dtype: str) -> None:
    x, y = (jnp.asarray(numbers(1000), dtype) for _ in range(2))
    expected = np.array(y)
    kernel(axpy.python, backend=platform)[8, 128](np.asarray(x), expected, 0.3)
    f = pycu2c.jax.ffi(axpy, grid=blocks, block=128)
    check_equal(platform, jax.jit(lambda x, y: f(x, y, 0.3))(x, y), expected)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.uint32, np.complex64])
def test_types_of_elements(dtype: Any) -> None:
    x = np.arange(200).astype(dtype)

    @kernel
    def copy(x, out):
        i = cuda.grid(1)
        if i < len(x):
            out[i] = x[i]

    f = jax.jit(pycu2c.jax.ffi(copy, grid=2, block=100))
    np.testing.assert_array_equal(f(x), x)


@pytest.mark.parametrize("lanes", [2, 4])
def test_vectors_are_the_elements_along_the_last_axis(platform: str, lanes: int) -> None:
    v = numbers(20, lanes)
    f = pycu2c.jax.ffi(exported_records.shift, grid=1, block=32, out_shapes={"out": "v"})
    expected = v + np.eye(1, lanes, dtype=np.float32)
    check_equal(platform, jax.jit(f)(jnp.asarray(v)), expected)


def test_records_are_the_bytes_along_the_last_axis(platform: str) -> None:
    pixels = np.zeros((3, 5), exported_records.color)
    pixels["g"] = np.arange(15).reshape(3, 5)
    f = pycu2c.jax.ffi(
        exported_records.gray,
        grid=1,
        block=(8, 8),
        out_shapes=jax.ShapeDtypeStruct((3, 5, 4), np.float32),
    )
    result = jax.jit(f)(jnp.asarray(pixels[..., None].view(np.uint8)))
    check_equal(platform, result[..., 2], pixels["g"].astype(np.float32))
    with pytest.raises(LaunchError, match=r"pixels.* is declared"):
        f(jnp.zeros((3, 5, 2), np.uint8))


def test_several_results_are_in_the_order_of_the_parameters() -> None:
    x, y = numbers(300), numbers(300) + 1
    f = jax.jit(pycu2c.jax.ffi(add_and_subtract, grid=blocks, block=128))
    total, difference = f(x, y)
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(difference, x - y)


STRUCT = jax.ShapeDtypeStruct((20,), np.float64)


SHAPES = [STRUCT, [STRUCT], {"sums": STRUCT}, lambda *_: STRUCT, {"sums": lambda a, first: STRUCT}]


@pytest.mark.parametrize("out_shapes", SHAPES)
def test_shapes_of_results(platform: str, out_shapes: Any) -> None:
    x, expected = numbers(2500, dtype=np.float64), np.zeros(20)
    kernel(exported.block_sums.python, backend=platform)[20, 128](x, expected, 7)
    f = pycu2c.jax.ffi(exported.block_sums, grid=20, block=128, out_shapes=out_shapes)
    check_equal(platform, jax.jit(lambda x: f(x, 7))(x), expected)


def test_shape_of_an_argument() -> None:
    f = pycu2c.jax.ffi(add_and_subtract, grid=1, block=4, out_shapes=["y", "x"])
    total, difference = f(np.ones(4), np.ones(4, np.float32))
    assert (total.dtype, difference.dtype) == (np.float32, np.float64)


# ---- arrays that are read and written ----


def test_updated_array_is_a_result(platform: str) -> None:
    x, y = jnp.asarray(numbers(1000)), jnp.ones(1000, np.float32)
    f = pycu2c.jax.ffi(axpy, grid=blocks, block=128)
    check_equal(
        platform, jax.jit(lambda x, y: f(x, y, 2.0))(x, y), numbers(1000) * 2 + np.float32(1)
    )
    assert (y == 1).all()  # unchanged


def test_updated_array_may_be_another_argument() -> None:
    x = jnp.asarray(numbers(1000))
    f = pycu2c.jax.ffi(axpy, grid=blocks, block=128)
    np.testing.assert_array_equal(jax.jit(lambda x: f(x, x, 1.0))(x), 2 * numbers(1000))


def test_donated_array_is_updated_in_place() -> None:
    x, y = jnp.ones(1000), jnp.ones(1000)
    address = y.unsafe_buffer_pointer()
    f = pycu2c.jax.ffi(axpy, grid=blocks, block=128)
    result = jax.jit(lambda x, y: f(x, y, 2.0), donate_argnums=1)(x, y)
    assert y.is_deleted()
    assert result.unsafe_buffer_pointer() == address
    assert (result == 3).all()


def test_elements_that_are_not_stored() -> None:
    @kernel
    def store_even(x, out):
        i = cuda.grid(1)
        if i < len(x) and i % 2 == 0:
            out[i] = x[i]

    f = pycu2c.jax.ffi(store_even, grid=1, block=8, out_shapes={})
    np.testing.assert_array_equal(f(jnp.arange(8), jnp.zeros(8, int)), [0, 0, 2, 0, 4, 0, 6, 0])


def test_atomic_sums_start_from_an_argument() -> None:
    @kernel
    def count(values, counts):
        i = cuda.grid(1)
        if i < len(values):
            cuda.atomic.add(counts, values[i], 1)

    values = np.random.default_rng(3).integers(0, 10, 5000)
    counts = jax.jit(pycu2c.jax.ffi(count, grid=blocks, block=128))(values, jnp.zeros(10, int))
    np.testing.assert_array_equal(counts, np.bincount(values))


@device
def store(array, i, value):
    array[i] = value


def test_results_that_are_passed_to_functions_are_named() -> None:
    @kernel
    def twice(x, out):
        i = cuda.grid(1)
        if i < len(x):
            store(out, i, 2 * x[i])

    f = pycu2c.jax.ffi(twice, grid=blocks, block=128, out_shapes={"out": "x"})
    np.testing.assert_array_equal(f(numbers(500)), 2 * numbers(500))
    g = pycu2c.jax.ffi(twice, grid=blocks, block=128)
    np.testing.assert_array_equal(g(numbers(500), np.zeros(500, np.float32)), 2 * numbers(500))


# ---- batches ----


@pytest.mark.parametrize("in_axes", [(0, 0), (0, None), (None, 0), (1, 0)])
def test_batch_is_launched_element_by_element(in_axes: tuple[Any, Any]) -> None:
    f = pycu2c.jax.ffi(add_and_subtract, grid=blocks, block=128)
    shapes = {0: (5, 300), 1: (300, 5), None: (300,)}
    x, y = (numbers(*shapes[axis]) for axis in in_axes)
    expected = jax.vmap(lambda x, y: (x + y, x - y), in_axes)(x, y)
    for result, right in zip(jax.jit(jax.vmap(f, in_axes))(x, y), expected):
        np.testing.assert_array_equal(result, right)


@pytest.mark.parametrize("depth", [1, 2])
def test_batch_is_launched_once(depth: int) -> None:
    @kernel
    def add(x, y, out):
        i = cuda.grid(1)
        a, b, result = x.reshape(x.size), y.reshape(y.size), out.reshape(out.size)
        if i < x.size:
            result[i] = a[i] + b[i]

    f = pycu2c.jax.ffi(
        add, grid=blocks, block=128, out_shapes={"out": "x"}, vmap_method="broadcast_all"
    )
    function = lambda x: f(x, jnp.ones(300, np.float32))  # noqa: E731
    for _ in range(depth):
        function = jax.vmap(function)
    x = numbers(*(3, 2)[:depth], 300)
    lowered = jax.jit(function).lower(x)
    assert lowered.as_text().count(".add.") == 0
    assert lowered.as_text().count("custom_call @add.") == 1
    assert "while" not in lowered.as_text()
    np.testing.assert_array_equal(lowered.compile()(x), x + 1)


def test_broadcast_shapes_have_the_batch() -> None:
    f = pycu2c.jax.ffi(
        scale,
        grid=blocks,
        block=128,
        out_shapes={"out": jax.ShapeDtypeStruct((300,), np.float32)},
        vmap_method="broadcast_all",
    )
    with pytest.raises(TypeError, match="a result of scale has no axis for the batch"):
        jax.vmap(lambda x: f(x, 2.0))(numbers(3, 300))


# ---- wrong calls ----


def test_traced_numbers_are_rejected() -> None:
    f = pycu2c.jax.ffi(axpy, grid=1, block=128)
    x = jnp.ones(10)
    with pytest.raises(TypeError, match="by is traced, but a number is a constant"):
        jax.jit(lambda x, by: f(x, x, by))(x, 2.0)
    np.testing.assert_array_equal(f(x, x, jnp.float64(2)), 3 * x)  # known when it is traced
    static = jax.jit(lambda x, by: f(x, x, by), static_argnums=1)
    np.testing.assert_array_equal(static(x, 3.0), 4 * x)


WRONG: dict[str, tuple[Any, dict[str, Any], tuple[Any, ...], str]] = {
    "no grid": (axpy, {"grid": None}, (), "axpy needs a grid and a block"),
    "count": (axpy, {}, (np.ones(3),), r"axpy takes \(x, y, by\), not 1 arguments; to change"),
    "unknown result": (
        axpy,
        {"out_shapes": {"x": "y"}},
        (np.ones(3), 2.0),
        "out_shapes has x, and axpy writes no such array",
    ),
    "number of shapes": (
        add_and_subtract,
        {"out_shapes": STRUCT},
        (np.ones(3), np.ones(3)),
        r"for each of the results \(total, difference\)",
    ),
    "no array": (scale, {"out_shapes": {"out": "x"}}, (1.0, 2.0), "out_shapes is"),
    "list": (
        add_and_subtract,
        {},
        ([1.0], [2.0]),
        r"no argument is an array .* \(x: list, y: list",
    ),
    "numbers": (add_and_subtract, {}, (np.float64(1), 2.0), "no argument is an array"),
    "result without axes": (
        scale,
        {"out_shapes": {"out": jax.ShapeDtypeStruct((), np.float32)}},
        (np.ones(3), 2.0),
        "the result out has no axes",
    ),
    "no kernel": (np.add, {}, (), "takes a kernel, as @kernel makes one, not <ufunc"),
    "unknown name": (axpy, {"out_shapes": {"z": "x"}}, (), "out_shapes has z, and axpy has x, y"),
    "no result": (reads, {}, (np.ones(3),), "^reads writes no array, so it has no result"),
    "grid of None": (axpy, {"grid": (1, None)}, (np.ones(3), np.ones(3), 2.0), "grid of axpy is"),
    "no such argument": (
        add_and_subtract,
        {"out_shapes": "z"},
        (np.ones(3), np.ones(3)),
        "out_shapes is 'z'",
    ),
    "tuple": (axpy, {}, ((np.ones(3),), np.ones(3), 2.0), "x is a tuple"),
    "grid": (axpy, {"grid": 1.5}, (np.ones(3), np.ones(3), 2.0), "the grid of axpy is 1.5, and"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_calls(case: str) -> None:
    function, options, arguments, message = WRONG[case]
    with pytest.raises(TypeError, match=message):
        pycu2c.jax.ffi(function, **{"grid": 1, "block": 128, **options})(*arguments)


@pytest.mark.parametrize("grid", [-1, (1, 1, 1, 1), (), 1 << 31])
def test_wrong_grids(grid: Any) -> None:
    with pytest.raises(ValueError, match=r"the grid of axpy is .* has 1 to 3 lengths below"):
        pycu2c.jax.ffi(axpy, grid=lambda *_: grid, block=128)(np.ones(3), np.ones(3), 2.0)


@pytest.mark.parametrize("vmap_method", ["sequential", "broadcast_all"])
def test_names_and_defaults_of_arguments(vmap_method: str) -> None:
    options: dict[str, Any] = {"out_shapes": {"out": "x"}, "vmap_method": vmap_method}
    f, x = pycu2c.jax.ffi(scale, grid=1, block=128, **options), np.ones(3)
    for result in f(x), f(x=x), f(x, by=2), f(by=2, x=x):
        np.testing.assert_array_equal(result, [2, 2, 2])
    for arguments, named in ((x, 2, 3), {}), ((x,), {"x": x}), ((x,), {"q": 1}), ((), {"by": 1}):
        with pytest.raises(TypeError, match=r"scale takes \(x, by\), not"):
            f(*arguments, **named)


def test_unknown_vmap_method() -> None:
    with pytest.raises(ValueError, match="vmap_method is sequential or broadcast_all, not 'all'"):
        pycu2c.jax.ffi(axpy, grid=1, block=1, vmap_method="all")


def test_errors_of_launches_have_their_message() -> None:
    f = pycu2c.jax.ffi(axpy, grid=1, block=2048)
    with pytest.raises(jax.errors.JaxRuntimeError, match="a block has 1 to 1024 threads along x"):
        jax.block_until_ready(f(np.ones(3), np.ones(3), 2.0))


def test_kernels_that_libraries_cannot_have() -> None:
    @kernel
    def shows(x, out):
        print(x[0])
        out[0] = x[0]

    with pytest.raises(ExportError, match="shows calls print"):
        pycu2c.jax.ffi(shows, grid=1, block=1)(np.ones(1))


def test_grid_of_0_launches_nothing() -> None:
    f = pycu2c.jax.ffi(add_and_subtract, grid=blocks, block=128)
    total, difference = jax.jit(f)(numbers(0), numbers(0))
    assert total.shape == difference.shape == (0,)
    g = pycu2c.jax.ffi(axpy, grid=0, block=128)
    np.testing.assert_array_equal(g(np.ones(3), np.arange(3.0), 2.0), [0, 1, 2])


def test_grid_and_block_of_the_decorator(platform: str) -> None:
    configured = kernel(grid=8, block=128)(axpy.python)
    result = pycu2c.jax.ffi(configured)(np.ones(1000), np.ones(1000), 2.0)
    np.testing.assert_array_equal(result, np.full(1000, 3.0))


def test_signature_is_built_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later functions use the registered handlers, and later processes the library on disk."""
    made = []
    original = artifact_store.load_or_make
    monkeypatch.setattr(
        foreign_functions.artifact_store,
        "load_or_make",
        lambda key, suffix, make: (
            (suffix == ".so" and made.append(key)) or original(key, suffix, make)
        ),
    )
    loaded: list[str] = []
    load = ctypes.CDLL
    monkeypatch.setattr(ctypes, "CDLL", lambda path: loaded.append(path) or load(path))
    unusual = np.ones((2, 3, 4, 5), np.int16)
    for _ in range(2):
        f = pycu2c.jax.ffi(scale, grid=blocks, block=128, out_shapes={"out": "x"})
        for by in (2, 3):
            np.testing.assert_array_equal(f(unusual, by), unusual * by)
    assert len(made) == 2
    assert len({*made}) == 1
    assert len(loaded) <= 1  # 0 after a test on another device, whose library it is
