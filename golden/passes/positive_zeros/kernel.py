"""An integer that a float was converted to gives 0.0, not -0.0, when it becomes a float again."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "float64[::1], float64[::1]"


@kernel
def fractions(x, out):
    i = cuda.grid(1)
    whole = int(x[i])
    out[i] = whole
    x[i] -= whole
