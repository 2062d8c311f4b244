"""Small integer arrays that a kernel only adds to are copied for each OS thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, device, float32, int32, int64, kernel, uint8
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.compiler import lower
from pycu2c.declarations.signatures import Signature
from pycu2c.ir.printer import print_module
from pycu2c.kernels.assumption_checks import is_unaliased
from pycu2c.kernels.kernel import Kernel
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.arguments.arguments import describe
from pycu2c.transforms.cpu.memory.privatize_accumulators import accumulator_arguments
from support.kernels_from_text import module_from

HEAD = "from pycu2c import cuda, device, kernel\n\n\n"


def copied(made: Kernel) -> tuple[int, ...]:
    """The arguments that the latest launch had a copy of in each OS thread."""
    assert made.launcher.latest is not None
    *_, key = made.launcher.typed_kernel(made.launcher.latest).runners
    return key.assumptions.unaliased_accumulators


def fresh(made: Kernel) -> Kernel:
    return Kernel(made.python, backend="cpu")


def candidates(made: Kernel, *types: Any) -> tuple[int, ...]:
    return accumulator_arguments(made.launcher.compiler.build(Signature(types)).module)


@kernel(backend="cpu")
def histogram(counts, x):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(counts, x[i], 1)


HISTOGRAM = """
kernel histogram(counts: pointer int32[::1], counts.shape.0: int, x: pointer uint8[::1], \
x.shape.0: int)
  allocate counts.private: worker int32[4096]
  for i.counts: int in range(0, counts.shape.0, 1):
    counts.private[i.counts] = 0:int32
  for each block:
    for tx: int in threads(0, min.int(256, sub.int(x.shape.0, mul.int(cuda.blockIdx.x(), 256)))):
      declare i: int = add.int(mul.int(cuda.blockIdx.x(), 256), tx)
      block.atomic.add.int32(&counts.private[x[i]], 1:int32)
  for i.counts in range(0, counts.shape.0, 1):
    if ne.int32(counts.private[i.counts], 0:int32):
      cuda.atomic.add.int32(&counts[i.counts], counts.private[i.counts])
