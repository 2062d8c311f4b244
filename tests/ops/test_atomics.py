"""Atomics: every operation in every type, old values, many threads on one element."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pycu2c import (
    CompileError,
    bfloat16,
    complex64,
    cuda,
    float2,
    float32,
    int8,
    int32,
    kernel,
    uint32,
)
from pycu2c.base.dtypes import DType
from pycu2c.codegen.helpers.catalog import helpers_in_text, texts_of
from pycu2c.csyntax.nodes import Name
from pycu2c.csyntax.printer import print_expr
from pycu2c.kernels.kernel import Kernel
from pycu2c.ops.intrinsics.all import REGISTRY
from pycu2c.ops.intrinsics.memory.atomic import INTEGERS, NUMBERS
from pycu2c.ops.intrinsics.registry import Intrinsic
from pycu2c.runtime.cuda import memory_pool
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run

UPDATES: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda old, v: old + v,
    "sub": lambda old, v: old - v,
    "and_": lambda old, v: old & v,
    "or_": lambda old, v: old | v,
    "xor": lambda old, v: old ^ v,
    "inc": lambda old, v: 0 if old >= v else old + 1,
    "dec": lambda old, v: v if old == 0 or old > v else old - 1,
    "exch": lambda old, v: v,
    "max": lambda old, v: v if v > old else old,
    "min": lambda old, v: v if v < old else old,
    "nanmax": lambda old, v: v if v > old or np.isnan(old) else old,
    "nanmin": lambda old, v: v if v < old or np.isnan(old) else old,
}
ROWS = [r for name, r in REGISTRY.items() if name.startswith("cuda.atomic.")]
SPACES = ("global", "shared")


def updates_of(dtype: DType) -> list[str]:
    names = [n for n in UPDATES if dtype in REGISTRY[f"cuda.atomic.{n}"].dtypes]
    return [n for n in names if not n.startswith("nan") or dtype.is_float]


def written(names: list[str], space: str) -> str:
    """A kernel that runs each operation on an element of its own, value by value."""
    lines = [f"        olds[{m}, j] = cuda.atomic.{n}(a, {m}, v[j])" for m, n in enumerate(names)]
    if space == "global":
        return "\n".join(["def k(a, v, olds):", "    for j in range(len(v)):", *lines])
    taken = [f"        b[{m}] = a[{m}]" for m in range(len(names))]
    arguments = [line.replace("b[", "a[", 1).replace("= a", "= b") for line in taken]
    body = ["def k(a, v, olds):", f"    b = cuda.shared.array({len(names)}, a.dtype)"]
    body += ["    if cuda.threadIdx.x == 0:", *taken, "    cuda.syncthreads()"]
    body += ["    for j in range(len(v)):", *[line.replace("(a,", "(b,") for line in lines]]
    return "\n".join([*body, "    cuda.syncthreads()", "    if cuda.threadIdx.x == 0:", *arguments])


def kernel_of(text: str, folder: Path) -> Kernel:
    module = module_from(f"from pycu2c import cuda, kernel\n\n\n@kernel\n{text}\n", folder)
    result: Kernel = module.k
    return result


def edges(dtype: DType) -> np.ndarray[Any, Any]:
    """Awkward values, each after most others."""
    if dtype.is_float:
        some = [1.5, -2.0, 0.0, -0.0, np.inf, 1e-4, np.nan, 7.0, -np.inf, np.nan, 3.0, -0.0, 0.0]
        values = np.array(some, np.float32)
    else:
        low, high = dtype.minimum, dtype.maximum
        some = [1, high, 0, low, 2, low + 1, high - 1, 5, high, high, low, low, 3, 0]
        values = np.array(some, dtype.numpy)
    order = np.random.default_rng(3).permutation(np.tile(np.arange(len(values)), 4))
    return np.concatenate([values, values[order]]).astype(dtype.numpy)


def expected(name: str, start: Any, values: np.ndarray[Any, Any]) -> list[Any]:
    """The old values, and the last one."""
    seen = [np.array([start], values.dtype)]
    with np.errstate(all="ignore"):
        for v in values:
            new = UPDATES[name](seen[-1][0], v)
            seen.append(np.array([new]).astype(values.dtype))
    return seen


def bits(values: Any, dtype: DType) -> Any:
    """One pattern for every NaN."""
    flat = np.asarray(values, dtype.numpy)
    if not dtype.is_float:
        return flat
    nan = np.array(np.nan, dtype.numpy)
    return np.where(flat != flat, nan, flat).astype(dtype.numpy).view(f"u{dtype.size}")


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_each_operation_in_each_type(dtype: DType, space: str, target: str, tmp_path: Path) -> None:
    names = updates_of(dtype)
    values = edges(dtype)
    a = np.full(len(names), 2, dtype.numpy)
    olds = np.zeros((len(names), len(values)), dtype.numpy)
    result = run(kernel_of(written(names, space), tmp_path), (1, 1), [a, values, olds], target)
    for m, name in enumerate(names):
        seen = np.concatenate(expected(name, 2, values))
        np.testing.assert_array_equal(bits(result[2][m], dtype), bits(seen[:-1], dtype), name)
        assert bits(result[0][m], dtype) == bits(seen[-1], dtype), name


COMPARING = """
def k(a, olds):
    {place}
    olds[0] = cuda.atomic.cas({name}, (1, i), 7, 9)
    olds[1] = cuda.atomic.cas({name}, (1, i), 7, 5)
    olds[2] = cuda.atomic.compare_and_swap({name}, 3, 4)
    olds[3] = cuda.atomic.compare_and_swap({name}, 2, 8)
    {back}
