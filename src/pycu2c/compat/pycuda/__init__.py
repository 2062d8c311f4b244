"""Implement PyCUDA's interface on pycu2c; the public names are in ``pycu2c.pycuda``.

Without a GPU, kernels run on the CPU and device memory is host memory.
"""
