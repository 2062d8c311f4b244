"""use_nontemporal_stores: large launches write with streaming stores."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
import pytest

from pycu2c import cuda, float32, float64, int32, kernel, uint8
from pycu2c.base.launch_assumptions import LaunchAssumptions
from pycu2c.base.limits import CACHE_EXCEEDING_BYTES
from pycu2c.compiler import generate
from pycu2c.declarations.signatures import parse_signature
from pycu2c.kernels import assumption_checks
from pycu2c.pipeline import TARGETS
from pycu2c.runtime.launch_configuration import Launch
from pycu2c.toolchain.cc.build import STDIN_FLAGS
from pycu2c.toolchain.subprocesses import run as run_program
from support.c_compilers import compiler, warning_flags
from support.launching import run


@kernel(block=64)
def scaled(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = 2 * a[i] + 1


@kernel(block=64)
def moved(out, a):
    """Not to the place of the same number, and not from all threads."""
    i = cuda.grid(1)
    if 2 < i < a.size - 1:
        there = i - 3
        out[there] = a[i + 1]


@kernel(block=64)
def two(out, a):
    """Only the last array uses non-temporal stores."""
    i = cuda.grid(1)
    if i < a.size:
        a[i] += 1
        out[i] = 3 * a[i]


@kernel(block=(32, 4))
def cross(out, a):
    j, i = cuda.grid(2)
    if 0 < i < a.shape[0] - 1 and 0 < j < a.shape[1] - 1:
        out[i, j] = a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]


@kernel(block=64)
def in_place(out, a):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = out[i] + a[i]


@kernel(block=64)
def some(out, a):
    i = cuda.grid(1)
    if i < a.size and a[i] > 2:
        out[i] = a[i]


@kernel(block=64)
def unless(out, a):
    i = cuda.grid(1)
    if i >= a.size:
        return
    x = a[i]
    if x > 2:
        return
    out[i] = x


@kernel(block=64)
def spread(out, a):
    i = cuda.grid(1)
    if 2 * i + 1 < a.size:
        out[2 * i] = a[2 * i + 1]


@kernel(block=64)
def counted(out, a):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(a, 0, 1)
        out[i] = 1


@kernel(block=64)
def met(out, a):
    part = cuda.shared.array(64, float32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    part[t] = a[i] if i < a.size else 0
    cuda.syncthreads()
    if i < a.size:
        out[i] = part[63 - t]


LINES = (scaled, moved, two)
OTHERS = (in_place, some, unless, spread, counted, met)


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every launch is."""
    monkeypatch.setattr(assumption_checks, "CACHE_EXCEEDING_BYTES", 1)


def text_of(made: Any, types: str) -> str:
    built = made.launcher.compiler.build(parse_signature(types))
    assumptions = LaunchAssumptions(
        index32_safe=True, block=made.block, exceeds_last_level_cache=True
    )
    return generate(built.module, TARGETS["cpu"], assumptions, made.options).text


@pytest.mark.parametrize("made", LINES, ids=lambda k: k.name)
@pytest.mark.parametrize(("element", "count"), [("uint8", 1024), ("float32", 256), ("int64", 128)])
def test_whole_cache_lines_are_written(made: Any, element: str, count: int) -> None:
    text = text_of(made, f"{element}[::1], {element}[::1]")
    assert f"out_line[{count}]" in text
    assert text.count("nontemporal_store_") == 2  # what it is, and its only call
    assert text.rstrip().endswith("nontemporal_fence();\n}")


def test_rows_of_a_stencil() -> None:
    text = text_of(cross, "float32[:, ::1], float32[:, ::1]")
    assert "nontemporal_store_f32(&out[i * out_shape1 + first]" in text


@pytest.mark.parametrize("made", OTHERS, ids=lambda k: k.name)
def test_others_write_as_ever(made: Any) -> None:
    assert "past" not in text_of(made, "float32[::1], float32[::1]")


def test_arrays_with_strides_are_written_as_ever() -> None:
    assert "past" not in text_of(scaled, "float32[:], float32[::1]")


