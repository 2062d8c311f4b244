"""Split CUDA C kernels at barriers (loop fission), so that a loop runs the threads of a block.

May import ``base`` and ``cuda_text.parse``. The source is text: a kernel that the analysis does not
understand runs each thread on its own stack (``runtime.cpu.fibers``).
"""