"""
PLACES = {
    "global": ("i = cuda.threadIdx.x", "pass", "a"),
    "shared": (
        "i = cuda.threadIdx.x\n    b = cuda.shared.array((2, 1), a.dtype)\n"
        "    b[0, 0], b[1, 0] = a[0, 0], a[1, 0]",
        "a[0, 0], a[1, 0] = b[0, 0], b[1, 0]",
        "b",
    ),
}


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_compare_and_swap(dtype: DType, space: str, target: str, tmp_path: Path) -> None:
    place, back, name = PLACES[space]
    text = COMPARING.format(place=place, back=back, name=name).strip()
    a, olds = np.array([[2], [7]], dtype.numpy), np.zeros(4, dtype.numpy)
    result = run(kernel_of(text, tmp_path), (1, 1), [a, olds], target)
    assert result[1].tolist() == [7, 9, 2, 2]
    assert result[0].tolist() == [[8], [9]]


# ---- many threads ------------------------------------------------------------------------------

GRID, BLOCK = 40, 64
THREADS = GRID * BLOCK


def crowd(text: str, arrays: list[Any], target: str, folder: Path) -> list[Any]:
    return run(kernel_of(text, folder), (GRID, BLOCK), arrays, target)


@kernel
def bytes_in_pairs(a):
    i = cuda.grid(1)
    cuda.atomic.add(a, i % len(a), 1)


@pytest.mark.parametrize("dtype", [np.int32, np.uint64, np.int16, np.uint8], ids=str)
def test_no_update_is_lost(dtype: Any, target: str, tmp_path: Path) -> None:
    text = """
def k(a, values):
    i = cuda.grid(1)
    v = values[i]
    cuda.atomic.add(a, 0, v)
    cuda.atomic.sub(a, 1, v)
    cuda.atomic.or_(a, 2, v)
    cuda.atomic.xor(a, 3, v)
    cuda.atomic.max(a, 4, v)
    cuda.atomic.min(a, 5, v)
    cuda.atomic.and_(a, 6, v | 1)
