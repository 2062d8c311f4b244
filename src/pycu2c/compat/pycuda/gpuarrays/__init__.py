"""Implement ``GPUArray`` and its functions."""
