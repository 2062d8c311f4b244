"""Implement device functions with user-written C or PTX bodies, and link inputs in memory.

May import ``base``, ``csyntax``, ``declarations``, ``frontend``, ``toolchain`` and ``kernels``.
"""
