"""Implement random number generators for kernels: Philox4x32-10 and xoroshiro128+."""
