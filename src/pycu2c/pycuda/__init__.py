"""PyCUDA's names: ``import pycu2c.pycuda.autoinit``, ``from pycu2c.pycuda.compiler import
SourceModule``. Programs for PyCUDA run with only the imports changed, on a GPU by NVRTC, and on
the CPU where there is none. Nothing is imported here."""

VERSION = (2026, 1)
VERSION_STATUS = ""
VERSION_TEXT = ".".join(map(str, VERSION)) + VERSION_STATUS
