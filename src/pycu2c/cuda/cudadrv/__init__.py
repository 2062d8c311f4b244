"""Export the names of ``numba.cuda.cudadrv``: classes for ``isinstance`` and ``except``."""
