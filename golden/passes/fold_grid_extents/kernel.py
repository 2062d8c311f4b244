"""The grid's extent in threads uses the known shape of the block."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1]"


@kernel(block=32)
def synchronized(x):
    x[cuda.grid(1)] = cuda.gridsize(1)
    cuda.cg.this_grid().sync()
    x[0] = x[1]
