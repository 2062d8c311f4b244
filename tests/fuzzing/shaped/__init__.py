"""Random kernels in the loop shapes that passes of the CPU look for."""
