"""A picture with what photographs have: soft light, hard edges, texture and sensor noise."""

from __future__ import annotations

import numpy as np

SKY_TOP, SKY_LOW = np.array([70, 110, 190.0]), np.array([250, 205, 160.0])
NEAR, FAR = np.array([30, 60, 45.0]), np.array([120, 130, 160.0])


def landscape(size: int, seed: int = 7) -> np.ndarray:
    """A sun over three ranges of hills and a lit window front; uint8, (size, size, 3)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:size, 0:size] / size
    picture = SKY_TOP + (SKY_LOW - SKY_TOP) * y[..., None]

    distance = np.hypot(x - 0.7, y - 0.25)
    picture += 90 * np.exp(-((distance / 0.15) ** 2))[..., None]
    picture[distance < 0.07] = 255, 245, 200

    for layer, base in enumerate((0.45, 0.6, 0.75)):
        ridge = base + _ridge(x[0], rng) * (0.12 - 0.03 * layer)
        haze = layer / 2
        texture = rng.normal(0, 6, (size, size, 1)) * (0.5 + haze)
        ground = FAR + (NEAR - FAR) * haze + texture
        picture = np.where((y > ridge)[..., None], ground, picture)

    _draw_building(picture, size)
    picture += rng.normal(0, 3, picture.shape)
    return np.clip(picture, 0, 255).astype(np.uint8)


def _ridge(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Waves of falling height and random phase."""
    waves = (np.sin(x * 2**k * 5 + rng.uniform(0, 6)) / 2**k for k in range(6))
    return np.sum(list(waves), axis=0) / 2


def _draw_building(picture: np.ndarray, size: int) -> None:
    unit = size / 32
    rows, columns = slice(int(20 * unit), int(28 * unit)), slice(int(4 * unit), int(12 * unit))
    picture[rows, columns] = 150, 75, 60
    for row in range(21, 27, 2):
        for column in range(5, 11, 2):
            window = slice(int(row * unit), int((row + 1) * unit))
            picture[window, int(column * unit) : int((column + 1) * unit)] = 250, 230, 140
