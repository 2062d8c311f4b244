"""Intrinsics: one decorated function each."""
