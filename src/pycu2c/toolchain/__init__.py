"""C text to binaries."""
