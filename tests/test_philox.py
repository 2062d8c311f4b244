"""Philox4x32-10: known answers, where its numbers lie, and the same on every target."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from launching import run
from pycu2c import cuda, kernel
from pycu2c.cuda.random import (
    philox4x32,
    philox_uint32,
    philox_uint32x4,
    philox_uniform_float32,
    philox_uniform_float32x4,
    philox_uniform_float64,
    philox_uniform_float64x2,
)

ROOT = Path(__file__).parent.parent
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


@kernel
def blocks(keys, counters, out):
    i = cuda.grid(1)
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = philox4x32(keys[i], counters[i])


def test_known_answers(target: str) -> None:
    keys, counters, expected = (np.array(column, np.uint32) for column in zip(*KNOWN))
    found = run(blocks, (1, 3), [keys, counters, np.zeros_like(expected)], target)[2]
    np.testing.assert_array_equal(found, expected)
    assert [block(key, counter) for key, counter, _ in KNOWN] == expected.tolist()


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
def test_numbers_lie_where_curand_has_them(made: Any, target: str) -> None:
    shape = len(STREAMS), len(OFFSETS)
    given = [np.array(STREAMS, np.uint64), np.array(OFFSETS, np.uint64)]
    given += [np.zeros(shape, kind) for kind in (np.uint32, np.float32, np.float64)]
    found = run(made, (1, (len(OFFSETS), len(STREAMS))), given, target)[2:]

    def expected(number: Callable[[int, int, int], float]) -> list[list[float]]:
        return [[number(*stream, offset) for offset in OFFSETS] for stream in STREAMS]

    for numbers, number in zip(found, (word, unit_32, unit_64)):
        np.testing.assert_array_equal(numbers, expected(number))


@kernel
def by_numbers_of_python(seed, out):
    i = cuda.grid(1)
    out[i] = philox_uint32(seed, i - 1, i)


@pytest.mark.parametrize("seed", [0, 42, -1, 2**62, np.int32(-7), np.uint8(200)])
def test_negative_numbers_are_those_of_64_bits(seed: Any, target: str) -> None:
    (_, found) = run(by_numbers_of_python, (1, 4), [seed, np.zeros(4, np.uint32)], target)
    expected = [word(int(seed) % 2**64, (i - 1) % 2**64, i) for i in range(4)]
    assert found.tolist() == expected


def test_the_page_has_every_name() -> None:
    page = (ROOT / "docs" / "random.md").read_text()
    assert [name for name in cuda.random.__all__ if f"`{name}" not in page] == []


def test_the_example(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Pi by both generators."""
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    importlib.import_module("pi").main(["--backend", "cpu", "--size", "100000"])
    assert capsys.readouterr().out.count("256000 points, pi is about 3.14") == 2
