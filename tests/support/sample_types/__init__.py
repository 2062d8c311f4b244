"""Infer the types of a kernel without the compiler, as a check of its own inference."""
