"""Tensor maps in signatures: kernels that are compiled without arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, kernel, uint64
from pycu2c.cuda import barrier, tma
from pycu2c.toolchain.nvrtc import nvrtc
from pycu2c.toolchain.toolchain_errors import ToolchainError
from support.asynchronous import types_of


def copy_box(out, rows):
    tile, bar = cuda.shared.array((16, 32), float32), cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        barrier.init(bar, 0, 1)
        barrier.arrive_expect_tx(bar, 0, 2048)
        tma.load(tile, rows, (0, 0), bar, 0)
    cuda.syncthreads()
    barrier.wait_parity(bar, 0, 0)
    for i in range(cuda.threadIdx.x, 512, cuda.blockDim.x):
        out[i] = tile.reshape(512)[i]


@pytest.mark.parametrize(("swizzle", "text"), [("none", ""), ("128B", ", '128B'")])
def test_declared_types_are_those_of_launches(swizzle: Any, text: str) -> None:
    rows, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros(512, np.float32)
    tensor_map = cuda.TensorMap(rows, (16, 32), swizzle)
    signature = f"float32[::1], TensorMap(float32[:, ::1]{text})"
    cuda_text = kernel(copy_box).inspect("cuda", signature)
    assert "unsigned long long rows_descriptor" in cuda_text
    assert cuda_text == kernel(copy_box).inspect("cuda", types_of(out, tensor_map))
    kernel(backend="cpu", signature=signature)(copy_box)[1, 64](out, tensor_map)
    assert sorted(out) == list(range(512))


def test_architecture_without_an_instruction() -> None:
    text = kernel(copy_box).inspect("cuda", "float32[::1], TensorMap(float32[:, ::1])")
    with pytest.raises(ToolchainError, match=r"uses .* which sm_80 does not support.*sm_90a"):
        nvrtc.compile(text, "copy_box", "sm_80", kind="cubin")
