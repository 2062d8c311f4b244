"""Philox4x32-10: known answers, the order of its numbers, equal results on every target."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pycu2c import CompileError, cuda, kernel
from pycu2c.cuda.random import (
    philox4x32,
    philox_normal_float32,
    philox_normal_float32x4,
    philox_normal_float64,
    philox_normal_float64x2,
    philox_uint32,
    philox_uint32x4,
    philox_uniform_float32,
    philox_uniform_float32x4,
    philox_uniform_float64,
    philox_uniform_float64x2,
)
from pycu2c.device_library.random import elementary
from support.launching import run
from support.paths import ROOT

ONES, WORD = 0xFFFFFFFF, 2**32
# key, counter, what comes out: the known answers of Random123
KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((ONES,) * 2, (ONES,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
# seed, subsequence: halves of all words are used
STREAMS = [(0, 0), (1, 5), (2**40 + 3, 2**63 + 2**33 + 1), (2**64 - 1, 7)]
OFFSETS = [*range(9), 2**31 - 1, 2**32, 2**34 + 6, 2**62 + 13]


def block(key: tuple[int, ...], counter: tuple[int, ...]) -> list[int]:
    """Four words, in Python's ints."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        even, odd = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = odd // WORD ^ c1 ^ k0, odd % WORD, even // WORD ^ c3 ^ k1, even % WORD
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return [c0, c1, c2, c3]