"""
    row = np.iinfo(dtype)
    values = np.random.default_rng(1).integers(row.min, row.max, THREADS, dtype, endpoint=True)
    a = np.array([0, 0, 0, 0, row.min, row.max, -1 if row.min else row.max], dtype)
    result, _ = crowd(text.strip(), [a, values], target, tmp_path)
    total = values.sum(dtype=dtype)
    reduced = [np.bitwise_or, np.bitwise_xor, np.maximum, np.minimum, np.bitwise_and]
    folds = [f.reduce(values | dtype(1) if f is np.bitwise_and else values) for f in reduced]
    with np.errstate(over="ignore"):
        assert result.tolist() == [total, dtype(0) - total, *folds]


@pytest.mark.parametrize("space", SPACES)
def test_each_thread_gets_an_old_value_of_its_own(space: str, target: str, tmp_path: Path) -> None:
    text = """
def k(counters, olds):
    i = cuda.grid(1)
    olds[0, i] = cuda.atomic.add(counters, 0, 1)
    olds[1, i] = cuda.atomic.inc(counters, 1, 9)
    olds[2, i] = cuda.atomic.dec(counters, 2, 9)
    olds[3, i] = cuda.atomic.exch(counters, 3, i + 1)
"""
    if space == "shared":
        text = text.replace("counters,", "own,").replace("k(own,", "k(counters,")
        make = "    own = cuda.shared.array(4, counters.dtype)\n    if i < 1:\n"
        make += "".join(f"        own[{m}] = 0\n" for m in range(4)) + "    cuda.syncthreads()\n"
        end = "    cuda.syncthreads()\n    if i < 1:\n        counters[3] = own[3]\n"
        text = text.replace("(1)\n", "(1)\n" + make, 1) + end
    grid = GRID if space == "global" else 1
    count = grid * BLOCK
    counters, olds = np.zeros(4, np.uint32), np.zeros((4, count), np.uint32)
    made = kernel_of(text.strip(), tmp_path)
    counters, olds = run(made, (grid, BLOCK), [counters, olds], target)
    assert sorted(olds[0]) == list(range(count))
    assert sorted(olds[1]) == sorted(i % 10 for i in range(count))
    assert sorted(olds[2]) == sorted(-i % 10 for i in range(count))
    assert sorted([*olds[3], counters[3]]) == list(range(count + 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, ml_dtypes.bfloat16], ids=str)
def test_no_float_addition_is_lost(dtype: Any, target: str, tmp_path: Path) -> None:
    text = "def k(a):\n    cuda.atomic.add(a, cuda.blockIdx.x, 2.0)\n"
    text += "    cuda.atomic.sub(a, (-1,), 0.25)"
    (result,) = crowd(text, [np.zeros(GRID + 1, dtype)], target, tmp_path)
    assert result[:-1].tolist() == [2.0 * BLOCK] * GRID
    least = {"float16": -512.0, "bfloat16": -64.0}  # from there on a quarter is rounded away
    assert float(result[-1]) == least.get(np.dtype(dtype).name, -0.25 * THREADS)


def test_a_sum_by_compare_and_swap(target: str, tmp_path: Path) -> None:
    text = """
def k(total, values):
    i = cuda.grid(1)
    found = cuda.atomic.cas(total, 0, 0, 0)
    seen = found + 1
    while found != seen:
        seen = found
        found = cuda.atomic.cas(total, 0, seen, seen * 3 + values[i] * 0)
"""
    values = np.ones(THREADS, np.uint32)
    total, _ = crowd(text.strip(), [np.ones(1, np.uint32), values], target, tmp_path)
    assert total[0] == pow(3, THREADS, 2**32)


def test_the_block_that_ends_last_sees_what_the_others_wrote(target: str, tmp_path: Path) -> None:
    text = """
