"""One radix-2 stage of an FFT in place, one thread for each butterfly."""

from __future__ import annotations

import numpy as np

from irregular import Problem, blocks
from pycu2c import cuda, kernel


@kernel
def fft_stage(re, im, cosines, sines, half):
    k = cuda.grid(1)
    if k < re.size // 2:
        group = k // half
        offset = k % half
        i = 2 * half * group + offset
        j = i + half
        wr, wi = cosines[offset], sines[offset]
        tr = wr * re[j] - wi * im[j]
        ti = wr * im[j] + wi * re[j]
        re[j] = re[i] - tr
        im[j] = im[i] - ti
        re[i] += tr
        im[i] += ti


def problem(scale: int) -> Problem:
    rng, n, half = np.random.default_rng(1), 2**20 * scale, 512
    re, im = (rng.standard_normal(n, np.float32) for _ in range(2))
    angles = -np.pi * np.arange(half) / half
    roots = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    arguments = re, im, *roots, np.int32(half)
    return Problem(arguments, (blocks(n // 2),), (256,), results=(0, 1))
