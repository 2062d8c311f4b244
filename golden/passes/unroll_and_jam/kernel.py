"""Rows of threads that share reads of an inner loop run four at a time."""

from pycu2c import cuda, float32, kernel

TARGET = "cpu"
SIGNATURE = "float32[:, ::1], float32[:, ::1], float32[:, ::1]"


@kernel(fmad=False, block=(8, 8))
def product(c, a, b):
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.grid(2)
    total = float32(0)
    for step in range(a.shape[1] // 8):
        tile_a[ty, tx] = a[y, step * 8 + tx]
        tile_b[ty, tx] = b[step * 8 + ty, x]
        cuda.syncthreads()
        for k in range(8):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()
    c[y, x] = total
