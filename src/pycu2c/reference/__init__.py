"""Interpret kernels in Python: the oracle that the tests compare all targets with.

May import ``base``, ``ops``, ``declarations``, ``frontend`` and ``runtime``.
"""
