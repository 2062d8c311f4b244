"""Launch kernels on a GPU: memory, copies, textures and peer access."""
