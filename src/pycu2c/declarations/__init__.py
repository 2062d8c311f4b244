"""What a user declares of a kernel: options, signatures, annotations and linked files.

May import ``base`` and ``ops``.
"""
