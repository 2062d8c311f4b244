"""Compile and load CUDA C: ``SourceModule``, functions."""
