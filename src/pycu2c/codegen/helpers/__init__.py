"""The C helper functions of generated code, as text templates; ``catalog`` finds them by name.

Imports ``base`` and, for their operations, ``ops``.
"""
