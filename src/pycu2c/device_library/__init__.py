"""Implement device functions in the kernel language itself: random numbers, wmma, half pairs.

May import ``pycu2c.cuda``, ``kernels``, ``inline_c``, ``devices`` and everything below them.
"""
