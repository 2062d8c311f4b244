"""The C extension of the package, and Python classes that take its place without it.

The extension holds the fast path of launches: the dispatch table and the argument guards. It
imports nothing of the package.
"""
