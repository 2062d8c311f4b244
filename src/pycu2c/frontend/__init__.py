"""Python source to IR."""
