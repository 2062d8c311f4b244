"""Instrument kernels with checks, and report what they find, with the lines of Python."""
