"""Find the edges of a photograph: gray, 5x5 Gaussian blur, Sobel.

Two of the three kernels read each pixel many times, so a block first copies its tile and a
rim of neighbours (the halo) to shared memory, waits until all of it is there, then computes.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from photo import landscape
from report import blocks, checked, parser, save_figure, show

from pycu2c import cuda, device, float32, kernel
from pycu2c.kernels.kernel import Backend

TILE = 16  # a block is TILE x TILE threads, one per pixel
BLUR_RADIUS = 2
BLUR_EXTENT = TILE + 2 * BLUR_RADIUS
SOBEL_EXTENT = TILE + 2
WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)


# ---- kernels -----------------------------------------------------------------------------------


@device
def clamped(position, length):
    """The nearest position inside: pixels beyond the edge repeat those on it."""
    return min(max(position, 0), length - 1)


def luminance(rgb, gray):
    """How bright a pixel looks, 0 to 1."""
    x, y = cuda.grid(2)
    if x < gray.shape[1] and y < gray.shape[0]:
        weighted = 0.299 * float32(rgb[y, x, 0])
        weighted += 0.587 * float32(rgb[y, x, 1])
        weighted += 0.114 * float32(rgb[y, x, 2])
        gray[y, x] = weighted / 255.0


def blur(image, weights, out):
    """The weighted mean of the 5x5 pixels around each."""
    tile = cuda.shared.array((BLUR_EXTENT, BLUR_EXTENT), float32)
    height, width = image.shape[0], image.shape[1]
    left = cuda.blockIdx.x * TILE - BLUR_RADIUS
    top = cuda.blockIdx.y * TILE - BLUR_RADIUS

    # The tile has more elements than the block has threads: each loads up to four.
    for row in range(cuda.threadIdx.y, BLUR_EXTENT, TILE):
        for column in range(cuda.threadIdx.x, BLUR_EXTENT, TILE):
            tile[row, column] = image[clamped(top + row, height), clamped(left + column, width)]
    cuda.syncthreads()

    x, y = cuda.grid(2)
    if x < width and y < height:
        total = 0.0
        for dy in range(2 * BLUR_RADIUS + 1):
            for dx in range(2 * BLUR_RADIUS + 1):
                pixel = tile[cuda.threadIdx.y + dy, cuda.threadIdx.x + dx]
                total += weights[dy] * weights[dx] * pixel
        out[y, x] = total


def sobel(image, out):
    """How steeply the brightness changes."""
    tile = cuda.shared.array((SOBEL_EXTENT, SOBEL_EXTENT), float32)
    height, width = image.shape[0], image.shape[1]
    left = cuda.blockIdx.x * TILE - 1
    top = cuda.blockIdx.y * TILE - 1

    for row in range(cuda.threadIdx.y, SOBEL_EXTENT, TILE):
        for column in range(cuda.threadIdx.x, SOBEL_EXTENT, TILE):
            tile[row, column] = image[clamped(top + row, height), clamped(left + column, width)]
    cuda.syncthreads()

    x, y = cuda.grid(2)
    if x >= width or y >= height:
        return
    r, c = cuda.threadIdx.y, cuda.threadIdx.x  # the corner of this pixel's 3x3 neighbourhood
    right = tile[r, c + 2] + 2.0 * tile[r + 1, c + 2] + tile[r + 2, c + 2]
    left_side = tile[r, c] + 2.0 * tile[r + 1, c] + tile[r + 2, c]
    below = tile[r + 2, c] + 2.0 * tile[r + 2, c + 1] + tile[r + 2, c + 2]
    above = tile[r, c] + 2.0 * tile[r, c + 1] + tile[r, c + 2]
    across = right - left_side
    down = below - above
    out[y, x] = math.sqrt(across * across + down * down)


# ---- the program around them -------------------------------------------------------------------


def find_edges(photo: np.ndarray, backend: Backend) -> np.ndarray:
    """The strength of the edge at every pixel, by the kernels."""
    compiled = kernel(block=(TILE, TILE), backend=backend)
    luminance_kernel, blur_kernel = compiled(luminance), compiled(blur)
    sobel_kernel = compiled(sobel)
    height, width = photo.shape[:2]
    grid, block = (blocks(width, TILE), blocks(height, TILE)), (TILE, TILE)
    gray, smooth, strength = np.zeros((3, height, width), np.float32)

    luminance_kernel[grid, block](photo, gray)
    blur_kernel[grid, block](gray, WEIGHTS, smooth)
    sobel_kernel[grid, block](smooth, strength)
    show(luminance_kernel, blur_kernel, sobel_kernel)
    return strength


def find_edges_numpy(photo: np.ndarray) -> np.ndarray:
    """The same by whole-array numpy in float64, as a check."""
    height, width = photo.shape[:2]
    gray = photo @ np.array([0.299, 0.587, 0.114]) / 255
    padded = np.pad(gray, BLUR_RADIUS, mode="edge")
    rows = np.sum([w * padded[k : k + height] for k, w in enumerate(WEIGHTS)], axis=0)
    smooth = sum(w * rows[:, k : k + width] for k, w in enumerate(WEIGHTS))

    padded = np.pad(smooth, 1, mode="edge")
    vertical = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    horizontal = padded[:, :-2] + 2 * padded[:, 1:-1] + padded[:, 2:]
    return np.hypot(vertical[:, 2:] - vertical[:, :-2], horizontal[2:] - horizontal[:-2])


def photograph(given: Path | None, size: int) -> np.ndarray:
    """Return the pixels of a file, or of a picture that is computed; RGB, uint8."""
    if given is None:
        return landscape(size)
    from matplotlib.image import imread

    pixels = np.asarray(imread(given))
    if pixels.dtype != np.uint8:  # a PNG file: floats, 0 to 1
        pixels = np.round(pixels * 255).astype(np.uint8)
    if pixels.ndim == 2:  # gray: the same in every channel
        pixels = np.stack([pixels] * 3, axis=2)
    return np.ascontiguousarray(pixels[:, :, :3])


def draw(figure: Any, photo: np.ndarray, strength: np.ndarray) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    left.imshow(photo)
    left.set(title="Photograph", xlabel="column (pixel)", ylabel="row (pixel)")
    image = right.imshow(strength, cmap="gray_r", vmin=0, vmax=0.6)
    right.set(title="Edges", xlabel="column (pixel)")
    figure.colorbar(image, label="edge strength", extend="max", shrink=0.7)


def main(arguments: list[str] | None = None) -> None:
    options = parser(__doc__, size=1024, meaning="pixels a side", out="out/edges.png")
    options.add_argument("--input", type=Path, help="a picture, in place of a computed one")
    given = options.parse_args(arguments)
    photo = photograph(given.input, given.size)

    strength = find_edges(photo, given.backend)
    difference = np.abs(strength - find_edges_numpy(photo)).max()
    save_figure(given.out, lambda figure: draw(figure, photo, strength))
    checked("edge strength (about 0 to 4)", difference, 1e-5)


if __name__ == "__main__":
    main()
