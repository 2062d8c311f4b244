"""Compile generated C and CUDA C text to binaries: NVRTC, C and C++ compilers, linkers, the cache.

May import ``base`` and ``declarations``; ``link`` also imports ``cuda_driver``. Nothing here
depends on the IR or on Python kernels.
"""
