"""Implement ``pycu2c migrate``: rewrite numba.cuda programs and report differences.

May import: everything below ``compat``, and ``pycu2c.cuda``; nothing else of
``compat``.
"""
