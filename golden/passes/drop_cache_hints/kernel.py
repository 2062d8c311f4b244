"""Loads and stores with cache hints become plain ones."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float32[::1]"


@kernel(block=64)
def doubled(x):
    i = cuda.grid(1)
    cuda.stcs(x, i, cuda.ldcg(x, i) * 2)
