"""Arrays of more axes than a grid has, and the real and imaginary parts of complex arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, device, kernel
from pycu2c.kernels.kernel import Kernel

WEIGHTS = np.arange(16, dtype=np.float64).reshape(2, 2, 2, 2)


def launch(target: str, k: Kernel[...], threads: int, *arguments: Any) -> None:
    fresh = Kernel(k.python, backend=target)  # type: ignore[arg-type]
    for _ in range(3):  # the last of them by the short way
        fresh[1, threads](*arguments)


@kernel
def sums(a, out):
    i = cuda.grid(1)
    kept = cuda.local.array((1, 2, 1, 2), np.float64)
    if i < a.shape[0]:
        kept[0, 1, 0, 1] = 0
        for j in range(a.shape[1]):
            for k in range(a.shape[2]):
                for m in range(a.shape[3]):
                    kept[0, 1, 0, 1] += a[i, j, k, m] * WEIGHTS[i % 2, j % 2, k % 2, -1]
        out[i, 0, 0, 0, -1] = kept[0, 1, 0, 1]


@pytest.mark.parametrize("order", ["C", "F"])
def test_four_and_five_axes(order: Any, target: str) -> None:
    a = np.asarray(np.random.default_rng(1).random((3, 4, 5, 2)), order=order)
    out = np.zeros((3, 1, 2, 1, 2))
    launch(target, sums, 32, a, out)
    j, k = np.arange(4) % 2, np.arange(5) % 2
    expected = [(a[i] * WEIGHTS[i % 2][j[:, None], k, 1][..., None]).sum() for i in range(3)]
    np.testing.assert_allclose(out[:, 0, 0, 0, -1], expected)
    assert np.count_nonzero(out) == 3


@device
def raised(numbers, i, by):
    numbers[i] += by


@kernel
def changed(z, out):
    i = cuda.threadIdx.x
    shared = cuda.shared.array(4, np.complex64)
    own = cuda.local.array(2, z.dtype)
    shared[i] = own[1] = z[i]
    raised(own.imag, 1, 1)
    cuda.syncthreads()
    cuda.atomic.add(shared.imag, 0, 1)
    cuda.atomic.max(z.real, 0, i)
    imag = z[1:].imag
    if i < imag.size:
        imag[i] = -imag[i]
        raised(z.real, i + 1, 10)
    cuda.syncthreads()
    out.imag[i] = shared.imag[0] + z.real.shape[0] + own[1].imag - 4 * i + out.real.real[i]
    out.real[i] = shared.real[i]


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_parts_of_complex_arrays(dtype: Any, target: str) -> None:
    z, out = (np.arange(8) * (1 + 2j)).astype(dtype)[::2], np.zeros(4, dtype)
    fresh = Kernel(changed.python, backend=target)  # type: ignore[arg-type]
    fresh[1, 4](z, out)
    assert z.tolist() == [3 + 0j, 12 - 4j, 14 - 8j, 16 - 12j]
    assert out.tolist() == [0 + 9j, 2 + 9j, 4 + 9j, 6 + 9j]


def test_real_numbers_have_no_imaginary_part_in_memory() -> None:
    @kernel
    def wrong(a):
        a.imag[0] = 1

    with pytest.raises(CompileError, match=r"no `\.imag` in a kernel"):
        wrong.inspect("ir", "void(float32[:])")
