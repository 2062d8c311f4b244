"""Check that a function is in the supported subset of Python, before types are known."""