def word(seed: int, subsequence: int, offset: int) -> int:
    """What cuRAND's ``curand`` gives after ``curand_init(seed, subsequence, offset)``."""
    counter = offset // 4 % WORD, offset // 4 // WORD, subsequence % WORD, subsequence // WORD
    return block((seed % WORD, seed // WORD), counter)[offset % 4]


def unit_32(seed: int, subsequence: int, offset: int) -> float:
    return (word(seed, subsequence, offset) >> 8) / 2**24


def unit_64(seed: int, subsequence: int, offset: int) -> float:
    high, low = (word(seed, subsequence, 2 * offset + k) for k in (0, 1))
    return ((high >> 5 << 26) + (low >> 6)) / 2**53


def expected(number: Callable[[int, int, int], float]) -> list[list[float]]:
    """A number at each offset of each stream."""
    return [[number(*stream, offset) for offset in OFFSETS] for stream in STREAMS]


@kernel
def blocks(keys, counters, out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = philox4x32(keys[i], counters[i])


def test_known_answers(target: str) -> None:
    keys, counters, words = (np.array(column, np.uint32) for column in zip(*KNOWN))
    result = run(blocks, (1, 3), [keys, counters, np.zeros_like(words)], target)[2]
    np.testing.assert_array_equal(result, words)
    assert [block(key, counter) for key, counter, _ in KNOWN] == words.tolist()


@kernel
def one_by_one(streams, offsets, words, single, double):
    i, j = cuda.grid(2)
    seed, subsequence = streams[j]
    words[j, i] = philox_uint32(seed, subsequence, offsets[i])
    single[j, i] = philox_uniform_float32(seed, subsequence, offsets[i])
    double[j, i] = philox_uniform_float64(seed, subsequence, offsets[i])


@kernel
def several_at_once(streams, offsets, words, single, double):
    i, j = cuda.grid(2)
    seed, subsequence = streams[j]
    a, b, c, d = philox_uint32x4(seed, subsequence, offsets[i] // 4)
    words[j, i] = (a, b, c, d)[offsets[i] % 4]
    p, q, r, s = philox_uniform_float32x4(seed, subsequence, offsets[i] // 4)
    single[j, i] = (p, q, r, s)[offsets[i] % 4]
    v, w = philox_uniform_float64x2(seed, subsequence, offsets[i] // 2)
    double[j, i] = (v, w)[offsets[i] % 2]


@pytest.mark.parametrize("made", [one_by_one, several_at_once], ids=lambda k: k.name)
def test_numbers_have_the_positions_of_curand(made: Any, target: str) -> None:
    shape = len(STREAMS), len(OFFSETS)
    arguments = [np.array(STREAMS, np.uint64), np.array(OFFSETS, np.uint64)]
    arguments += [np.zeros(shape, kind) for kind in (np.uint32, np.float32, np.float64)]
    result = run(made, (1, (len(OFFSETS), len(STREAMS))), arguments, target)[2:]

    for numbers, number in zip(result, (word, unit_32, unit_64)):
        np.testing.assert_array_equal(numbers, expected(number))


@kernel
def by_numbers_of_python(seed, out):
    i = cuda.grid(1)
    out[i] = philox_uint32(seed, i - 1, i)


@pytest.mark.parametrize("seed", [0, 42, -1, 2**62, np.int32(-7), np.uint8(200)])
def test_negative_numbers_are_those_of_64_bits(seed: Any, target: str) -> None:
    (_, result) = run(by_numbers_of_python, (1, 4), [seed, np.zeros(4, np.uint32)], target)
    assert result.tolist() == [word(int(seed) % 2**64, (i - 1) % 2**64, i) for i in range(4)]


def test_the_page_has_every_name() -> None:
    page = (ROOT / "docs" / "guide" / "random.md").read_text()
    # pytest adds names with @ to modules of the distribution of a plug-in
    names = [name for name in dir(cuda.random) if name[0] not in "_@"]
    assert [name for name in names if f"`{name}" not in page] == []


def test_the_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Pi by both generators."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    importlib.import_module("pi").main(["--backend", "cpu", "--size", "100000"])
    assert capsys.readouterr().out.count("256000 points, pi is about 3.14") == 2


# ---- normals -------------------------------------------------------------------------------------


@kernel
def normals_one_by_one(streams, offsets, single, double):
    i, j = cuda.grid(2)
    seed, subsequence = streams[j]
    single[j, i] = philox_normal_float32(seed, subsequence, offsets[i])
    double[j, i] = philox_normal_float64(seed, subsequence, offsets[i])


@kernel
def several_normals_at_once(streams, offsets, single, double):
    i, j = cuda.grid(2)
    seed, subsequence = streams[j]
    p, q, r, s = philox_normal_float32x4(seed, subsequence, offsets[i] // 4)
    single[j, i] = (p, q, r, s)[offsets[i] % 4]
    v, w = philox_normal_float64x2(seed, subsequence, offsets[i] // 2)
    double[j, i] = (v, w)[offsets[i] % 2]


def box_muller(u: float, turn: float, is_cosine: bool) -> float:
    radius, angle = math.sqrt(-2 * math.log(u)), 2 * math.pi * turn
    return radius * (math.cos(angle) if is_cosine else math.sin(angle))


def normal_32(seed: int, subsequence: int, offset: int) -> float:
    x, y = (word(seed, subsequence, offset // 2 * 2 + k) for k in (0, 1))
    return box_muller(np.float32(x) / 2**32 + 2**-33, y / 2**32, offset % 2 == 1)


def normal_64(seed: int, subsequence: int, offset: int) -> float:
    u = unit_64(seed, subsequence, offset // 2 * 2) + 2**-54
    c, d = (word(seed, subsequence, offset // 2 * 4 + k) for k in (2, 3))
    return box_muller(u, (c * WORD + d) / 2**64, offset % 2 == 1)


@pytest.mark.parametrize(
    "made", [normals_one_by_one, several_normals_at_once], ids=lambda k: k.name
)
def test_normals_come_from_the_same_random_words(made: Any, target: str) -> None:
    shape = len(STREAMS), len(OFFSETS)
    arguments = [np.array(STREAMS, np.uint64), np.array(OFFSETS, np.uint64)]
    arguments += [np.zeros(shape, np.float32), np.zeros(shape)]
    single, double = run(made, (1, (len(OFFSETS), len(STREAMS))), arguments, target)[2:]
    np.testing.assert_allclose(single, expected(normal_32), rtol=4e-7)
    np.testing.assert_allclose(double, expected(normal_64), rtol=1e-14, atol=1e-15)


@kernel
def normals(seed, single, double):
    i = cuda.grid(1)
    single[i] = philox_normal_float32(seed, 3, i)
    double[i] = philox_normal_float64(seed, 4, i)


@functools.cache
def some_normals(target: str) -> list[np.ndarray[Any, Any]]:
    return run(normals, (2, 64), [5, np.zeros(128, np.float32), np.zeros(128)], target)[1:]


def test_normals_are_the_same_everywhere(target: str) -> None:
    """To the last bit, though compilers contract and vectorise."""
    for result, known in zip(some_normals(target), some_normals("python")):
        np.testing.assert_array_equal(result, known)


def test_normals_are_distributed_normally() -> None:
    """Moments of a million, within five deviations; and how many are far out."""
    n = 1 << 20
    result = run(normals, (n // 256, 256), [1, np.zeros(n, np.float32), np.zeros(n)], "cpu")[1:]
    for numbers in result:
        z = numbers.astype(np.float64)
        for power, moment, variance in [(1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96)]:
            assert abs(np.mean(z**power) - moment) < 5 * math.sqrt(variance / n)
        assert abs(np.mean(z[::2] * z[1::2])) < 5 / math.sqrt(n / 2)
        assert 20 < np.sum(np.abs(z) > 4) < 120  # 66 are expected
        assert 4.4 < np.abs(z).max() < 6.5


@kernel
def functions(x, t, out):
    i = cuda.grid(1)
    out[0, i] = elementary.log_float32(np.float32(x[i]))
    out[1, i] = elementary.log_float64(x[i])
    out[2, i] = elementary.sin_pi_float32(np.float32(t[i]))
    out[3, i] = elementary.sin_pi_float64(t[i])


def test_logarithm_and_sine(target: str) -> None:
    """Within three units in the last place."""
    rng = np.random.default_rng(4)
    x = np.concatenate([2.0 ** -np.arange(50), 1 - 2.0 ** -np.arange(2, 24), rng.random(184)])
    t = np.concatenate([2.0 ** -np.arange(1, 50), [0, -0.5], rng.random(205) - 0.5])
    x, t = (numbers.astype(np.float32).astype(float) for numbers in (x, t))
    result = run(functions, (4, 64), [x, t, np.zeros((4, 256))], target)[2]
    pi = np.longdouble(math.pi) + np.longdouble(1.2246467991473532e-16)
    log, sine = np.log(x.astype(np.longdouble)), np.sin(pi * t)
    for numbers, known, kind in zip(result, [log, log, sine, sine], [np.float32, float] * 2):
        unit = np.spacing(np.abs(known.astype(kind)))
        assert np.max(np.abs(numbers - known) / unit) < 3


@pytest.mark.parametrize("arguments", [(1.5, 0, 0), (0, 1.5, 0), (0, 0, np.float32(1))])
def test_seeds_and_offsets_are_integers(arguments: Any) -> None:
    @kernel
    def drawn(seed, subsequence, offset, out):
        out[0] = philox_uniform_float32(seed, subsequence, offset)

    with pytest.raises(CompileError, match="it must be an integer"):
        run(drawn, (1, 1), [*arguments, np.zeros(1)], "cpu")
