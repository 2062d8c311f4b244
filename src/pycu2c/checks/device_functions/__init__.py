"""Functions in the kernel language that instrumented kernels call."""
