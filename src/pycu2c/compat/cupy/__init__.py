"""Implement CuPy's kernel interfaces: raw, elementwise and reduction kernels, the JIT.

Elementwise and reduction kernels generate C++ text for NVRTC or the host compiler; raw kernels use
``compat.cuda_text``. The public names are in ``pycu2c.cupy``.
"""