def k(partial, done, out):
    last = cuda.shared.array(1, np.bool_)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    partial[b, t] = b + 1
    cuda.threadfence()
    cuda.syncthreads()
    if t == 0:
        last[0] = cuda.atomic.inc(done, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1
    cuda.syncthreads()
    if last[0]:
        for other in range(cuda.gridDim.x):
            out[t] += partial[other, t]
"""
    made = module_from(
        f"import numpy as np\nfrom pycu2c import cuda, kernel\n\n@kernel{text}", tmp_path
    )
    for _ in range(1 if target == "python" else 20):
        arguments = [np.zeros((GRID, 32), np.int64), np.zeros(1, np.uint32), np.zeros(32, np.int64)]
        _, done, out = run(made.k, (GRID, 32), arguments, target)
        assert out.tolist() == [GRID * (GRID + 1) // 2] * 32
        assert done[0] == 0  # ready for the next launch


# ---- what is atomic ----------------------------------------------------------------------------


def test_bytes_beside_each_other(target: str) -> None:
    """On a GPU a byte is exchanged with its neighbour, which must not suffer."""
    (result,) = run(bytes_in_pairs, (GRID, BLOCK), [np.zeros(13, np.uint8)], target)
    assert result.tolist() == np.bincount(np.arange(THREADS) % 13).tolist()


def test_the_last_byte_of_an_array_has_a_neighbour(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    cleared: list[int] = []

    def allocate(size: int, stream: int) -> tuple[int, int]:
        asked.append(size)
        return 0, 4096

    def clear(address: int) -> tuple[int]:
        cleared.append(address)
        return (0,)

    thread = SimpleNamespace(has_context=True)
    calls = SimpleNamespace(allocate=allocate, clear=clear, thread=thread)
    monkeypatch.setattr(memory_pool, "_pool_functions", lambda: calls)
    assert [memory_pool._allocate(size) for size in (13, 14)] == [4096] * 2
    assert (asked, cleared) == ([14, 14], [4096 + 13])


RECORD = np.dtype([("count", np.int32), ("size", np.float32), ("few", np.uint16)], align=True)


def test_fields_of_records(target: str, tmp_path: Path) -> None:
    text = """
def k(records):
    i = cuda.grid(1)
    cuda.atomic.add(records.count, i % 3, 2)
    cuda.atomic.max(records["size"], -1, i)
    cuda.atomic.add(records[1:].few, 0, 1)
"""
    (result,) = crowd(text.strip(), [np.zeros(3, RECORD)], target, tmp_path)
    assert result["count"].tolist() == (2 * np.bincount(np.arange(THREADS) % 3)).tolist()
    assert result["size"].tolist() == [0, 0, THREADS - 1]
    assert result["few"].tolist() == [0, THREADS, 0]


PACKED = np.dtype([("few", np.uint8), ("count", np.int32)])


def test_no_fields_that_cross_words(tmp_path: Path) -> None:
    made = kernel_of("def k(records):\n    cuda.atomic.add(records.count, 0, 1)\n", tmp_path)
    with pytest.raises(CompileError, match="align=True"):
        made[1, 1](np.zeros(2, PACKED))


def test_every_spelling_compiles_for_each_gpu() -> None:
    def function(row: Intrinsic, dtype: DType) -> str:
        names = [n for n, kind in row.parameters if kind != "index"]
        text = print_expr(row.cuda({n: Name(n) for n in names}, dtype))  # type: ignore[misc]
        arguments = ", ".join(f"{dtype.cuda} {'*' * (n == 'array')}{n}" for n in names)
        name = f"{row.name.replace('.', '_')}_{dtype.short}"
        return f"__device__ {dtype.cuda} {name}({arguments}) {{ return {text}; }}"

    cases = [(row, dtype) for row in ROWS for dtype in row.dtypes]
    head = ["#include <cuda_fp16.h>", "#include <cuda_bf16.h>"]
    body = [function(row, dtype) for row, dtype in cases]
    kernel = 'extern "C" __global__ void k() {}'
    text = "\n".join([*head, *texts_of(helpers_in_text("\n".join(body)), "cuda"), *body, kernel])
    for arch in ("sm_75", "sm_90"):
        assert nvrtc.compile(text, "k", arch, kind="ptx", cache=False).log.strip("\0\n ") == ""


@kernel
def everything(a, b, h, s, out):
    i = cuda.grid(1)
    t = cuda.shared.array(4, uint32)
    t[i] = 0
    cuda.syncthreads()
    out[0] = cuda.atomic.add(a, 0, 1)
    out[1] = cuda.atomic.inc(b, 0, 7)
    cuda.atomic.max(h, 0, 1.5)
    cuda.atomic.exch(s, 0, 2)
    out[2] = cuda.atomic.dec(t, 0, 7)
    cuda.atomic.add(t, 1, 2)


def test_the_text_can_be_read() -> None:
    types = (int32[::1], uint32[::1], bfloat16[::1], int8[::1], int32[::1])
    cuda_text, text = everything.inspect("cuda", types), everything.inspect("c", types)
    assert "out[0] = atomicAdd(&a[0], 1);" in cuda_text
    assert "out[1] = atomicInc(&b[0], 7U);" in cuda_text
    assert "atomic_max_bf16(&h[0], __float2bfloat16_rn(1.5f));" in cuda_text
    assert "out[0] = __atomic_fetch_add(&a[0], 1, __ATOMIC_ACQUIRE);" in text
    assert "out[1] = atomic_inc_u32(&b[0], 7U);" in text
    assert "out[2] = plain_dec_u32(&t[0], 7U);" in text
    assert "plain_add_u32(&t[1], 2U);" in text
    assert check_warnings(text) == ""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("inc(a, 0, 1)", "uint32"),
        ("and_(x, 0, 1)", "int32"),
        ("max(3, 0, 1)", "write cuda.atomic.max(array, index, value)"),
        ("cas(3, 0, 1, 2)", "write cuda.atomic.cas(array, index, old, value)"),
        ("compare_and_swap(a, 0, 1, 2)", "(array, old, value)"),
        ("max(own, 0, 1)", "local"),
    ],
)
def test_rejected_uses(call: str, said: str, tmp_path: Path) -> None:
    text = "def k(a, x):\n    own = cuda.local.array(3, a.dtype)\n    own[0] = 1\n"
    made = kernel_of(f"{text}    a[0] = own[0]\n    cuda.atomic.{call}", tmp_path)
    with pytest.raises(CompileError, match=r".") as caught:
        made.inspect("cuda", (int32[::1], float32[::1]))
    assert said in str(caught.value)


# ---- complex numbers and vectors: part by part ---------------------------------------------------


@kernel
def add_parts(z, v, f, olds, old_vectors):
    i = cuda.grid(1)
    tile = cuda.shared.array(1, z.dtype)
    if cuda.threadIdx.x == 0:
        tile[0] = 0
    cuda.syncthreads()
    old = cuda.atomic.add(z, i % 2, 1 + 2j)
    cuda.atomic.sub(tile, 0, i)
    cuda.atomic.add(v, (0, 1), float2(i, 1))
    if i == 0:
        before = cuda.atomic.add(f, 0, 1j)
        olds[0] = before
        old_vectors[0] = cuda.atomic.sub(v, (1, 0), v[1, 1])
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        olds[1] = tile[0]
    if i == 1:
        olds[2] = old.real - old.imag / 2


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_sums_of_parts(dtype: type, target: str) -> None:
    z, f = np.array([1, 5j], dtype), np.array([3 + 4j], dtype)
    v = np.zeros((2, 2), float2.numpy)
    v["x"], v["y"] = [[0, 1], [2, 3]], [[4, 5], [6, 7]]
    arguments = [z, v, f, np.zeros(3, dtype), np.zeros(1, float2.numpy)]
    z, v, f, olds, vectors = run(add_parts, (1, 32), arguments, target)
    assert z.tolist() == [1 + 16 + 32j, 16 + 37j]
    assert f.tolist() == [3 + 5j]
    assert olds[:2].tolist() == [3 + 4j, -sum(range(32))]
    assert olds[2] == -2.5
    assert v["x"].tolist() == [[0, 1 + sum(range(32))], [-1, 3]]
    assert v["y"].tolist() == [[4, 5 + 32], [-1, 7]]
    assert vectors[0].item() == (2, 6)


def test_sums_of_components_without_a_result() -> None:
    types = (complex64[::1], float2[:, ::1], complex64[::1], complex64[::1], float2[::1])
    assert check_warnings(add_parts.inspect("c", types)) == ""
    text = add_parts.inspect("cuda", types)
    assert "    atomicAdd(&tile[0].x, " in text
    assert "    atomic_add_vector_float2(&v[1], " in text


@kernel
def add_vectors(totals, olds, values):
    i = cuda.grid(1)
    old = cuda.atomic.add(totals, i % 2, values[i])
    if i == 3:
        olds[0] = old


VECTORS = ["float2", "float4", "half2", "bfloat162"]


@pytest.mark.parametrize("name", VECTORS)
def test_sums_of_vectors(name: str, target: str) -> None:
    dtype = getattr(cuda, name).numpy
    fields = range(len(dtype))
    values = np.array([tuple(i + n for n in fields) for i in range(4)], dtype)
    totals, olds, _ = run(
        add_vectors, (1, 4), [np.zeros(2, dtype), np.zeros(1, dtype), values], target
    )
    for n in fields:
        assert [float(x[n]) for x in totals] == [2 + 2 * n, 4 + 2 * n]
        assert float(olds[0][n]) in (0, 1 + n)


@kernel
def add_views(totals, values):
    i = cuda.grid(1)
    olds = cuda.atomic.add(totals[2:].view(cuda.float4), i % 2, values.view(cuda.float4)[i])
    cuda.atomic.sub(totals.view(float2), 0, float2(olds.x, 1))


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_numbers_viewed_as_vectors(offset: int, target: str) -> None:
    """The totals may begin at any multiple of four bytes."""
    totals, values = np.zeros(16, np.float32)[offset : offset + 10], np.ones(64, np.float32)
    totals, _ = run(add_views, (1, 16), [totals, values], target)
    assert totals.tolist() == [-2 * sum(range(8)), -16, *[8] * 8]


def test_numbers_are_added_as_vectors_if_aligned() -> None:
    text = add_views.inspect("cuda", (float32[::1], float32[::1]))
    assert "atomic_add_components_float4(&totals[" in text
    assert nvrtc.compile(text, "add_views", "sm_75", kind="cubin").data
    assert "add.v4.f32" in nvrtc.compile(text, "add_views", "sm_90", kind="ptx").data.decode()


def test_bytes_viewed_as_vectors_are_not_added() -> None:
    @kernel
    def added(a):
        cuda.atomic.add(a.view(float2), 0, float2(1, 2))

    with pytest.raises(CompileError, match="takes an array with the dtype of its memory"):
        added.inspect("cuda", "uint8[::1]")


@pytest.mark.parametrize("name", VECTORS)
@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_vectors_are_added_by_one_instruction(name: str, arch: str) -> None:
    ptx = add_vectors.inspect("ptx", (getattr(cuda, name)[::1],) * 3, arch=arch)
    count = len(re.findall(r"\b(?:atom|red)\.[a-z.]*add", ptx))
    assert count == 1 or (arch == "sm_75" and name != "half2")


def test_records_are_not_added(target: str) -> None:
    @kernel
    def added(a):
        cuda.atomic.add(a, 0, 1)

    record = np.zeros(2, [("p", np.int32), ("q", np.float64)])
    with pytest.raises(CompileError):
        run(added, (1, 1), [record], "cpu" if target == "python" else target)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_floats_are_compared_by_value(dtype: type, target: str) -> None:
    """-0.0 is 0.0, and NaN nothing."""

    @kernel
    def swapped(a, olds):
        for i in range(3):
            olds[i] = cuda.atomic.cas(a, i, 0, i + 1)
        olds[3] = cuda.atomic.compare_and_swap(a[3:], 1.5, 7)

    a = np.array([-0.0, np.nan, 2.0, 1.5], dtype)
    result, olds = run(swapped, (1, 1), [a, np.zeros(4, dtype)], target)
    np.testing.assert_array_equal(result.astype(float), [1, np.nan, 2, 7])
    np.testing.assert_array_equal(olds.astype(float), a.astype(float))
