"""Implement the interfaces of numba, CuPy and PyCUDA, CUDA C text, and the migration of programs.

May import every package below the public namespaces; the packages in this folder are independent but
for CUDA C text, which CuPy's and PyCUDA's kernels compile.
"""
