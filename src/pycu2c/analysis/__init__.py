"""Analyses: functions that compute facts about the IR and change nothing.

Each analysis returns a value or a small result class. This package may import ``base``,
``csyntax``, ``ops``, ``declarations`` and ``ir``; transforms and code generation import it.
"""
