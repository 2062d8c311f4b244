"""What type checkers say about kernels. ``# E`` marks the lines that both must refuse; all other
lines are clean under mypy --strict and pyright."""

from __future__ import annotations

from typing import Any, Literal, assert_type

import numpy as np
import numpy.typing as npt

from pycu2c import (
    Array,
    CheckError,
    Finding,
    boolean,
    cuda,
    device,
    float2,
    float32,
    float64,
    int32,
    kernel,
    surface1d,
    texture2d,
    uint8,
)


@device
def clamped(position: int32, length: int32) -> int:
    return min(max(position, 0), length - 1)


@kernel
def scale(x: Array[float32], grid: Array[float64, Literal[2]], n: int32, by: float32) -> None:
    i = cuda.grid(1)
    assert_type(i, int)
    assert_type(cuda.grid(2), tuple[int, int])
    assert_type(cuda.gridsize(3), tuple[int, int, int])
    assert_type(cuda.threadIdx.x, int)
    assert_type(x[i], float)
    assert_type(x[i] * 2.0, float)
    assert_type(grid[i, 0], float)
    assert_type(x.shape, tuple[int, ...])
    assert_type(clamped(i, n), int)
    if i < n:
        x[i] = clamped(i, len(x)) * float32(by) + grid[i, 1]
        x[i] += 1
    row = grid[i]
    row[1] = 0.0
    print(cuda.threadIdx.w)  # E
    cuda.grid(4)  # E
    clamped(i)  # E
    clamped("first", i)  # E


@kernel(grid=4, block=(64, 1), backend="cpu")
def count(data: Array[uint8, Literal[1], Literal["C"]], bins: Array[int32], all_: boolean) -> None:
    mine = cuda.shared.array(256, int32)
    assert_type(mine[0], int)
    tile = cuda.local.array((4, 4), float32)
    assert_type(tile[1, 2], float)
    assert_type(cuda.atomic.add(mine, data[0], 1), int)
    cuda.atomic.add(tile, (1, 2), 0.5)
    cuda.atomic.add(bins, 0, mine[0])
    cuda.syncthreads()
    scale.python(tile[0], tile, 1, 2.0)
    cuda.atomic.ad(bins, 0, 1)  # E
    cuda.atomic.add(3, 0, 1)  # E
    cuda.syncthreads(1)  # E


@kernel
def turned(points: Array[cuda.float4], by: float2) -> None:
    v = points[cuda.grid(1)]
    assert_type(v, cuda.float4)
    assert_type(v.x * by.y, float)
    v.x += 1
    v["y"] = 2.0
    points[0] = cuda.float4(by, v.z, 1)
    points[1].w = v.x
    x, y = by
    tile = cuda.shared.array(32, cuda.float4)
    tile[0] = cuda.float4(x, y, v.z, 0)
    assert_type(cuda.shfl_sync(0xFFFFFFFF, v, 0), cuda.float4)
    assert_type(cuda.shfl_up_sync(-1, cuda.laneid, 1, width=16), int)
    assert_type(cuda.ballot_sync(-1, v.x > 0), int)
    assert_type(cuda.match_all_sync(-1, v.x), tuple[int, bool])
    cuda.syncwarp()
    print(by.z)  # E
    cuda.shfl_sync(-1, v)  # E


@kernel
def sampled(image: texture2d[float32], s: surface1d[int32], out: Array[float32]) -> None:
    assert_type(cuda.tex2D(image, 0.5, cuda.grid(1)), float)
    assert_type(cuda.surf1Dread(s, 3), int)
    cuda.surf1Dwrite(1, s, 3)
    cuda.tex2D(image, 0.5)  # E
    cuda.tex2D(out, 0.5, 1)  # E


