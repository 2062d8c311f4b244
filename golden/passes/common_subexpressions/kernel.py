"""Indices that several statements use, and parts of them, are computed once."""

from pycu2c import cuda, kernel

TARGET = "cuda"
SIGNATURE = "float32[:, :, ::1], float32[:, :, ::1]"


@kernel
def averaged(u, out):
    j, i = cuda.grid(2)
    rows, columns = u.shape[0], u.shape[1]
    if i < rows and j < columns:
        out[i, j, 0] = (u[i, j, 0] + u[i, j, 1] + u[i, j, 2]) / 3
        out[i, j, 1] = u[i, j, 3] if u[i, j, 0] > 0 else u[i, j, 4]
        if j > 0:
            out[i, j, 2] = u[i, j - 1, 0]
