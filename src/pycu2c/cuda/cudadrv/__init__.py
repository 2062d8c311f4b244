"""Names that numba's programs import from its driver: classes for ``isinstance`` and ``except``."""
