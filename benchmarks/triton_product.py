"""A product of matrices in Triton, after the structure of the matmul in Triton's tutorials.

Each program computes a tile of ``c = a @ b.T``. The programs of a band of rows of tiles run one
after another, for the L2 cache. Sizes are multiples of the tiles, so there are no masks.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

BAND = 8  # rows of tiles


def config(m: int, n: int, k: int, stages: int, warps: int) -> Any:
    return triton.Config({"M": m, "N": n, "K": k}, num_stages=stages, num_warps=warps)


CONFIGS = [
    config(128, 256, 64, 3, 8),
    config(128, 256, 64, 4, 8),
    config(256, 128, 64, 3, 8),
    config(128, 128, 64, 4, 8),
    config(128, 128, 64, 4, 4),
    config(128, 128, 32, 4, 4),
    config(64, 256, 32, 4, 4),
]


@triton.autotune(configs=CONFIGS, key=["rows", "columns", "depth"])
@triton.jit
def multiply(
    c,
    a,
    b,
    rows,
    columns,
    depth,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    BAND: tl.constexpr,
):
    tile, tiles_in_row = tl.program_id(0), columns // N
    first = tile // (BAND * tiles_in_row) * BAND
    place = tile % (BAND * tiles_in_row)
    height = min(BAND, rows // M - first)
    i = (first + place % height) * M + tl.arange(0, M)
    j = place // height * N + tl.arange(0, N)
    k = tl.arange(0, K)
    left, right = a + i[:, None] * depth + k[None, :], b + j[None, :] * depth + k[:, None]
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, depth, K):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += K
        right += K
    tl.store(c + i[:, None] * columns + j[None, :], total.to(c.dtype.element_ty))


def launch(c: Any, a: Any, b: Any) -> None:
    """Launch for tensors of PyTorch."""
    (rows, depth), columns = a.shape, b.shape[0]
    grid = lambda meta: (rows // meta["M"] * (columns // meta["N"]),)  # noqa: E731
    multiply[grid](c, a, b, rows, columns, depth, BAND=BAND)