"""


def test_the_pass() -> None:
    built = histogram.launcher.compiler.build(Signature((int32[::1], uint8[::1])))
    assumptions = LaunchAssumptions(
        index32_safe=True, block=(256, 1, 1), unaliased_accumulators=(0,)
    )
    assert print_module(lower(built.module, TARGETS["cpu"], assumptions)) == HISTOGRAM.lstrip()


@pytest.mark.parametrize("threads", [1 << 16, 300])
def test_a_histogram(threads: int) -> None:
    x = np.random.default_rng(1).integers(0, 256, threads, np.uint8)
    counts = np.arange(256, dtype=np.int32)
    made = fresh(histogram)
    made[-(-threads // 256), 256](counts, x)
    assert counts.tolist() == (np.bincount(x, minlength=256) + np.arange(256)).tolist()
    assert copied(made) == (0,)


@pytest.mark.parametrize(("size", "threads"), [(4097, 1 << 14), (257, 256)])
def test_large_arrays_are_shared(size: int, threads: int) -> None:
    """Larger than 4096, or than the launch."""
    counts, x = np.zeros(size, np.int32), np.full(threads, 3, np.uint8)
    made = fresh(histogram)
    made[threads // 256, 256](counts, x)
    assert counts[3] == counts.sum() == threads
    assert copied(made) == ()


OPERATIONS = {
    "add": (np.add, 0),
    "sub": (np.subtract, 7),
    "and_": (np.bitwise_and, -1),
    "or_": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 5),
    "max": (np.maximum, 3),
    "min": (np.minimum, 3),
}


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.uint16, np.uint32], ids=str)
@pytest.mark.parametrize("name", OPERATIONS)
def test_each_operation(name: str, dtype: Any, tmp_path: Path) -> None:
    text = "@kernel(backend='cpu')\ndef k(a, x):\n    i = cuda.grid(1)\n"
    made = module_from(f"{HEAD}{text}    cuda.atomic.{name}(a, i % 5 - 5, x[i])\n", tmp_path).k
    row = np.iinfo(dtype)
    x = np.random.default_rng(2).integers(row.min, row.max, 1 << 14, dtype, endpoint=True)
    fold, start = OPERATIONS[name]
    a = np.full(5, start % (1 << 7), dtype) if row.min == 0 else np.full(5, start, dtype)
    expected = a.copy()
    fold.at(expected, np.arange(x.size) % 5, x)  # type: ignore[attr-defined]
    made[1 << 8, 1 << 6](a, x)
    assert a.tolist() == expected.tolist()
    assert copied(made) == (0,)


@kernel(backend="cpu")
def several(rows, net, most, x):
    i = cuda.grid(1)
    cuda.atomic.add(rows, (i % 2, x[i] % 3), 2)
    cuda.atomic.add(net, 0, x[i])
    cuda.atomic.sub(net, 0, 1)
    if x[i] % 2:
        cuda.atomic.max(most, -1, x[i])


def test_several_arrays_of_several_axes() -> None:
    x = np.random.default_rng(3).integers(0, 100, 1 << 14).astype(np.int64)
    rows, net, most = np.zeros((2, 3), np.int32), np.zeros(1, np.int64), np.zeros(2, np.uint8)
    several[1 << 8, 1 << 6](rows, net, most, x)
    place = np.arange(x.size) % 2 * 3 + x % 3
    assert rows.ravel().tolist() == (2 * np.bincount(place)).tolist()
    assert net[0] == x.sum() - x.size
    assert most.tolist() == [0, x[x % 2 == 1].max()]
    assert copied(several) == (0, 1, 2)


@device
def counted(a, i):
    cuda.atomic.add(a, i, 1)


NOT = {
    "the old value is used": "x[i] = cuda.atomic.add(a, 0, 1)",
    "it is read": "cuda.atomic.add(a, 0, 1)\n    x[i] = a[1]",
    "it is read in an atomic": "cuda.atomic.add(a, 0, a[1])",
    "it is written": "cuda.atomic.add(a, 0, 1)\n    a[1] = 2",
    "a part of it is read": "cuda.atomic.add(a, 0, 1)\n    x[i] = a[1:][0]",
    "another kind of change": "cuda.atomic.add(a, 0, 1)\n    cuda.atomic.max(a, 1, 1)",
    "no change that can be put off": "cuda.atomic.exch(a, 0, 1)",
    "a function changes it": "counted(a, 0)",
}


@pytest.mark.parametrize("why", NOT)
def test_arrays_that_are_not_accumulators(why: str, tmp_path: Path) -> None:
    text = "@device\ndef counted(a, i):\n    cuda.atomic.add(a, i, 1)\n\n\n@kernel\ndef k(a, x):\n"
    made = module_from(f"{HEAD}{text}    i = cuda.grid(1)\n    {NOT[why]}\n", tmp_path).k
    assert candidates(made, int32[::1], int32[::1]) == ()


@kernel
def plain(a, x):
    cuda.atomic.add(a, 0, 1)
    x[0] = a.shape[0]


def test_only_contiguous_integers() -> None:
    assert candidates(plain, int64[::1], int32[:]) == (0,)
    assert candidates(plain, int64[:], int32[:]) == ()
    assert candidates(plain, float32[::1], int32[:]) == ()


# ---- arrays that share memory ------------------------------------------------------------------


@kernel(backend="cpu")
def seen_from_elsewhere(a, b, out):
    for j in range(4):
        cuda.atomic.add(a, 0, 1)
        out[j] = b[0]


def test_what_another_argument_shows_is_not_put_off() -> None:
    memory, out = np.zeros(8, np.int32), np.zeros(4, np.int32)
    seen_from_elsewhere[1, 8](memory[:2], np.array([5], np.int32), out)
    assert out.tolist() == [5] * 4
    assert copied(seen_from_elsewhere) == (0,)
    memory[:] = 0
    seen_from_elsewhere[1, 1](memory[:1], memory[::-1][7:], out)
    assert out.tolist() == [1, 2, 3, 4]
    assert copied(seen_from_elsewhere) == ()


def test_arrays_without_overlap() -> None:
    memory = np.zeros(12, np.int32)
    table = memory.reshape(3, 4)
    pairs = [
        (memory[:4], memory[4:], True),
        (memory[:5], memory[4:], False),
        (memory[4:8], memory[::-1][:4], True),
        (memory[4:8], memory[::-1][:5], False),
        (memory[4:8], table[::2, 1:], False),
        (memory[:1], table[1:, ::-3], True),
        (memory[:1], table[::-1, ::-3], False),
        (memory[:4], memory[2:2], True),
        (memory[:4], memory.view(np.uint8)[15:], False),
        (memory[:4], memory.view(np.uint8)[16:], True),
    ]
    for a, b, expected in pairs:
        leaves = [describe(a), describe(b), 3]
        assert is_unaliased(0, leaves) is expected  # type: ignore[arg-type]
