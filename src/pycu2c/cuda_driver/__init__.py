"""Wrap the CUDA driver API: devices, contexts, memory, kernels, streams, and its errors.

May import ``base``.
"""
