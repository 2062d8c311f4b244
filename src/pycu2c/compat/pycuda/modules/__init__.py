"""Compile, link and load CUDA C: ``SourceModule``, ``DynamicModule``, functions."""
