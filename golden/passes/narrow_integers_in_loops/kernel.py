"""Ints of loops that are strip-mined become 32-bit."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1]"


@kernel(block=64)
def steps(x):
    i = cuda.grid(1)
    n = x[i]
    count = 0
    while n != 1 and count < 100:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    x[i] = count
