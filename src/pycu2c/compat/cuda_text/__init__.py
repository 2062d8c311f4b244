"""Compile and launch CUDA C source text: with NVRTC on a GPU, with a C++ compiler on the CPU.

``pycu2c.cupy`` and ``pycu2c.pycuda`` use this package. ``TextModule(text).function("name")``
returns a ``TextFunction``; its ``launch(grid, block, arguments)`` runs the kernel.

May import: ``base``, ``codegen.helpers``, ``toolchain``, ``cuda_driver``, ``runtime``, ``kernels``
and ``devices``; nothing else of ``compat``.
"""

from pycu2c.compat.cuda_text.function import TextFunction
from pycu2c.compat.cuda_text.module import TextModule

__all__ = ["TextFunction", "TextModule"]
