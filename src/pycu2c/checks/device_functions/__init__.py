"""Functions in the kernel language that instrumented kernels call: the run-time library of checks.

Instrumented code calls them in conditions, so functions that only have effects return False.
"""
