"""``pycu2c.cuda.tma`` and ``cuda.TensorMap``: boxes of arrays in shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CheckError, LaunchError, cuda, float32, kernel, uint64
from pycu2c.cuda import barrier, tma
from pycu2c.kernels.kernel import Kernel
from support.asynchronous import hopper_code, launch


def make_round_trip(box: tuple[int, ...], dtype: Any, corner: tuple[int, ...]) -> Kernel:
    """Return a kernel that copies a box to shared memory, shows this, and copies it to an array."""
    size = int(np.prod(box))
    stored_at = tuple(max(c, 0) for c in corner)  # stores at negative indices are not possible
    nbytes = size * np.dtype(getattr(dtype, "numpy", dtype)).itemsize

    @kernel
    def round_trip(shown, target, source):
        tile, bar = cuda.shared.array(box, dtype, alignment=1024), cuda.shared.array(1, uint64)
        if cuda.threadIdx.x == 0:
            tma.prefetch(source)
            barrier.init(bar, 0, 1)
            barrier.arrive_expect_tx(bar, 0, nbytes)
            tma.load(tile, source, corner, bar, 0)
        cuda.syncthreads()
        barrier.wait_parity(bar, 0, 0)
        for n in range(cuda.threadIdx.x, size, cuda.blockDim.x):
            shown[n] = tile.reshape(size)[n]
        tma.fence_proxy_async()
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            tma.store(target, stored_at, tile)
            tma.commit_group()
            tma.wait_group_read(0)
            tma.wait_group(0)

    return round_trip


def box_of(array: np.ndarray[Any, Any], corner: tuple[int, ...], box: tuple[int, ...]) -> Any:
    """Return a box of an array, with zeros outside."""
    padded = np.pad(array, [(64, 64)] * array.ndim)
    return padded[tuple(slice(64 + c, 64 + c + n) for c, n in zip(corner, box))]


def swizzled(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return rows of 32, 64 or 128 bytes with the chunks where the hardware puts them."""
    width = rows.shape[-1] * rows.itemsize
    data = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
    address = np.arange(data.size)
    moved = np.empty_like(data)
    moved[address ^ (address >> 7 & (width // 16 - 1)) << 4] = data
    return moved.view(rows.dtype)


CASES = [
    ((16, 32), np.float32, (40, 24), (8, 4)),
    ((16, 16), np.float32, (40, 24), (-3, 12)),
    ((24, 8), np.float32, (20, 16), (4, 12)),
    ((8, 4), np.float32, (20, 16), (0, 0)),
    ((3, 8, 64), np.float16, (5, 9, 72), (1, 2, 16)),
    ((64,), np.int32, (100,), (72,)),
    ((2, 2, 2, 16), np.int8, (3, 4, 4, 32), (2, 1, 3, 16)),
]


@pytest.mark.parametrize(("box", "dtype", "shape", "corner"), CASES)
def test_boxes_make_a_round_trip(
    target: str, box: tuple[int, ...], dtype: Any, shape: tuple[int, ...], corner: tuple[int, ...]
) -> None:
    source = np.random.default_rng(2).integers(1, 100, shape).astype(dtype)
    empty, shown = np.zeros_like(source), np.full(int(np.prod(box)), 7, dtype)
    shown, result, _ = launch(
        make_round_trip(box, dtype, corner), (1, 64), target, shown, (empty, box), (source, box)
    )
    expected = box_of(source, corner, box)
    rows_are_swizzled = box[-1] * source.itemsize in (32, 64, 128)
    assert (shown == (swizzled(expected) if rows_are_swizzled else expected.reshape(-1))).all()
    inside = tuple(slice(max(c, 0), max(c, 0) + n) for c, n in zip(corner, box))
    assert (result[inside] == expected[tuple(map(slice, result[inside].shape))]).all()
    result[inside] = 0
    assert not result.any()


@pytest.mark.parametrize("vector", [cuda.float4, cuda.int2])
def test_boxes_of_vectors(target: str, vector: Any) -> None:
    """The box (8, 32 numbers) has swizzled rows."""
    number = vector.numpy.fields["x"][0]
    count = len(vector.numpy.names)
    source = np.arange(1, 20 * 48 + 1, dtype=number).reshape(20, 48)
    vectors = source.view(vector.numpy)
    box, corner = (8, 128 // (4 * count)), (16, 32 // count)
    size = box[0] * box[1]
    shown, result, _ = launch(
        make_round_trip(box, vector, corner), (1, 64), target,
        np.zeros(size, vector.numpy), (np.zeros_like(vectors), box), (vectors, box),
    )  # fmt: skip
    expected = box_of(source, (16, 32), (8, 32))
    assert (shown.view(number) == swizzled(expected)).all()
    assert (result.view(number)[16:, 32:] == source[16:, 32:]).all()
    assert not result.view(number)[:16].any()


@kernel(cluster=2)
def share_row(out, source):
    """Block 0 of the cluster loads a row for both."""
    row, bar = cuda.shared.array(32, np.int32, alignment=128), cuda.shared.array(1, uint64)
    cluster = cuda.cg.this_cluster()
    if cuda.threadIdx.x == 0:
        barrier.init(bar, 0, 1)
        barrier.arrive_expect_tx(bar, 0, 128)
    cluster.sync()
    if cuda.threadIdx.x == 0 and cluster.block_rank() == 0:
        tma.load_multicast(row, source, (32,), bar, 0, 0b11)
    barrier.wait_parity(bar, 0, 0)
    out[cuda.blockIdx.x, cuda.threadIdx.x] = row[cuda.threadIdx.x]
    cluster.sync()


def test_blocks_of_a_cluster_share_a_load(target: str) -> None:
    source = np.arange(64, dtype=np.int32)
    out, _ = launch(share_row, (4, 32), target, np.zeros((4, 32), np.int32), (source, (32,)))
    assert (out[:2] == source[32:]).all()
    assert (out[2:] == source[32:]).all()


@pytest.mark.parametrize(
    ("array", "box", "swizzle", "message"),
    [
        (np.zeros((8, 8), np.complex64), (8, 8), None, "not an array of complex64"),
        ([1, 2], (2,), None, "not list"),
        (np.zeros((8, 8)), (8,), None, "the array has 2 axes and the box 1"),
        (np.zeros((1,) * 6), (1,) * 6, None, "1 to 5"),
        (np.zeros((999, 2)), (257, 2), None, "1 to 256"),
        (np.zeros((8, 8), np.int8), (8, 8), None, "a multiple of 16 bytes"),
        (np.zeros((8, 8)).T, (8, 8), None, "last axis of the array is not contiguous"),
        (np.zeros((8, 16)), (8, 16), "128B", None),
        (np.zeros((8, 16)), (8, 16), "none", None),
        (np.zeros((8, 8)), (8, 4), "128B", "rows of the box have 32 bytes"),
        (np.zeros((8, 8)), (8, 4), "16B", "swizzle is 'none'"),
    ],
)
def test_arrays_that_cannot_be_mapped(array: Any, box: Any, swizzle: Any, message: Any) -> None:
    if message is None:
        assert cuda.TensorMap(array, box, swizzle).swizzle == swizzle
        return
    with pytest.raises((TypeError, ValueError), match=message):
        cuda.TensorMap(array, box, swizzle)


def test_a_map_of_host_memory_has_no_descriptor_on_a_gpu() -> None:
    tensor_map = cuda.TensorMap(np.zeros((8, 8)), (8, 8))
    with pytest.raises(LaunchError, match=r"cuda\.to_device"):
        tensor_map.descriptor.__pycu2c_handle__("device")


def test_cuda_uses_the_instructions() -> None:
    arguments = [np.zeros(512, np.float32)]
    arguments += [cuda.TensorMap(np.zeros((40, 24), np.float32), (16, 32))] * 2
    text, log = hopper_code(make_round_trip((16, 32), np.float32, (8, 4)), *arguments)
    assert "__shared__ __align__(1024) float" in text
    assert not log.strip("\0\n ")
    row = cuda.TensorMap(np.zeros(64, np.int32), (32,))
    text, log = hopper_code(share_row, np.zeros((1, 1), np.int32), row)
    assert ".multicast::cluster" in text
    assert not log.strip("\0\n ")


@pytest.mark.parametrize("is_waiting", [True, False])
def test_checked_runs_take_maps_of_host_memory(is_waiting: bool) -> None:
    @kernel(backend="cpu", check=True)
    def copy_box(out, rows):
        tile = cuda.shared.array((8, 32), float32, alignment=1024)
        bar = cuda.shared.array(1, uint64)
        if cuda.threadIdx.x == 0:
            barrier.init(bar, 0, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            barrier.arrive_expect_tx(bar, 0, 1024)
            tma.load(tile, rows, (0, 0), bar, 0)
        if is_waiting:
            barrier.wait_parity(bar, 0, 0)
        for i in range(8):
            out[i, cuda.threadIdx.x] = tile[i, cuda.threadIdx.x]

    rows = np.arange(256, dtype=np.float32).reshape(8, 32)
    for _ in range(3):
        out = np.zeros_like(rows)
        if is_waiting:
            copy_box[1, 32](out, cuda.TensorMap(rows, (8, 32), "none"))
            assert (out == rows).all()
        else:
            with pytest.raises(CheckError, match="race"):
                copy_box[1, 32](out, cuda.TensorMap(rows, (8, 32), "none"))
