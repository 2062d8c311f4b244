"""Hash data for cache keys."""

from __future__ import annotations

from hashlib import blake2b

_DIGEST_BYTES = 32


def digest_of(*parts: bytes) -> str:
    """Return a digest of 64 hexadecimal digits of the parts and their boundaries."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:  # hash the lengths too, so that ("ab", "c") and ("a", "bc") differ
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()
