"""Launch binaries: arguments, launch configurations, and the CUDA and CPU runtimes.

May import ``base``, ``declarations``, ``cuda_driver``, ``toolchain`` and ``codegen`` (names and
layouts that generated code shares with the runtime).
"""
