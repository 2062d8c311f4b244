"""Export the names of ``numba.np``: conversions between types and dtypes."""
