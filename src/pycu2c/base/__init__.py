"""Types, diagnostics, source locations and records that every layer uses.

This package imports nothing of pycu2c outside itself.
"""
