"""Generate C and CUDA C: lowered IR to the C tree, and the tree to text.

``emit`` and ``multi_module`` are the entry points. ``dialect`` has the differences between
targets; ``helpers`` has the C helper functions. Imports ``base``, ``csyntax``, ``ops``, ``ir`` and
``analysis``.
"""
