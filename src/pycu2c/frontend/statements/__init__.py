"""Lower statements: assignments, loops, branches, returns, ``match``, ``raise`` and ``print``."""
