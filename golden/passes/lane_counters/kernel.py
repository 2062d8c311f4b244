"""A for loop that is strip-mined becomes a while loop with a counter for each lane."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1], float32"


@kernel(block=64)
def first_over(x, limit):
    i = cuda.grid(1)
    value = x[i]
    for _ in range(100):
        value = value * 1.5 + 1
        if value > limit:
            break
    x[i] = value
