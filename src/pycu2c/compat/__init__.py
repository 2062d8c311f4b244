"""Implement the interfaces of numba, CuPy and PyCUDA, CUDA C text, and the migration of programs.

May import every package below the public namespaces. The packages in this folder are independent,
except that kernels of CuPy and PyCUDA are compiled by the package for CUDA C text.
"""
