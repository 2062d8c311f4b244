"""Operators and intrinsics: types, semantics, and C spellings of each, declared once.

``names`` maps Python, NumPy and numba objects to them. Imports ``base`` and ``csyntax``.
"""
