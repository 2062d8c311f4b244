"""Modules that tests share: launching on each target, random programs, compilers, kernels in C."""
