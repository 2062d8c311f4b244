"""Export the names of ``numba.core``: types, errors and settings."""
