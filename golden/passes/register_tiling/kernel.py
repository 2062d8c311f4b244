"""Sums of several threads stay in registers while an inner loop runs."""

from pycu2c import cuda, float32, kernel

TARGET = "cpu"
SIGNATURE = "float32[:, ::1], float32[:, ::1], float32[:, ::1]"


@kernel(block=(16, 16))
def product(c, a, b):
    x, y = cuda.grid(2)
    if y < c.shape[0] and x < c.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[y, k] * b[k, x]
        c[y, x] = total