@pytest.mark.skipif(platform.machine() != "x86_64", reason="other processors have one kind")
@pytest.mark.parametrize("processor", ["x86-64", "haswell", "skylake-avx512"])
@pytest.mark.parametrize("name", ["gcc", "clang"])
def test_lines_are_written_in_parts_of_all_widths(name: str, processor: str) -> None:
    result = compiler(name)
    words = (
        *result.command,
        *warning_flags(result),
        f"-march={processor}",
        "-S",
        "-o-",
        *STDIN_FLAGS,
    )
    ran = run_program(words, text_of(cross, "float32[:, ::1], float32[:, ::1]"))
    assert ran.returncode == 0
    assert "movnt" in ran.output
    assert "warning" not in ran.output


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("made", [*LINES, *OTHERS], ids=lambda k: k.name)
@pytest.mark.parametrize("size", [1, 2, 63, 64, 255, 256, 257, 1000, 5000])
@pytest.mark.parametrize("offset", [0, 1, 7])
def test_results_stay(made: Any, size: int, offset: int) -> None:
    """Wherever in a line of memory the array begins."""
    a = np.random.default_rng(size).integers(0, 9, size).astype(np.float32)
    arguments = (np.full(size + offset + 3, 7, np.float32)[offset : offset + size], a)
    shape = (size + 63) // 64, 64
    expected = run(made, shape, arguments, "python")
    for got, right in zip(run(made, shape, arguments, "cpu"), expected):
        assert np.array_equal(got, right)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("element", [uint8, int32, float64], ids=str)
def test_nothing_beside_an_array_is_written(element: Any) -> None:
    whole = np.full(2000, 7, element.dtype.numpy)
    scaled[16, 64](whole[501:1501], np.ones(1000, element.dtype.numpy))
    assert (whole[501:1501] == 3).all()
    assert (whole[:501] == 7).all()
    assert (whole[1501:] == 7).all()


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (9, 70), (40, 1000)])
def test_stencils_stay(shape: tuple[int, int]) -> None:
    a = np.random.default_rng(1).integers(0, 9, shape).astype(np.float32)
    out, expected = np.zeros_like(a), np.zeros_like(a)
    cross[((shape[1] + 31) // 32, (shape[0] + 3) // 4), (32, 4)](out, a)
    expected[1:-1, 1:-1] = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    assert np.array_equal(out, expected)


def test_each_launch_has_the_code_of_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that C alone starts, which are like one before."""
    monkeypatch.setattr(assumption_checks, "CACHE_EXCEEDING_BYTES", 8 * 64 * 100)

    @kernel(backend="cpu", block=64)
    def fresh(out, a):
        i = cuda.grid(1)
        if i < a.size:
            out[i] = 2 * a[i]

    ways = []
    for blocks in [99] * 20 + [100] * 20 + [5, 101]:
        a = np.arange(blocks * 64, dtype=np.float32)
        out = np.zeros_like(a)
        fresh[blocks, 64](out, a)
        assert np.array_equal(out, 2 * a)
        (typed,) = fresh.launcher._typed.values()
        ways.append([key.assumptions.exceeds_last_level_cache for key in typed.runners])
    assert ways == [[False]] * 20 + [[False, True]] * 22
    assert fresh.launcher.dispatch_table is not None


def test_launches_are_seldom_large() -> None:
    metadata = scaled.launcher.typed_kernel(parse_signature("float32[::1], float32[::1]")).metadata
    assert metadata.streamed_bytes == 8
    threads = CACHE_EXCEEDING_BYTES // 8
    for number, is_large in ((threads // 64 - 1, False), (threads // 64, True)):
        launch = Launch((number, 1, 1), (64, 1, 1), None, 0)
        checked = assumption_checks.CheckedLaunch("cpu", launch, (), metadata, {})
        assert assumption_checks.exceeds_last_level_cache(checked) is is_large
    typed = met.launcher.typed_kernel(parse_signature("float32[::1], float32[::1]"))
    assert typed.metadata.streamed_bytes == 0
