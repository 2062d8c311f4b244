"""Trace functions of arrays and fuse them to few kernels (``fuse``)."""
