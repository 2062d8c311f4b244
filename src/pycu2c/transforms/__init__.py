"""Compiler passes: functions from IR to IR.

``common`` holds the passes of all targets, ``cuda`` and ``cpu`` those of one target.
``pycu2c.pipeline`` lists them in order. This package may import ``base``, ``csyntax``, ``ops``,
``declarations``, ``ir`` and ``analysis``.
"""
