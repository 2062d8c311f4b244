"""Hash data for cache keys."""

from __future__ import annotations

from hashlib import blake2b

_BYTES = 32


def digest_of(*parts: bytes) -> str:
    """64 hexadecimal digits, other ones if any part or the places between them are others."""
    digest = blake2b(digest_size=_BYTES)
    for part in parts:  # with lengths, so that ("ab", "c") and ("a", "bc") differ
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
