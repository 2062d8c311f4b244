"""Intrinsics for memory: atomics, cache hints, textures, allocation, subscripts."""
