"""IR to IR, each pass a plain function."""
