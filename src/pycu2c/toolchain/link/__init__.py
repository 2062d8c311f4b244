"""Link kernels with files of the user, with nvJitLink."""
