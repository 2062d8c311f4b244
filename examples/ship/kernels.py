"""The kernel of the library heat."""

from pycu2c import cuda, float32, kernel


@kernel(block=(32, 8))
def diffuse(t: float32[:, ::1], out: float32[:, ::1], rate: float32):
    """Compute a time step of heat that spreads in a plate; the border keeps its temperature."""
    x, y = cuda.grid(2)
    height, width = t.shape
    if x >= width or y >= height:
        return
    change = float32(0)
    if 0 < x < width - 1 and 0 < y < height - 1:
        change = t[y, x - 1] + t[y, x + 1] + t[y - 1, x] + t[y + 1, x] - 4 * t[y, x]
    out[y, x] = t[y, x] + rate * change
