"""Value range analysis of integers: the interval domain, the transfer functions and the solver.

``range_analysis`` is the entry point.
"""
