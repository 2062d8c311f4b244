"""Compile CUDA C with NVRTC, disassemble cubins and compute occupancy. No GPU is required."""
