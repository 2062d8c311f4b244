"""The intrinsics, declared as decorated functions.

``registry`` has the decorator and the registry; ``all`` imports every declaration. The
subpackages group intrinsics by operands: ``threads``, ``memory``, ``integers``, ``floats``.
"""
