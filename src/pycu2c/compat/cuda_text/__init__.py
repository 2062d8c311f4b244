"""CUDA C *text*: compiled, launched, looked into; on a GPU by NVRTC, on the CPU by a C++ compiler.

What ``pycu2c.cupy`` and ``pycu2c.pycuda`` are made of. ``TextModule(text).function("name")`` gives a
``TextFunction``, whose ``launch(grid, block, arguments)`` runs it.
"""

from pycu2c.compat.cuda_text.function import TextFunction
from pycu2c.compat.cuda_text.module import TextModule

__all__ = ["TextFunction", "TextModule"]
