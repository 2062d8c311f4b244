"""Export PyCUDA's modules: ``from pycu2c.pycuda.compiler import SourceModule``.

A program for PyCUDA runs after its imports are changed: on a GPU through NVRTC, or else on the CPU.
The implementation is in ``pycu2c.compat.pycuda``. This module imports nothing.
"""

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS
