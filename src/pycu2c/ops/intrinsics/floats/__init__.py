"""Intrinsics for floating-point and complex numbers."""
