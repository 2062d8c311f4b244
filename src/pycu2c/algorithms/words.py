"""Values as words of 32 bits, for memory that holds values of any type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pycu2c.kernels.kernel import device


@device
def words_of(value: Any) -> Any:
    """Return the bits of a number, a vector or a tuple as a tuple of uint32."""
    if isinstance(value, tuple):
        return tuple(word for item in value for word in words_of(item))
    if isinstance(value, np.complexfloating):
        return words_of((value.real, value.imag))
    if isinstance(value, np.float16):
        return (np.uint32(value.view(np.uint16)),)
    if isinstance(value, np.float32):
        return (value.view(np.uint32),)
    if isinstance(value, (np.float64, np.int64, np.uint64)):
        bits = value.view(np.uint64)
        return np.uint32(bits), np.uint32(bits >> 32)
    return (np.uint32(value),)


def words_per_value(arrays: Sequence[Any]) -> int:
    """Return the number of words for an element of each array."""
    return sum(-(-array.dtype.itemsize // 4) for array in arrays)


@device
def from_words(words: Any, like: Any) -> Any:
    """Return the value whose bits are ``words``, of the type of ``like``."""
    if isinstance(like, tuple):
        if len(like) == 0:
            return ()
        first = from_words(words[: len(words_of(like[0]))], like[0])
        return (first, *from_words(words[len(words_of(like[0])) :], like[1:]))
    if isinstance(like, np.complexfloating):
        return like.dtype.type(complex(*from_words(words, (like.real, like.imag))))
    if isinstance(like, np.float16):
        return np.uint16(words[0]).view(np.float16)
    if isinstance(like, np.float32):
        return words[0].view(np.float32)
    if isinstance(like, (np.float64, np.int64, np.uint64)):
        return (np.uint64(words[1]) << 32 | words[0]).view(like.dtype.type)
    return like.dtype.type(words[0])


@device
def store_words(buffer: Any, index: Any, value: Any) -> None:
    """Store a number at an index of an array of words, in as many words as it needs."""
    if value.dtype.itemsize < 4 or isinstance(value, np.complexfloating):
        words = words_of(value)
        for i, word in enumerate(words):
            buffer[index * len(words) + i] = word
    else:
        buffer.view(value.dtype)[index] = value


@device
def load_words(buffer: Any, index: Any, like: Any) -> Any:
    """Load a number of the type of ``like``, which ``store_words`` has stored."""
    if like.dtype.itemsize < 4 or isinstance(like, np.complexfloating):
        zeros = words_of(like.dtype.type(0))
        words = tuple(np.uint32(buffer[index * len(zeros) + i]) for i, _ in enumerate(zeros))
        return from_words(words, like)
    return buffer.view(like.dtype)[index]
