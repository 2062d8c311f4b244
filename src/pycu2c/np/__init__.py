"""The place of ``numba.np`` in programs that import what it knows of dtypes."""
