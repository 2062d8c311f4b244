"""Explain the cost of the lines of a kernel on a GPU, and the change that removes each cost.

``kernel_report`` runs all rules. Imports all layers up to ``compiler``.
"""
