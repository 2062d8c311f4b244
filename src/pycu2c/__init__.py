"""Write a kernel in Python; get readable CUDA C, and the same kernel as C for the CPU."""
