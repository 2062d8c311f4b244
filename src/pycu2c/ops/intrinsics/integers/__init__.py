"""Intrinsics for integers: bit operations, extended arithmetic, SIMD-in-a-word arithmetic."""
