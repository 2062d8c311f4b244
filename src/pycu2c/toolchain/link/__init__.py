"""Link kernels with files of the user: nvJitLink, or the linker of the CUDA driver."""
