"""Shared memory, static and dynamic, and local arrays: element types, axes, views, sizes."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pycu2c import CompileError, LaunchError, cuda, device, float32, float64, int32, kernel
from pycu2c.cuda_driver import kernel_api
from pycu2c.kernels.kernel import Kernel
from pycu2c.toolchain.nvrtc import nvrtc
from support.c_compilers import check_warnings
from support.kernels_from_text import module_from
from support.launching import run

HEAD = "import numpy as np\nfrom pycu2c import bfloat16, cuda, device, float32, int32, kernel\n\n"


def kernel_of(text: str, folder: Path) -> Kernel:
    result: Kernel = module_from(f"{HEAD}\n@kernel\n{text}", folder).k
    return result


# ---- dynamic -----------------------------------------------------------------------------------


@device
def total(part):
    s = 0.0
    for x in part:
        s += x
    return s


@device
def first_of(whole):
    return whole[0] + len(whole) * 100


@kernel
def halves_of(a, out):
    smem = cuda.shared.array(0, float32)
    n = cuda.blockDim.x
    low = smem[:n]
    high = smem[n : 2 * n]
    t, i = cuda.threadIdx.x, cuda.grid(1)
    low[t] = a[i]
    high[-1 - t] = 2 * a[i]
    cuda.syncthreads()
    out[i, 0] = low[n - 1 - t] + high[t]
    out[i, 1] = total(high)
    out[i, 2] = smem[-1] + len(smem) * 1000 + smem.shape[0]
    out[i, 3] = first_of(smem)


def test_parts_of_dynamic_shared_memory(target: str) -> None:
    a = np.arange(12, dtype=np.float32)
    out = run(halves_of, (3, 4, None, 32), [a, np.zeros((12, 4))], target)[1]
    blocks = a.reshape(3, 4)
    assert out[:, 0].tolist() == (blocks[:, ::-1] * 3).ravel().tolist()
    assert out[:, 1].tolist() == np.repeat(2 * blocks.sum(axis=1), 4).tolist()
    assert out[:, 2].tolist() == np.repeat(2 * blocks[:, 0] + 8008, 4).tolist()
    assert out[:, 3].tolist() == np.repeat(blocks[:, 0] + 800, 4).tolist()


PAIR = np.dtype([("x", np.int32), ("y", np.float32)])


@kernel
def aliased(out):
    t = cuda.threadIdx.x
    words = cuda.shared.array(0, int32)
    words[t] = 0x3F800000 + t
    cuda.syncthreads()
    floats = cuda.shared.array(0, float32)
    wide = cuda.shared.array(0, dtype=float64)
    pairs = cuda.shared.array(0, PAIR)
    few = cuda.shared.array(0, cuda.float2)
    out[t, 0] = floats[t]
    out[t, 1] = len(words)
    out[t, 2] = len(wide)
    out[t, 3] = pairs[t // 2].x
    out[t, 4] = few[t // 2].y
    out[t, 5] = len(pairs) * 10 + len(few)


def test_dynamic_shared_arrays_share_memory(target: str) -> None:
    (out,) = run(aliased, (1, 4, None, 20), [np.zeros((4, 6))], target)
    floats = (0x3F800000 + np.arange(4, dtype=np.int32)).view(np.float32)
    words = 0x3F800000 + np.arange(4.0)
    assert out[:, 0].tolist() == floats.tolist()
    assert out[:, 1:3].tolist() == [[5, 2]] * 4
    assert out[:, 3].tolist() == [words[0], words[0], words[2], words[2]]
    assert out[:, 4].tolist() == [floats[1], floats[1], floats[3], floats[3]]
    assert out[:, 5].tolist() == [22] * 4


@device
def reversed_by_block(a, i):
    t = cuda.threadIdx.x
    kept = cuda.shared.array(0, float32)
    kept[t] = a[i]
    cuda.syncthreads()
    found = kept[cuda.blockDim.x - 1 - t]
    cuda.syncthreads()
    return found


@kernel(shared_memory=16)
def by_a_device_function(a, out):
    i = cuda.grid(1)
    out[i] = reversed_by_block(a, i) + reversed_by_block(out, i)


def test_a_device_function_takes_it(target: str) -> None:
    a, out = np.arange(8, dtype=np.float32), np.arange(8, dtype=np.float32) * 10
    configured = (2, 4, None, 16)
    result = run(by_a_device_function, configured, [a, out], target)[1]
    assert result.tolist() == (11 * a.reshape(2, 4)[:, ::-1]).ravel().tolist()


def test_atomics_and_rows_of_it(target: str, tmp_path: Path) -> None:
    text = """def k(out):
    counts = cuda.shared.array(0, np.uint32)
    rows = counts.reshape(2, -1)
    t = cuda.threadIdx.x
    if t < len(counts):
        counts[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, t % len(counts), 1)
    cuda.syncthreads()
    cuda.atomic.max(rows, (1, 0), 100 + t)
    cuda.syncthreads()
    if t < rows.shape[1]:
        out[0, t], out[1, t] = rows[0, t], rows[1, t]
