"""A thread keeps its tile of a product in a local array, whose rows are vectorized."""

from pycu2c import cuda, float32, kernel

TARGET = "cpu"
SIGNATURE = "float32[:, ::1], float32[:, ::1], float32[:, ::1]"


@kernel(fmad=False, block=(4, 4))
def product(c, a, b):
    tile_a = cuda.shared.array((8, 8), float32)
    tile_b = cuda.shared.array((8, 16), float32)
    total = cuda.local.array((2, 4), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for m in range(2):
        for n in range(4):
            total[m, n] = 0
    for step in range(a.shape[1] // 8):
        for i in range(ty, 8, 4):
            for j in range(tx, 8, 4):
                tile_a[i, j] = a[cuda.blockIdx.y * 8 + i, step * 8 + j]
            for j in range(tx, 16, 4):
                tile_b[i, j] = b[step * 8 + i, cuda.blockIdx.x * 16 + j]
        cuda.syncthreads()
        for k in range(8):
            for m in range(2):
                for n in range(4):
                    total[m, n] += tile_a[ty * 2 + m, k] * tile_b[k, tx * 4 + n]
        cuda.syncthreads()
    for m in range(2):
        for n in range(4):
            c[cuda.blockIdx.y * 8 + ty * 2 + m, cuda.blockIdx.x * 16 + tx * 4 + n] = total[m, n]
