"""Define kernels: the decorators, specialization, the launcher and its slow path, the kernel cache.

May import everything up to the compiler; ``launcher`` imports the compiler when the first kernel is
compiled.
"""