"""
    made = kernel_of(text, tmp_path)
    (out,) = run(made, (1, 64, None, 32), [np.zeros((2, 4))], target)
    assert out.tolist() == [[8, 8, 8, 8], [163, 8, 8, 8]]


def test_a_launch_gives_the_dynamic_size(target: str) -> None:
    fresh = Kernel(halves_of.python, backend=target)
    a, out = np.zeros(4, np.float32), np.zeros((4, 4))
    with pytest.raises(LaunchError, match=r"halves_of\[grid, block, stream, bytes\]"):
        fresh[1, 4](a, out)
    with pytest.raises(LaunchError, match="at most 232448 bytes of shared memory, not 232449"):
        fresh[1, 4, None, 232449](a, out)


TOO_FEW = """def k(out, n):
    kept = cuda.shared.array(0, np.int64)
    t = cuda.threadIdx.x
    for i in range(t, n, cuda.blockDim.x):
        kept[i] = i * i
    cuda.syncthreads()
    for i in range(t, n, cuda.blockDim.x):
        out[cuda.blockIdx.x, i] = kept[n - 1 - i]
"""
# blocks that wait for each other keep theirs while others run
IN_TURN = TOO_FEW.replace("    cuda.syncthreads()\n", "    cuda.cg.this_grid().sync()\n")


@pytest.mark.parametrize("text", [TOO_FEW, IN_TURN], ids=["blocks", "grid"])
@pytest.mark.parametrize("target", ["cpu", "cpu-resumable"])
def test_a_launch_gives_too_few_bytes(text: str, target: str, tmp_path: Path) -> None:
    """A kernel that takes more, up to what a device has, spoils nothing that is not its own."""
    size = 232448 // 8
    made = kernel_of(text, tmp_path)
    out = run(made, (8, 64, None, 8), [np.zeros((8, size)), size], target)[0]
    assert np.array_equal(out, np.broadcast_to(np.arange(size)[::-1] ** 2.0, out.shape))


def test_the_reference_says_where_they_are_too_few(tmp_path: Path) -> None:
    made = kernel_of(TOO_FEW, tmp_path)
    with pytest.raises(IndexError, match=r"\.py:\d+: index 4 .* size 4"):
        run(made, (1, 2, None, 32), [np.zeros((1, 5)), 5], "python")


@kernel
def sums_of_rows(a, out):
    kept = cuda.shared.array(0, float64)
    for i in range(cuda.threadIdx.x, len(kept), cuda.blockDim.x):
        kept[i] = a[i]
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = total(kept)


def test_more_than_48_kib(target: str) -> None:
    size = 96 * 1024 if target != "cuda" else min(96 * 1024, kernel_api.shared_limit())
    a = np.ones(size // 8)
    blocks = 2 if target == "python" else 64
    result = run(sums_of_rows, (blocks, 32, None, size), [a, np.zeros(blocks)], target)
    assert result[1].tolist() == [size // 8] * blocks


def test_compilers_accept_it() -> None:
    types = (float32[::1], float64[:, ::1])
    text = halves_of.inspect("cuda", types)
    assert text.count("extern __shared__ __align__(16) unsigned char dynamic_shared[];") == 1
    assert "float *const smem = (float *)dynamic_shared;" in text
    assert (
        nvrtc.compile(text, "halves_of", "sm_80", kind="ptx", cache=False).log.strip("\0\n ") == ""
    )
    text = halves_of.inspect("c", types)
    assert "unsigned char dynamic_shared[232448];" in text
    assert check_warnings(text) == ""
    assert "allocate smem: shared float32[]" in halves_of.inspect("ir", types)


# ---- static, local -----------------------------------------------------------------------------

ELEMENTS = {
    "bool": (np.bool_, "np.bool_", "t % 3 == 1"),
    "uint8": (np.uint8, "np.uint8", "t * 7"),
    "int64": (np.int64, "np.int64", "t - 4"),
    "float16": (np.float16, "np.float16", "t * 0.5"),
    "bfloat16": (ml_dtypes.bfloat16, "bfloat16", "t * 0.5"),
    "complex64": (np.complex64, "np.complex64", "t + 2j"),
}


@pytest.mark.parametrize("space", ["shared", "local"])
@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_of_every_kind(name: str, space: str, target: str, tmp_path: Path) -> None:
    dtype, spelled, value = ELEMENTS[name]
    other = "(t + 1) % 8" if space == "shared" else "t"
    text = f"""def k(out):
    t = cuda.threadIdx.x
    a = cuda.{space}.array((2, 8, 3), {spelled})
    b = cuda.{space}.array(8, {spelled})
    a[1, t, -1] = {value}
    b[t] = {value}
    cuda.syncthreads()
    out[t, 0] = a[1, {other}, 2]
    out[t, 1] = b[{other}]
    out[t, 2] = a[1][{other}][-1]
