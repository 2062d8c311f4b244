"""Implement device functions in the kernel language: block primitives, tensor cores and others.

May import ``pycu2c.cuda``, ``kernels``, ``inline_c``, ``devices`` and everything below them.
"""
