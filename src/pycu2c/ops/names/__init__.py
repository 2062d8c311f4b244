"""Resolve the objects that kernels name to intrinsics, operators and types."""