def launches(x: npt.NDArray[np.float32], y: npt.NDArray[Any], device_array: Any) -> None:
    scale[1, 32](x, y, 5, 0.5)
    scale[(1, 2), (32, 1), None, 1024](device_array, y.T, len(x), by=1)
    count(np.zeros(8, np.uint8), y, True)
    assert_type(scale.inspect("c"), str)
    assert_type(scale.name, str)
    turned[1, 32](np.zeros(4, cuda.float4.numpy), cuda.float2(1, 2))
    texture = cuda.texture(x, "border", filter_mode="linear")
    sampled[1, 32](texture, cuda.surface((3,), np.int32), x)
    sampled[1, 32](x, cuda.surface(x), x)  # E
    cuda.texture(x, "repeat")  # E
    scale[1, 32](x, y, 5)  # E
    scale[1, 32](x, y, 5, 0.5, 1)  # E
    scale[1, 32](x, y, "five", 0.5)  # E
    scale[1, 32](1.5, y, 5, 0.5)  # E
    scale[1, 32](x, y, 5, bye=0.5)  # E
    count(x)  # E
    scale.inspect("fortran")  # E
    kernel(grid=1, blocks=2)  # E


def arrays(x: npt.NDArray[np.float32], y: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    stream = cuda.stream()
    a = cuda.to_device(x, stream)
    assert_type(a, cuda.DeviceArray)
    grid = cuda.device_array_like(y)
    grid[...] = 0
    grid[0] = y[0]
    scale[1, 32, stream](a, grid, 5, 0.5)
    assert_type(a.T.reshape(2, -1), cuda.DeviceArray)
    with cuda.pinned(x), stream.auto_synchronize():
        a.copy_to_host(x, stream=stream)
    start, end = cuda.event(), cuda.event(timing=False)
    assert_type(start.elapsed_time(end), float)
    cuda.to_device(x, device="gpu")  # E
    cuda.device_array((2, 3), order="A")  # E
    a.copy_to_hots()  # E
    return cuda.managed_array((2, 3), np.int32)


@cuda.jit(device=True)
def larger(a: float, b: float) -> float:
    return a if a > b else b


@cuda.jit("void(float32[:], float32)", fastmath=True)
def at_least(x: Array[float32], least: float32) -> None:
    i = cuda.grid(1)
    if i < x.size:
        x[i] = larger(x[i], least)


@cuda.jit
def zero(x: Array[float32]) -> None:
    x[cuda.grid(1)] = 0


at_least[1, 4](np.zeros(4, np.float32), 1.0)
at_least.forall(4)(np.zeros(4, np.float32), 1.0)
zero[1, 4](np.zeros(4, np.float32))
zero[1, 4]("text")  # E
at_least[1, 4](np.zeros(4, np.float32))  # E
assert_type(larger(1.0, 2.0), float)
print(zero.get_regs_per_thread(), zero.signatures, zero.py_func)


@cuda.c_function("return x / y;", headers=["cuda_fp16.h"], pure=True)
def quotient(x: float32, y: float32) -> float32:
    return x / y


@cuda.c_function
def elsewhere(x: float32) -> float32:
    raise NotImplementedError


@cuda.ptx_function("add.s32 %result, %x, 1;")
def after(x: int32) -> int32:
    return x + 1


declared = cuda.declare_device("f", "float32(float32)", link=["f.cu"], abi="c")
cuda.declare_device("f", "float32(float32)", abi="d")  # E


@kernel(link=["f.cu", "f.c"])
def own_c(x: Array[float32]) -> None:
    i = cuda.grid(1)
    assert_type(quotient(x[i], 2.0), float)
    x[i] = elsewhere(x[i]) + after(i) + declared(x[i])
    quotient(x[i])  # E


@kernel(check="memory,race")
def checked(x: Array[float32]) -> None:
    x[cuda.grid(1)] = 1


try:
    checked[1, 32](np.zeros(8, np.float32))
except CheckError as error:
    assert_type(error.findings, tuple[Finding, ...])
    assert_type(error.findings[0].line, int)
