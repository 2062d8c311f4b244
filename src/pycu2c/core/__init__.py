"""The place of ``numba.core`` in programs that import its types, errors and settings."""
