r"""
Matrix product
==============

*Tiles in shared memory, and how many reads of global memory they save.*

An element of the product :math:`C = A B` is the sum of :math:`n` products. If each thread reads
its row and its column from global memory, a product of :math:`n \times n` matrices takes :math:`2
n^3` reads, although there are only :math:`2 n^2` elements.
"""

import matplotlib.pyplot as plt
import numpy as np

from pycu2c import cuda, float32, kernel

# %%
# A function that makes kernels
# -----------------------------
#
# A block computes a tile of C. It moves along a row of tiles of A and a column of tiles of B; its
# threads load both tiles to shared memory and read each element ``size`` times from there.
#
# The size of a shared array has to be known when the kernel is compiled. ``make_multiply`` returns
# a kernel for each size. The kernel reads ``size`` as a constant.


def make_multiply(size):
    @kernel(block=(size, size))
    def multiply(a, b, c):
        a_tile = cuda.shared.array((size, size), float32)
        b_tile = cuda.shared.array((size, size), float32)
        x, y = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        inner = a.shape[1]
        total = float32(0)
        for start in range(0, inner, size):
            k, m = start + tx, start + ty
            a_tile[ty, tx] = a[y, k] if y < a.shape[0] and k < inner else 0
            b_tile[ty, tx] = b[m, x] if m < inner and x < b.shape[1] else 0
            cuda.syncthreads()
            for j in range(size):
                total += a_tile[ty, j] * b_tile[j, tx]
            cuda.syncthreads()
        if x < c.shape[1] and y < c.shape[0]:
            c[y, x] = total

    return multiply


# %%
# Check
# -----
#
# The sizes of the matrices are not multiples of the tile.

SIZES = (1, 2, 4, 8, 16, 32)

rng = np.random.default_rng(17)
a = rng.normal(size=(150, 130)).astype(np.float32)
b = rng.normal(size=(130, 110)).astype(np.float32)
kernels = {size: make_multiply(size) for size in SIZES}
for multiply in kernels.values():
    c = np.zeros((150, 110), np.float32)
    multiply(a, b, c)
    np.testing.assert_allclose(c, a.astype(float) @ b, atol=1e-4)

# %%
# Reads of global memory
# ----------------------
#
# Each thread reads two elements for each tile, so :math:`n^3` products need :math:`2 n^3 / size`
# reads of 4 bytes. The *arithmetic intensity* is the number of operations for each byte from
# memory. A GPU has a peak rate of operations and of memory accesses. Their ratio, about 20
# operations for each byte of an H100 (67 TFLOP/s, 3.35 TB/s), is the intensity that a kernel needs
# to reach the peak. (Caches help small tiles in practice.)

sizes = np.array(SIZES)
intensity = 2 / (2 * 4 / sizes)  # a multiplication and an addition; two reads of 4 bytes / size
attainable = np.minimum(67, 3.35 * intensity)

fig, (left, right) = plt.subplots(1, 2, figsize=(6.4, 3.2), layout="constrained")
left.loglog(sizes, 2 * 1024**3 / sizes, "o-", base=2)
left.set(title="Reads for n = 1024", xlabel="size of a tile", ylabel="reads of global memory")
right.plot(sizes, attainable, "o-", label="limit by memory")
right.axhline(67, color="black", ls="--", label="peak of an H100")
right.set_xscale("log", base=2)
right.set_yscale("log")
right.set(title="Attainable rate", xlabel="size of a tile", ylabel="TFLOP/s (float32)")
right.legend()
for ax in (left, right):
    ax.set_xticks(sizes, [str(size) for size in SIZES])