"""
    (out,) = run(kernel_of(text, tmp_path), (1, 8), [np.zeros((8, 3), dtype)], target)
    values = np.array([eval(value, {"t": t}) for t in range(8)]).astype(dtype)
    expected = np.roll(values, -1) if space == "shared" else values
    for column in range(3):
        assert out[:, column].tolist() == expected.tolist()


PARTICLE = np.dtype([("place", PAIR), ("mass", np.float64)], align=True)


@kernel
def records(out):
    t = cuda.threadIdx.x
    many = cuda.shared.array((2, 4), PARTICLE)
    mine = cuda.local.array(2, PARTICLE)
    four = cuda.shared.array(4, cuda.float4)
    mine[1].place.x = t
    mine[1].mass = t * 0.5
    many[1, t] = mine[1]
    many[1, t].place.y = -t
    four[t] = cuda.float4(t, 1, 2, 3)
    cuda.syncthreads()
    back = many[1, 3 - t]
    out[t, 0] = back.place.x
    out[t, 1] = back["mass"]
    out[t, 2] = many[-1, -1 - t].place.y
    out[t, 3] = four[3 - t].x + four[t].w


def test_records_and_vectors(target: str) -> None:
    (out,) = run(records, (1, 4), [np.zeros((4, 4))], target)
    assert out.tolist() == [[3 - t, (3 - t) / 2, t - 3, 6 - t] for t in range(4)]


@kernel
def large(out):
    t = cuda.threadIdx.x
    mine = cuda.local.array(8000, float64)
    other = cuda.local.array((40, 100), float64)
    tile = cuda.shared.array(6144, float64)
    for i in range(t, 6144, cuda.blockDim.x):
        tile[i] = i
    mine[t], other[39, 99] = t, t
    cuda.syncthreads()
    mine[7999] = tile[6143 - t]
    cuda.syncthreads()
    out[cuda.grid(1)] = mine[t] + mine[7999] + other[39, 99]


def test_arrays_that_no_stack_holds(target: str) -> None:
    """Over a barrier, each thread of the block has its own 96 KB."""
    blocks = 1 if target == "python" else 40
    (out,) = run(large, (blocks, 256), [np.zeros(blocks * 256)], target)
    assert out.tolist() == [t + 6143.0 for t in range(256)] * blocks


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cuda.shared.array(12289, np.int32)", "49156 bytes; a block has 49152"),
        (
            "cuda.shared.array(8000, np.int32)\n    c = cuda.shared.array((100, 100), np.int8)\n"
            "    d = cuda.shared.array(7200, bool_)\n    a[1], a[2] = c[0, 0], d[0]",
            "with the arrays before it 49200 bytes; a block has 49152",
        ),
        ("cuda.local.array(131073, np.int32)", "524292 bytes; a thread has 524288"),
        ("cuda.local.array(0, np.int32)", "not a positive integer"),
        ("cuda.shared.array((0, 2), np.int32)", "not a positive integer"),
    ],
)
def test_too_much_shared_memory_is_rejected(text: str, said: str, tmp_path: Path) -> None:
    made = module_from(
        f"{HEAD}from pycu2c import bool_\n@kernel\ndef k(a):\n    b = {text}\n    a[0] = b[0]\n",
        tmp_path,
    ).k
    with pytest.raises(CompileError) as caught:
        made.inspect("ir", (int32[::1],))
    assert said in str(caught.value)
    if "49152" in said:
        assert "cuda.shared.array(0, dtype), k[grid, block, stream, bytes]" in str(caught.value)


# ---- one memory under two types ----------------------------------------------------------------


@kernel(backend="cpu")
def through_both(floats, words, out):
    i = cuda.grid(1)
    floats[i] = 1.0
    words[i] = words[i] + 1
    out[i] = floats[i]


def test_arguments_may_be_views_of_one_memory() -> None:
    words = np.zeros(64, np.int32)
    out = np.zeros(64, np.float32)
    through_both[1, 64](words.view(np.float32), words, out)
    assert out.tolist() == [float(np.nextafter(np.float32(1), np.float32(2)))] * 64


def test_a_variable_has_one_value_where_products_and_sums_are_contracted(target: str) -> None:
    """Computed anew behind a barrier, ``x`` would be one operation, as it is not before it."""

    @kernel(backend=target)
    def kept(same, products, a, c):
        s = cuda.shared.array(1024, float32)
        t = cuda.threadIdx.x
        f = float32(t) + float32(0.3)
        x = a * f + c
        s[t] = x
        products[t] = a * f
        cuda.syncthreads()
        same[t] = x == s[t]

    same, products = np.zeros(1024, np.int32), np.zeros(1024, np.float32)
    kept[1, 1024](same, products, np.float32(0.1), np.float32(-0.7))
    assert same.all()


# ---- shapes that device functions are given ----------------------------------------------------


@device
def turned(a, count, shape, dtype):
    tile = cuda.shared.array(count, dtype)
    own = cuda.local.array(shape=(shape[0], 4), dtype=int32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    own[1, 0] = count
    cuda.syncthreads()
    return tile[count - 1 - i] + own[1, 0] * shape[1]


HALF = 4


def shapes_of_calls(a, out):
    i = cuda.threadIdx.x
    n = 2 * HALF
    out[i] = turned(a, 8, (2, 100), float32)
    out[i] += turned(a, n, (2, 1), float32) * 1000
    out[i] += turned(a, count=n, shape=(300, 0), dtype=float64) * 100000


def test_shapes_that_are_given_to_device_functions(target: str) -> None:
    a = np.arange(8, dtype=np.float32)
    out = np.zeros(8)
    kernel(backend=target)(shapes_of_calls)[1, 8](a, out)
    back = a[::-1].astype(float)
    np.testing.assert_array_equal(out, back + 800 + (back + 8) * 1000 + back * 100000)


@pytest.mark.parametrize("arguments", ["n", "out[0]", "len(out)"])
def test_shapes_that_are_not_known(arguments: str, tmp_path: Path) -> None:
    text = f"""
@device
def f(count):
    return cuda.local.array(count, float32)[0]

@kernel
def k(out, n):
    out[0] = f({arguments})
"""
    k = module_from(HEAD + text, tmp_path).k
    with pytest.raises(CompileError, match=r"count, float32[^~]*not a positive integer"):
        k.inspect("cuda", "int32[:], int32")
