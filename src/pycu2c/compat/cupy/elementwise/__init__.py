"""Generate, compile and launch elementwise kernels."""
