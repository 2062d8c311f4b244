"""A complex number becomes two variables in a loop that is strip-mined."""

from pycu2c import cuda, kernel

TARGET = "cpu"
SIGNATURE = "int32[::1], complex64[::1]"


@kernel(block=64)
def escape(out, c):
    i = cuda.grid(1)
    z = start = c[i]
    count = 0
    while count < 50 and z.real * z.real + z.imag * z.imag < 4:
        z = z * z + start
        count += 1
    out[i] = count
