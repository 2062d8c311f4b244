"""Generate, compile and launch reduction kernels."""
