"""Arrays become pointers, and the lengths and strides that are used."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[:, ::1], float32[:]"


@kernel
def first_column(matrix, out):
    i = cuda.grid(1)
    if i < matrix.shape[0]:
        out[i] = matrix[i, 0]
