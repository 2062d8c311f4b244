"""Generate kernels from expressions: elementwise, reduction and scan kernels."""
