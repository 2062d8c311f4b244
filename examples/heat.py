"""Heat on a plate with heated parts: hundreds of launches between two arrays.

Each step reads one array and writes the other, then they are swapped, so that no thread reads a
value that another has already replaced.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from report import blocks, checked, parser, save_figure, show

from pycu2c import cuda, kernel
from pycu2c.kernels.kernel import Backend

BLOCK = (32, 8)  # wide, so that neighbouring threads read neighbouring elements
RATE = np.float32(0.24)  # how much flows in a step; above 0.25 the method is unstable


def step(now, held, following, rate):
    """Kernel: an element moves towards the mean of its four neighbours; held ones stay."""
    x, y = cuda.grid(2)
    height, width = now.shape[0], now.shape[1]
    if x >= width or y >= height:
        return
    at_edge = x == 0 or y == 0 or x == width - 1 or y == height - 1
    if at_edge or held[y, x]:
        following[y, x] = now[y, x]
    else:
        around = now[y - 1, x] + now[y + 1, x] + now[y, x - 1] + now[y, x + 1]
        following[y, x] = now[y, x] + rate * (around - 4.0 * now[y, x])


def plate(size: int) -> tuple[np.ndarray, np.ndarray]:
    """A cold plate with a hot ring, a warm bar and a cold spot; and which elements are held."""
    y, x = np.mgrid[0:size, 0:size] / size
    temperature = np.zeros((size, size), np.float32)
    radius = np.hypot(x - 0.42, y - 0.42)
    ring = np.abs(radius - 0.25) < 0.02
    bar = (np.abs(y - 0.85) < 0.02) & (np.abs(x - 0.55) < 0.35)
    spot = radius < 0.05
    temperature[ring], temperature[bar] = 1.0, 0.8
    return temperature, ring | bar | spot


def simulated(size: int, steps: int, backend: Backend) -> np.ndarray:
    """The temperature after that many steps, by the kernel."""
    step_kernel = kernel(block=BLOCK, backend=backend)(step)
    now, held = plate(size)
    following = np.zeros_like(now)
    grid = blocks(size, BLOCK[0]), blocks(size, BLOCK[1])
    for _ in range(steps):
        step_kernel[grid, BLOCK](now, held, following, RATE)
        now, following = following, now
    show(step_kernel)
    return now


def simulated_numpy(size: int, steps: int) -> np.ndarray:
    """The same by whole-array numpy, as a check."""
    now, held = plate(size)
    moves = ~held[1:-1, 1:-1]
    for _ in range(steps):
        around = now[:-2, 1:-1] + now[2:, 1:-1] + now[1:-1, :-2] + now[1:-1, 2:]
        inner = now[1:-1, 1:-1]
        inner += moves * RATE * (around - 4 * inner)
    return now


def draw(figure: Any, temperature: np.ndarray, steps: int) -> None:
    ax = figure.add_subplot()
    image = ax.imshow(temperature, cmap="inferno", vmin=0, vmax=1, extent=(0, 1, 1, 0))
    ax.set(title=f"A plate with heated parts after {steps} steps", xlabel="x", ylabel="y")
    figure.colorbar(image, label="temperature (0 cold, 1 hot)")


def main(arguments: list[str] | None = None) -> None:
    options = parser(__doc__, size=512, meaning="elements a side", out="out/heat.png")
    options.add_argument("--steps", type=int, default=600, help="default: 600")
    given = options.parse_args(arguments)
    temperature = simulated(given.size, given.steps, given.backend)
    difference = np.abs(temperature - simulated_numpy(given.size, given.steps)).max()

    save_figure(given.out, lambda figure: draw(figure, temperature, given.steps))
    checked(f"temperature after {given.steps} steps", difference, 1e-4)


if __name__ == "__main__":
    main()
