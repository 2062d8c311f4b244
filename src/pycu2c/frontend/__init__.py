"""Translate the syntax tree of a Python function to typed IR.

The subpackages resolve names (``scope``), check the subset (``subset``), lower expressions,
statements and calls, and write the hints of errors (``hints``). May import ``base``, ``csyntax``,
``ops``, ``declarations``, ``ir`` and ``analysis``.
"""
